//! One solver process, spoken to by crate `rsmt2`.
//!
//! In: functions, terms, scopes, assumptions. Out: [`Answer`]s and values. It watches no clock:
//! whoever asks ends the process ([`Killer`]). After each question it can be asked whether
//! the solver is still in step ([`Conversation::is_in_step`]), so that no answer is taken for that
//! of another question, and no more is read into a word than it says.

use crate::expression::{Expression, Written};
use crate::function::Function;
use crate::value;
use rsmt2::actlit::Actlit;
use rsmt2::parse::{ExprParser, SmtParser, ValueParser};
use rsmt2::{SmtConf, SmtRes, Solver};
use rustix::process::{Pid, Signal, kill_process};
use semantics::bits::Bits;
use semantics::sort::Sort;
use semantics::value::Value;
use std::fmt::Write as _;
use std::io::{BufRead, Read as _};
use std::path::Path;

/// What a solver says of all that was asserted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// It can all be true.
    Sat,
    /// It cannot.
    Unsat,
    /// It does not know.
    Unknown,
}

/// What rsmt2 reads for us.
#[derive(Clone, Copy)]
struct Reader;

impl<Br: BufRead> ValueParser<String, &'_ mut SmtParser<Br>> for Reader {
    fn parse_value(self, input: &mut SmtParser<Br>) -> SmtRes<String> {
        Ok(input.get_sexpr()?.trim().to_owned())
    }
}

impl<Br: BufRead> ExprParser<String, (), &'_ mut SmtParser<Br>> for Reader {
    fn parse_expr(self, input: &mut SmtParser<Br>, (): ()) -> SmtRes<String> {
        Ok(input.get_sexpr()?.trim().to_owned())
    }
}

/// Ends a solver's process.
#[derive(Clone, Copy, Debug)]
pub struct Killer(Pid);

impl Killer {
    /// Ends it now. The process is not waited for before its conversation is dropped, so its
    /// number cannot have been given to another one while that lives.
    pub fn kill(self) {
        let _ = kill_process(self.0, Signal::KILL);
    }
}

/// A condition that holds where it is assumed.
#[derive(Debug)]
pub struct Assumption(Actlit);

/// A running solver.
pub struct Conversation {
    solver: Solver<Reader>,
    pid: Pid,
    /// What was said since the transcript was taken, where one is wanted.
    said: Option<String>,
    /// How often it was asked whether it is in step.
    marks: u64,
}

/// What went wrong, in a line.
type Said<T> = Result<T, String>;

/// What is said when there is nobody to listen or to answer any more.
pub const ENDED: &str = "its output ended";

