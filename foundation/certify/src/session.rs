//! A conversation with one solver process about questions.
//!
//! In: [`Question`]s and what is asked about them. Out: [`Said`]. A question is a scope, in which
//! what it introduces is said once; each thing that is asked of it is an assumption, so that the
//! solver keeps what it learnt of the terms. Time is limited twice: the solver is told, and the
//! process is ended if it does not listen.

use raw::question::Question;
use semantics::sort::Sort;
use semantics::value::Value;
use smt::config::SolverConfig;
use smtlib::conversation::{Answer, Conversation};
use smtlib::expression::Expression;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// A solver to talk to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SolverProgram {
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

impl SolverProgram {
    /// A solver by its common name or path; the file's name tells how it is spoken to.
    pub fn named(name_or_path: &str) -> SolverProgram {
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
        SolverProgram {
            path,
            arguments,
            limit: limit.to_owned(),
            count: count.map(str::to_owned),
            units: None,
        }
    }
}

/// A running solver.
pub struct Session {
    conversation: Conversation,
    limit: Duration,
    /// Whether nothing more can be asked.
    dead: bool,
}

impl Session {
    /// Starts a solver that may take so long for each answer.
    ///
    /// # Errors
    /// What the system or the solver says.
    pub fn start(program: &SolverProgram, limit: Duration) -> Result<Session, String> {
        let started = Conversation::start(&program.path, &program.arguments, false);
        let mut conversation = started?;
        conversation.option(&program.limit, &limit.as_millis().to_string())?;
        if let (Some(count), Some(units)) = (&program.count, program.units) {
            conversation.option(count, &units.to_string())?;
        }
        conversation.option(":produce-models", "true")?;
        conversation.logic("ALL")?;
        Ok(Session {
            conversation,
            limit,
            dead: false,
        })
    }

    /// Whether the process has ended or no longer answers.
    pub fn is_over(&self) -> bool {
        self.dead
    }

    /// Opens a scope in which what a question introduces is known.
    ///
    /// # Errors
    /// What the solver says.
    pub fn open(&mut self, question: &Question) -> Result<(), String> {
        let introduced = self.conversation.push().and_then(|()| {
            let mut functions = question.functions.iter();
            functions.try_for_each(|function| self.conversation.introduce(function))
        });
        introduced.map_err(|what| self.broken(what))
    }

    /// Leaves the scope.
    ///
    /// # Errors
    /// When the solver is not where it should be: nothing that it said in the scope is to be
    /// believed.
    pub fn close(&mut self) -> Result<(), String> {
        if self.dead {
            return Ok(());
        }
        let watch = self.watched();
        let in_step = self.conversation.pop().is_ok() && self.conversation.is_in_step();
        drop(watch);
        match in_step {
            true => Ok(()),
            false => Err(self.broken("its answers are not those of the questions".to_owned())),
        }
    }

    /// Whether a truth value can be had in the open scope.
    pub fn ask(&mut self, question: &Question, wanted: &Expression) -> Said {
        if self.dead {
            return Said::Nothing("the solver has ended".to_owned());
        }
        let watch = self.watched();
        let said = self.exchange(question, wanted);
        drop(watch);
        said.unwrap_or_else(|what| Said::Nothing(self.broken(what)))
    }

    fn exchange(&mut self, question: &Question, wanted: &Expression) -> Result<Said, String> {
        let assumed = self.conversation.assumption(wanted)?;
        let said = match self.conversation.check_assuming(&assumed)? {
            Answer::Unsat => Said::Never,
            Answer::Unknown => Said::Nothing("no answer in time".to_owned()),
            Answer::Sat => Said::With(self.model(question)?),
        };
        self.conversation.drop_assumption(assumed)?;
        Ok(said)
    }

    /// The values of variables; memories have too many.
    fn model(&mut self, question: &Question) -> Result<BTreeMap<String, Value>, String> {
        let variables = question.variables.iter();
        let of_bits = variables.filter(|(_, v)| matches!(v.sort(), Sort::Bool | Sort::Bv(_)));
        let named: Vec<(String, Expression)> = of_bits
            .map(|(name, v)| (name.clone(), Expression::name(name, v.sort())))
            .collect();
        let (names, asked): (Vec<String>, Vec<Expression>) = named.into_iter().unzip();
        let values = self.conversation.values(&asked)?;
        Ok(names.into_iter().zip(values).collect())
    }

    fn broken(&mut self, what: String) -> String {
        self.dead = true;
        what
    }

    /// Ends the process when the limit is far behind; dropped when there is an answer.
    fn watched(&self) -> Sender<()> {
        let (sender, receiver) = channel();
        let (killer, limit) = (self.conversation.killer(), self.limit + GRACE);
        std::thread::spawn(move || {
            if receiver.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                killer.kill();
            }
        });
        sender
    }
}
