//! A conversation with one solver process, through rsmt2.
//!
//! In: [`Question`]s and what is asked about them. Out: [`Said`]. Sorts, symbols and terms are
//! handed to rsmt2 as such; each thing that is asked stands in a scope of its own, so that
//! what a question introduces is said once. Time is limited twice: the solver is told, and the
//! process is ended if it does not listen.

use raw::question::{ARGUMENTS, Question, Shape, Symbol};
use rsmt2::parse::{ExprParser, SmtParser, ValueParser};
use rsmt2::print::{Expr2Smt, Sort2Smt};
use rsmt2::{SmtConf, SmtRes, Solver};
use rustix::process::{Pid, Signal, kill_process};
use semantics::bits::Bits;
use semantics::sort::Sort;
use semantics::value::Value;
use smt::config::SolverConfig;
use std::collections::BTreeMap;
use std::io::{BufRead, Read, Write};
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// A solver to talk to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// The program.
    pub path: PathBuf,
    /// Its arguments: it must read SMT-LIB from its standard input.
    pub arguments: Vec<String>,
    /// The option of SMT-LIB that limits the time of one answer, in milliseconds.
    pub limit: String,
    /// The option that limits what is counted of one answer, where there is one: the same on
    /// every machine, however busy.
    pub count: Option<String>,
    /// So much may be counted; anything, when nothing is said.
    pub units: Option<u64>,
}

/// What a solver says.
#[derive(Clone, PartialEq, Debug)]
pub enum Said {
    /// It cannot be.
    Never,
    /// It can be: such as for these values of variables, by the question's names.
    With(BTreeMap<String, Value>),
    /// No answer, and why.
    Nothing(String),
}

/// Time beyond the limit after which a process is ended.
const GRACE: Duration = Duration::from_secs(5);

impl Program {
    /// A solver by its common name or path; the file's name tells how it is spoken to.
    pub fn named(name_or_path: &str) -> Program {
        let SolverConfig {
            name,
            program: path,
            args: arguments,
            ..
        } = SolverConfig::named(name_or_path);
        let (limit, count) = match name.as_str() {
            "cvc5" => (":tlimit-per", Some(":rlimit-per")),
            "bitwuzla" => (":time-limit-per", None),
            _ => (":timeout", Some(":rlimit")),
        };
        Program {
            path,
            arguments,
            limit: limit.to_owned(),
            count: count.map(str::to_owned),
            units: None,
        }
    }
}

/// What rsmt2 prints of ours.
struct Sorted(Shape);

impl Sort2Smt for Sorted {
    fn sort_to_smt2<W: Write>(&self, w: &mut W) -> SmtRes<()> {
        Ok(write!(w, "{}", self.0)?)
    }
}

/// A term of SMT-LIB.
struct Written<'a>(&'a str);

impl Expr2Smt<()> for Written<'_> {
    fn expr_to_smt2<W: Write>(&self, w: &mut W, (): ()) -> SmtRes<()> {
        Ok(w.write_all(self.0.as_bytes())?)
    }
}

/// What rsmt2 reads for us.
#[derive(Clone, Copy)]
struct Reader;

impl<Br: BufRead> ValueParser<Value, &'_ mut SmtParser<Br>> for Reader {
    fn parse_value(self, input: &mut SmtParser<Br>) -> SmtRes<Value> {
        let text = input.get_sexpr()?.trim().to_owned();
        value(&text).ok_or_else(|| format!("`{text}` is no value").into())
    }
}

impl<Br: BufRead> ExprParser<String, (), &'_ mut SmtParser<Br>> for Reader {
    fn parse_expr(self, input: &mut SmtParser<Br>, (): ()) -> SmtRes<String> {
        Ok(input.get_sexpr()?.trim().to_owned())
    }
}

/// A constant in any of SMT-LIB's notations.
fn value(text: &str) -> Option<Value> {
    let digits = |text: &str, each: u32| {
        let width = u32::try_from(text.len()).ok()? * each;
        let mut bits = Bits::zero(width.max(1));
        for (k, digit) in (0..).zip(text.chars().rev()) {
            let digit = digit.to_digit(1 << each)?;
            for bit in (0..each).filter(|bit| digit >> bit & 1 == 1) {
                bits = bits.with_bit(k * each + bit, true);
            }
        }
        Some(Value::Bv(bits))
    };
    match text {
        "true" => Some(Value::Bool(true)),
        "false" => Some(Value::Bool(false)),
        _ => match text.split_at_checked(2)? {
            ("#b", rest) => digits(rest, 1),
            ("#x", rest) => digits(rest, 4),
            _ => None,
        },
    }
}

/// A running solver.
pub struct Session {
    solver: Solver<Reader>,
    pid: Pid,
    limit: Duration,
    /// Whether nothing more can be asked.
    dead: bool,
}

