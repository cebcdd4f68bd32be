//! What stands around a program that computes on tiles: their configuration.
//!
//! In: a function, a machine whose description has a `setup`. Out: the function that loads the
//! configuration first and gives it up at its end. What is loaded is an array of the function's own,
//! which holds it from the beginning; who runs a program by itself puts it there.

use crate::program::{ArrayUse, Constant, Function};
use semantics::machine::{Machine, MachineOperand, OperandKind};

/// The function with the configuration around it, where the machine has one and tiles are used.
///
/// # Errors
/// When no register is left for where it lies.
pub(crate) fn around(mut function: Function, machine: &Machine) -> Result<Function, String> {
    let Some(setup) = &machine.setup else {
        return Ok(function);
    };
    let tiles = |o: &MachineOperand| match o.kind {
        OperandKind::Register { file, .. } => machine.files[file].foreign,
        OperandKind::Immediate { .. } => false,
    };
    let on_tiles = |k: usize| machine.instructions[k].operands.iter().any(tiles);
    if !function.code.iter().any(|(k, _)| on_tiles(*k)) {
        return Ok(function);
    }
    let abi = machine.abi.as_ref();
    let abi = abi.ok_or("nobody says how functions are called")?;
    let taken = |r: &&u32| function.arguments.iter().any(|a| a.1 == **r);
    let register = abi.arguments.iter().find(|r| !taken(r));
    let register = *register.ok_or("no register is left for the configuration of tiles")?;
    let array = function.arrays.len();
    let ends = function.arrays.iter().zip(&function.addresses);
    let end = ends.map(|(a, at)| at + a.bytes).max().unwrap_or(0);
    let bytes = setup.bytes.len() as i64;
    function.arrays.push(ArrayUse {
        name: "isaforge_configuration".to_owned(),
        bytes,
        bits: 8,
        written: false,
        made: true,
    });
    function
        .addresses
        .push((end + ALIGNED - 1) / ALIGNED * ALIGNED);
    function.arguments.push((array, register));
    function.constants.push(Constant {
        array,
        bytes: setup.bytes.clone(),
    });
    let (load, address) = setup.load;
    let mut values = vec![0; machine.instructions[load].operands.len()];
    values[address] = i64::from(register);
    function.code.insert(0, (load, values));
    if let Some(leave) = setup.leave {
        let count = machine.instructions[leave].operands.len();
        function.code.push((leave, vec![0; count]));
    }
    Ok(function)
}

/// Bytes of which the configuration's address is a multiple.
const ALIGNED: i64 = 64;
