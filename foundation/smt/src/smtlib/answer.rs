//! What a solver's values say of our variables.
//!
//! In: a script, and the values of what it asks for. Out: a model. Memories are known where the
//! script reads them, and nowhere else.

use super::encode::Script;
use crate::verdict::Model;
use semantics::sort::Sort;
use semantics::value::{Memory, Value};
use smtlib::expression::Expression;

/// The terms of which [`model`] needs the values.
pub(crate) fn asked(script: &Script) -> Result<Vec<Expression>, String> {
    let mut asked = Vec::new();
    for (name, variable) in &script.variables {
        match variable.sort() {
            Sort::Mem => {
                for at in &script.addresses {
                    asked.push(Expression::apply("select", vec![name.clone(), at.clone()])?);
                }
            }
            _ => asked.push(name.clone()),
        }
    }
    asked.extend(script.addresses.iter().cloned());
    Ok(asked)
}

/// The model that the values of [`asked`] are.
pub(crate) fn model(script: &Script, values: Vec<Value>) -> Result<Model, String> {
    let mut values = values.into_iter();
    let mut next = || values.next().ok_or("fewer values than were asked for");
    let mut model = Model::new();
    let mut bytes: Vec<(String, Vec<Value>)> = Vec::new();
    for (_, variable) in &script.variables {
        let name = variable.as_var().ok_or("a script lists variables")?;
        let read = match variable.sort() {
            Sort::Mem => {
                let read = script.addresses.iter().map(|_| next());
                bytes.push((name.to_owned(), read.collect::<Result<_, _>>()?));
                continue;
            }
            _ => next()?,
        };
        model.insert(name.to_owned(), read);
    }
    let addresses: Vec<Value> = script
        .addresses
        .iter()
        .map(|_| next())
        .collect::<Result<_, _>>()?;
    for (name, read) in bytes {
        let mut memory = Memory::default();
        for (at, byte) in addresses.iter().zip(&read) {
            memory
                .bytes
                .insert(at.bits().low_u64(), byte.bits().low_u64() as u8);
        }
        model.insert(name, Value::Mem(memory));
    }
    Ok(model)
}