impl Session {
    /// Starts a solver that may take so long for each answer.
    ///
    /// # Errors
    /// What the system or the solver says.
    pub fn start(program: &Program, limit: Duration) -> Result<Session, String> {
        // The shell tells its process number and becomes the solver: rsmt2 owns the process,
        // and whoever watches the clock must know what to end.
        let mut conf = SmtConf::yices_2("/bin/sh");
        conf.option("-c").option("echo $$; exec \"$0\" \"$@\"");
        conf.option(program.path.to_string_lossy());
        for argument in &program.arguments {
            conf.option(argument);
        }
        let mut solver = Solver::new(conf, Reader).map_err(|e| e.to_string())?;
        let pid = first_line(&mut solver)?;
        let pid = pid.trim().parse().ok().and_then(Pid::from_raw);
        let mut session = Session {
            solver,
            pid: pid.ok_or("the solver's process has no number")?,
            limit,
            dead: false,
        };
        session.prepare(program).map_err(|e| e.to_string())?;
        Ok(session)
    }

    fn prepare(&mut self, program: &Program) -> SmtRes<()> {
        let limit = self.limit.as_millis().to_string();
        self.solver.set_option(&program.limit, limit)?;
        if let (Some(count), Some(units)) = (&program.count, program.units) {
            self.solver.set_option(count, units.to_string())?;
        }
        self.solver.produce_models()?;
        self.solver.set_custom_logic("ALL")
    }

    /// Whether the process has ended or no longer answers.
    pub fn is_over(&self) -> bool {
        self.dead
    }

    /// Opens a scope in which a question's symbols are known.
    ///
    /// # Errors
    /// What the solver says.
    pub fn open(&mut self, question: &Question) -> Result<(), String> {
        self.introduce(question).map_err(|e| self.broken(&e))
    }

    fn introduce(&mut self, question: &Question) -> SmtRes<()> {
        self.solver.push(1)?;
        for Symbol {
            name,
            arguments,
            result,
            body,
        } in &question.symbols
        {
            let sorts = arguments.iter().map(|&shape| Sorted(shape));
            match body {
                Some(body) => {
                    let named = ARGUMENTS.iter().copied().zip(sorts);
                    let body = Written(body);
                    self.solver.define_fun(name, named, Sorted(*result), body)?;
                }
                None => self.solver.declare_fun(name, sorts, Sorted(*result))?,
            }
        }
        Ok(())
    }

    /// Leaves the scope.
    pub fn close(&mut self) {
        if !self.dead && self.solver.pop(1).is_err() {
            self.dead = true;
        }
    }

    /// Whether a truth value can be had in the open scope.
    pub fn ask(&mut self, question: &Question, wanted: &str) -> Said {
        if self.dead {
            return Said::Nothing("the solver has ended".to_owned());
        }
        let watch = self.watched();
        let said = self.exchange(question, wanted);
        drop(watch);
        said.unwrap_or_else(|error| Said::Nothing(self.broken(&error)))
    }

    fn exchange(&mut self, question: &Question, wanted: &str) -> SmtRes<Said> {
        self.solver.push(1)?;
        self.solver.assert(Written(wanted))?;
        let said = match self.solver.check_sat_or_unk()? {
            Some(false) => Said::Never,
            None => Said::Nothing("no answer in time".to_owned()),
            Some(true) => {
                let of_bits = |(_, v): &&(String, _)| of_bits(v);
                let names = question.variables.iter().filter(of_bits);
                let names: Vec<&str> = names.map(|(name, _)| name.as_str()).collect();
                match names.is_empty() {
                    true => Said::With(BTreeMap::new()),
                    false => {
                        let names = names.iter().map(|name| Written(name));
                        let values = self.solver.get_values(names.collect::<Vec<_>>())?;
                        Said::With(values.into_iter().collect())
                    }
                }
            }
        };
        self.solver.pop(1)?;
        Ok(said)
    }

    fn broken(&mut self, error: &rsmt2::errors::Error) -> String {
        self.dead = true;
        let text = error.to_string();
        text.lines().next().unwrap_or("no answer").to_owned()
    }

    /// Ends the process when the limit is far behind; dropped when there is an answer.
    fn watched(&self) -> Sender<()> {
        let (sender, receiver) = channel();
        let (pid, limit) = (self.pid, self.limit + GRACE);
        std::thread::spawn(move || {
            if receiver.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                let _ = kill_process(pid, Signal::KILL);
            }
        });
        sender
    }
}

/// Whether a variable's value can be asked for: memories have too many.
fn of_bits(variable: &semantics::term::Term) -> bool {
    matches!(variable.sort(), Sort::Bool | Sort::Bv(_))
}

/// One line, byte by byte: what follows is rsmt2's.
fn first_line(solver: &mut Solver<Reader>) -> Result<String, String> {
    let (mut line, mut byte) = (String::new(), [0]);
    while solver.read(&mut byte).map_err(|e| e.to_string())? == 1 && byte[0] != b'\n' {
        line.push(char::from(byte[0]));
    }
    Ok(line)
}
