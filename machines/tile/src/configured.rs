//! What instructions mean under the configuration that a program begins with.
//!
//! In: a machine, whose `setup` says what is loaded. Out: `Configured`: what the registers hold
//! that no operand names, by the meaning of the instruction that loads them; and with it meanings
//! of other instructions in which nothing of that is left open.

use semantics::build as b;
use semantics::machine::{Machine, MachineInstruction, Which};
use semantics::op::OpCode;
use semantics::subst::{rebuild, replace_vars};
use semantics::term::Term;
use semantics::unroll::unroll;
use std::collections::{BTreeMap, HashMap};
use std::sync::{LazyLock, Mutex, PoisonError};

/// The values of registers that are configuration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Configured {
    held: BTreeMap<(usize, u32), Term>,
}

/// The memory of meanings.
const MEMORY: &str = "mem";

impl Configured {
    /// What the setup of a machine loads.
    ///
    /// # Errors
    /// Why it is no configuration.
    pub(crate) fn new(machine: &Machine) -> Result<Configured, String> {
        let Some(setup) = &machine.setup else {
            return Ok(Configured::default());
        };
        let (load, address) = setup.load;
        let found = &machine.instructions[load];
        let name = &found.instruction.name;
        let zero = Term::bv(machine.address, 0);
        let at = HashMap::from([(found.operands[address].name.as_str(), zero)]);
        let known = |t: Term| {
            let t = unroll(replace_vars(t, &at));
            with_bytes(t, &setup.bytes, &mut HashMap::new())
        };
        for requirement in &found.requires {
            if known(requirement.condition)?.as_bool() != Some(true) {
                let broken = &requirement.broken;
                return Err(format!("`{name}` cannot load its configuration: {broken}"));
            }
        }
        let mut held = BTreeMap::new();
        for register in found.implicit.iter().filter(|i| i.written) {
            let outputs = &found.instruction.outputs;
            let output = outputs.iter().find(|o| o.name == register.name);
            let (Which::Number(number), Some(output)) = (register.which, output) else {
                continue;
            };
            let value = known(output.term)?;
            if value.as_bits().is_none() {
                return Err(format!(
                    "what `{name}` loads into `{}` is not known from its bytes",
                    machine.files[register.file].name_of(number)
                ));
            }
            held.insert((register.file, number), value);
        }
        Ok(Configured { held })
    }

    /// A result of an instruction, written out; none when what it needs of the configuration is
    /// not there or not alike for all registers, or what it requires does not hold.
    pub(crate) fn meaning(&self, found: &MachineInstruction, result: Term) -> Option<Term> {
        if found.implicit.is_empty() {
            return Some(written_out(result));
        }
        let known = self.known(found)?;
        let holds = |t: Term| unroll(replace_vars(t, &known)).as_bool() == Some(true);
        let all = found.requires.iter().all(|r| holds(r.condition));
        all.then(|| written_out(replace_vars(result, &known)))
    }

    /// What an instruction reads of the configuration; none when that is not there or not alike for
    /// all registers.
    fn known<'f>(&self, found: &'f MachineInstruction) -> Option<HashMap<&'f str, Term>> {
        let mut known = HashMap::new();
        for register in found.implicit.iter().filter(|i| i.read) {
            let value = match register.which {
                Which::Number(n) => *self.held.get(&(register.file, n))?,
                Which::Of(_) => {
                    let mut all = self
                        .held
                        .range((register.file, 0)..=(register.file, u32::MAX));
                    let first = *all.next()?.1;
                    if all.any(|(_, v)| *v != first) {
                        return None;
                    }
                    first
                }
            };
            known.insert(register.name.as_str(), value);
        }
        Some(known)
    }
}

/// What is wrong with the configuration that programs of a machine begin with: why it is none, or
/// which instructions require something else.
pub fn faults(machine: &Machine) -> Vec<String> {
    let configured = match Configured::new(machine) {
        Ok(configured) => configured,
        Err(reason) => return vec![reason],
    };
    let mut out = Vec::new();
    for found in &machine.instructions {
        let Some(known) = configured.known(found) else {
            continue;
        };
        let fails = |t: Term| unroll(replace_vars(t, &known)).as_bool() == Some(false);
        if let Some(broken) = found.requires.iter().find(|r| fails(r.condition)) {
            out.push(format!(
                "`{}` requires something else than is loaded: {}",
                found.instruction.name, broken.broken
            ));
        }
    }
    out
}

/// Terms that were written out before. Terms live as long as the process, and so does this.
static WRITTEN_OUT: LazyLock<Mutex<HashMap<Term, Term>>> = LazyLock::new(Mutex::default);

/// A term, written out once for all kernels: of a product of large tiles these are a million terms.
fn written_out(t: Term) -> Term {
    let known = || WRITTEN_OUT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&done) = known().get(&t) {
        return done;
    }
    let done = unroll(t);
    known().insert(t, done);
    done
}

/// A term in which memory at numbers is these bytes.
fn with_bytes(t: Term, bytes: &[u8], memo: &mut HashMap<Term, Term>) -> Result<Term, String> {
    if let Some(&done) = memo.get(&t) {
        return Ok(done);
    }
    let out = match t.args_of(OpCode::Read) {
        Some(args) if args[0].as_var() == Some(MEMORY) => {
            let at = args[1].as_bits().map(semantics::bits::Bits::low_u64);
            let at = at.and_then(|at| usize::try_from(at).ok());
            let end = at.and_then(|at| at.checked_add(t.width() as usize / 8));
            let there = at.zip(end).and_then(|(at, end)| bytes.get(at..end));
            let there = there.ok_or("its configuration has fewer bytes than are loaded")?;
            let parts: Vec<Term> = there
                .iter()
                .rev()
                .map(|byte| Term::bv(8, i128::from(*byte)))
                .collect();
            b::concat(&parts)
        }
        _ => {
            let mut wrong = None;
            let out = rebuild(t, |child, _| {
                with_bytes(child, bytes, memo).unwrap_or_else(|reason| {
                    wrong = Some(reason);
                    child
                })
            });
            wrong.map_or(Ok(out), Err)?
        }
    };
    memo.insert(t, out);
    Ok(out)
}