fn line(error: rsmt2::errors::Error) -> String {
    let text = error.to_string();
    let of_system = matches!(error.kind(), rsmt2::errors::ErrorKind::Io(_));
    if of_system || text.contains("eoi") {
        return ENDED.to_owned();
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let text: String = words.join(" ").chars().take(200).collect();
    match text.is_empty() {
        true => "no answer".to_owned(),
        false => text,
    }
}

impl Conversation {
    /// Starts a program that reads SMT-LIB from its standard input; its exchange is written down
    /// where that is wanted.
    ///
    /// # Errors
    /// What the system says, in a line.
    pub fn start(program: &Path, arguments: &[String], written_down: bool) -> Said<Conversation> {
        // A shell tells its process number and becomes the solver, so that whoever watches the
        // clock knows what to end while rsmt2 owns the process.
        let mut conf = SmtConf::yices_2("/bin/sh");
        conf.option("-c").option("echo $$; exec \"$0\" \"$@\"");
        conf.option(program.to_string_lossy());
        for argument in arguments {
            conf.option(argument);
        }
        let mut solver = Solver::new(conf, Reader).map_err(line)?;
        let pid = first_line(&mut solver)?;
        let pid = pid.trim().parse().ok().and_then(Pid::from_raw);
        Ok(Conversation {
            solver,
            pid: pid.ok_or("the solver's process has no number")?,
            said: written_down.then(String::new),
            marks: 0,
        })
    }

    /// What ends the process from another thread.
    pub fn killer(&self) -> Killer {
        Killer(self.pid)
    }

    /// What was said since this was asked last; nothing where it is not written down.
    pub fn transcript(&mut self) -> String {
        let said = self.said.as_mut();
        said.map(std::mem::take).unwrap_or_default()
    }

    /// Adds a remark to the transcript.
    pub fn remark(&mut self, text: &str) {
        self.note(&format_args!("; {text}"));
    }

    fn note(&mut self, text: &dyn std::fmt::Display) {
        if let Some(said) = &mut self.said {
            let _ = writeln!(said, "{text}");
        }
    }

    /// Sets an option, such as `:produce-models`.
    ///
    /// # Errors
    /// That the solver has ended, as for all that follow; or what it complains of.
    pub fn option(&mut self, name: &str, value: &str) -> Said<()> {
        self.note(&format_args!("(set-option {name} {value})"));
        self.solver.set_option(name, value).map_err(line)
    }

    /// Names the logic.
    ///
    /// # Errors
    /// As [`Conversation::option`].
    pub fn logic(&mut self, logic: &str) -> Said<()> {
        self.note(&format_args!("(set-logic {logic})"));
        self.solver.set_custom_logic(logic).map_err(line)
    }

    /// Forgets all that was said, options too.
    ///
    /// # Errors
    /// As [`Conversation::option`].
    pub fn reset(&mut self) -> Said<()> {
        self.note(&"(reset)");
        self.solver.reset().map_err(line)
    }

    /// Opens a scope.
    ///
    /// # Errors
    /// As [`Conversation::option`].
    pub fn push(&mut self) -> Said<()> {
        self.note(&"(push 1)");
        self.solver.push(1).map_err(line)
    }

    /// Leaves a scope, and forgets what was said in it.
    ///
    /// # Errors
    /// As [`Conversation::option`].
    pub fn pop(&mut self) -> Said<()> {
        self.note(&"(pop 1)");
        self.solver.pop(1).map_err(line)
    }

    /// Introduces a function.
    ///
    /// # Errors
    /// As [`Conversation::option`].
    pub fn introduce(&mut self, function: &Function) -> Said<()> {
        self.note(function);
        let (name, result) = (function.name(), Written(function.result()));
        let arguments = function.arguments().iter();
        match function.body() {
            Some(body) => {
                let named = arguments.map(|(name, sort)| (name.as_str(), Written(*sort)));
                self.solver.define_fun(name, named, result, body)
            }
            None => {
                let sorts = arguments.map(|(_, sort)| Written(*sort));
                self.solver.declare_fun(name, sorts, result)
            }
        }
        .map_err(line)
    }

    /// Says that a truth value is true.
    ///
    /// # Errors
    /// When it is none; or as [`Conversation::option`].
    pub fn assert(&mut self, truth: &Expression) -> Said<()> {
        truth_value(truth)?;
        self.note(&format_args!("(assert {truth})"));
        self.solver.assert(truth).map_err(line)
    }

    /// Says that a truth value is true wherever the assumption is made.
    ///
    /// # Errors
    /// As [`Conversation::assert`].
    pub fn assumption(&mut self, truth: &Expression) -> Said<Assumption> {
        truth_value(truth)?;
        let literal = self.solver.get_actlit().map_err(line)?;
        self.solver.assert_act(&literal, truth).map_err(line)?;
        let name = name_of(&literal);
        self.note(&format_args!("(declare-fun {name} () Bool)"));
        self.note(&format_args!("(assert (=> {name} {truth}))"));
        Ok(Assumption(literal))
    }

    /// Says that an assumption is not made again.
    ///
    /// # Errors
    /// As [`Conversation::option`].
    pub fn drop_assumption(&mut self, assumption: Assumption) -> Said<()> {
        let name = name_of(&assumption.0);
        self.note(&format_args!("(assert (not {name}))"));
        self.solver.de_actlit(assumption.0).map_err(line)
    }

    /// Whether all that was asserted can be true.
    ///
    /// # Errors
    /// What the solver says instead of an answer, or that it has ended.
    pub fn check(&mut self) -> Said<Answer> {
        self.note(&"(check-sat)");
        let said = self.solver.check_sat_or_unk();
        self.answer(said)
    }

    /// Whether it can under an assumption.
    ///
    /// # Errors
    /// As [`Conversation::check`].
    pub fn check_assuming(&mut self, assumption: &Assumption) -> Said<Answer> {
        let name = name_of(&assumption.0);
        self.note(&format_args!("(check-sat-assuming ({name}))"));
        let said = self.solver.check_sat_act_or_unk([&assumption.0]);
        self.answer(said)
    }

    fn answer(&mut self, said: SmtRes<Option<bool>>) -> Said<Answer> {
        let answer = match said.map_err(line) {
            Ok(Some(true)) => Ok(Answer::Sat),
            Ok(Some(false)) => Ok(Answer::Unsat),
            Ok(None) => Ok(Answer::Unknown),
            Err(what) => Err(what),
        };
        match &answer {
            Ok(Answer::Sat) => self.note(&"; <- sat"),
            Ok(Answer::Unsat) => self.note(&"; <- unsat"),
            Ok(Answer::Unknown) => self.note(&"; <- unknown"),
            Err(what) => self.note(&format_args!("; {what}")),
        }
        answer
    }

    /// The values of terms after [`Answer::Sat`], each of its term's sort.
    ///
    /// # Errors
    /// When the solver gives others, or none.
    pub fn values(&mut self, terms: &[Expression]) -> Said<Vec<Value>> {
        if terms.is_empty() {
            return Ok(Vec::new());
        }
        if self.said.is_some() {
            let names: Vec<String> = terms.iter().map(Expression::to_string).collect();
            self.note(&format_args!("(get-value ({}))", names.join(" ")));
        }
        let found: Vec<(String, String)> = self.solver.get_values(terms).map_err(line)?;
        for (term, value) in &found {
            self.note(&format_args!("; <- ({term} {value})"));
        }
        if found.len() != terms.len() {
            return Err(format!("{} values for {} terms", found.len(), terms.len()));
        }
        let values = terms.iter().zip(&found);
        values
            .map(|(term, (_, text))| value::read(text, term.sort()))
            .collect()
    }

    /// Whether the next answer is that of the next question: a value that nobody else asked for.
    /// Nothing is left over then from a question before. To be asked where models are produced and
    /// nothing is asserted that cannot be; nothing of it stays.
    pub fn is_in_step(&mut self) -> bool {
        self.marks += 1;
        let mark = Bits::from_u64(64, self.marks);
        self.in_step(&mark) == Ok(vec![Value::Bv(mark)])
    }

    fn in_step(&mut self, mark: &Bits) -> Said<Vec<Value>> {
        self.push()?;
        let name = Function::declared("mark", Vec::new(), Sort::Bv(mark.width()))?;
        self.introduce(&name)?;
        let name = name.call(Vec::new())?;
        let is = Expression::apply("=", vec![name.clone(), Expression::bits(mark)])?;
        self.assert(&is)?;
        let found = match self.check()? {
            Answer::Sat => self.values(&[name])?,
            _ => Vec::new(),
        };
        self.pop()?;
        Ok(found)
    }
}

fn name_of(literal: &Actlit) -> String {
    let mut name = Vec::new();
    let written = literal.write(&mut name);
    written.map_or_else(
        |_| String::new(),
        |()| String::from_utf8_lossy(&name).into_owned(),
    )
}

fn truth_value(term: &Expression) -> Said<()> {
    match term.sort() {
        Sort::Bool => Ok(()),
        other => Err(format!("{other} is not the sort of what can be asserted")),
    }
}

/// One line, byte by byte: what follows is rsmt2's.
fn first_line(solver: &mut Solver<Reader>) -> Said<String> {
    let (mut line, mut byte) = (String::new(), [0]);
    while solver.read(&mut byte).map_err(|e| e.to_string())? == 1 && byte[0] != b'\n' {
        line.push(char::from(byte[0]));
    }
    Ok(line)
}
