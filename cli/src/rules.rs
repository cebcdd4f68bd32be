//! `isaforge rules`: identities of machine arithmetic, listed, proved again, or found anew.
//!
//! In: which functions, or what to do. Out: the rules in their text form, how many there are and how each is known,
//! a status. No target and no cache of proofs takes part.

use crate::args::Rules as Request;
use crate::status::Status;
use crate::terminal;
use rules::{Function, Rules, find, proof};
use semantics::diagnostic::Diagnostic;

/// Runs the command.
pub(crate) fn command(request: &Request) -> Status {
    if request.find {
        return found(request);
    }
    let rules = chosen(Rules::known(), request);
    if rules.count() == 0 {
        let message = format!(
            "no function has `{}` in it",
            request.named.as_deref().unwrap_or("")
        );
        let hint = "`isaforge rules` lists all of them, as `sat_add_u(x, y)`";
        terminal::complain(&[Diagnostic::error(message).hint(hint)]);
        return Status::WrongInput;
    }
    match request.prove {
        true => proved(&rules, request).map_or(Status::WrongInput, |(_, status)| status),
        false => {
            terminal::print(&rules.to_string());
            eprintln!(
                "{} functions, {} rules",
                rules.functions.len(),
                rules.count()
            );
            Status::Done
        }
    }
}

fn found(request: &Request) -> Status {
    let bar = terminal::bar("functions", 0);
    let reported = |done: usize, of: usize| {
        bar.set_length(of as u64);
        bar.set_position(done as u64);
    };
    let all = find::find(find::LEVEL, &reported);
    bar.finish_and_clear();
    eprintln!(
        "{} values of at most {} operators, {} functions, {} forms that agree with them",
        all.values,
        find::LEVEL,
        all.functions,
        all.rules.count()
    );
    match proved(&chosen(all.rules, request), request) {
        // What was found and does not hold is no rule, and no fault.
        Some((rules, _)) => {
            terminal::print(&rules.to_string());
            Status::Done
        }
        None => Status::WrongInput,
    }
}

/// The functions that have a text in them.
fn chosen(rules: Rules, request: &Request) -> Rules {
    let wanted = |f: &Function| match &request.named {
        Some(text) => f.is.to_string().contains(text.as_str()),
        None => true,
    };
    let functions = rules.functions.into_iter().filter(wanted);
    Rules {
        functions: functions.collect(),
    }
}

/// Proves rules at every width: those that hold, and whether all do.
fn proved(rules: &Rules, request: &Request) -> Option<(Rules, Status)> {
    let prover = match request.prover.without_cache(1) {
        Ok(prover) => prover,
        Err(diagnostic) => {
            terminal::complain(&[diagnostic]);
            return None;
        }
    };
    let bar = terminal::bar("rules", rules.count());
    let proved = proof::prove(rules, &prover, &|| bar.inc(1));
    bar.finish_and_clear();
    for (function, form, width, why) in &proved.dropped {
        eprintln!("not shown: {function} = {form} at {width} bits: {why}");
    }
    let widths: Vec<String> = proof::widths().map(|w| w.to_string()).collect();
    eprintln!(
        "{} of {} rules hold at {} bits: {}",
        proved.rules.count(),
        rules.count(),
        widths.join(", "),
        proved.evidence
    );
    let status = match proved.dropped.is_empty() {
        true => Status::Done,
        false => Status::CheckFailed,
    };
    Some((proved.rules, status))
}
