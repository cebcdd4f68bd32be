//! The SMT solver as an engine: conversations (crate `smtlib`), one process each.
//!
//! In: truth values over flat terms. Out: [`Found`], with what the solver is called and
//! which version it is. A process that dies, overruns its time, answers nonsense or more than it
//! was asked is dropped and the next question gets a fresh one. Models are not checked here: the prover
//! runs them in the interpreter.

mod answer;
mod encode;

#[cfg(test)]
mod tests;

use crate::blast::Found;
use crate::config::SolverConfig;
use crate::verdict::Reason;
use encode::Step;
pub(crate) use encode::{Script, script};
use semantics::diagnostic::Diagnostic;
use smtlib::conversation::{Answer, Conversation, ENDED};
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// Time that a program may take to tell its version.
const VERSION_TIME: Duration = Duration::from_secs(5);
/// Time for an ended process's last words to arrive.
const GRACE: Duration = Duration::from_millis(500);

/// An SMT solver that may be asked from many threads.
pub(crate) struct External {
    config: SolverConfig,
    version: OnceLock<String>,
    idle: Mutex<Vec<Conversation>>,
    transcript: Option<Mutex<File>>,
}

impl External {
    /// The solver, and where its transcript goes.
    pub(crate) fn new(
        config: SolverConfig,
        transcript: Option<&Path>,
    ) -> (External, Option<Diagnostic>) {
        let (file, problem) = match transcript.map(|path| (path, File::create(path))) {
            None => (None, None),
            Some((_, Ok(file))) => (Some(Mutex::new(file)), None),
            Some((path, Err(e))) => {
                let text = format!("cannot write the SMT transcript {}: {e}", path.display());
                (None, Some(Diagnostic::warning(text)))
            }
        };
        let external = External {
            config,
            version: OnceLock::new(),
            idle: Mutex::new(Vec::new()),
            transcript: file,
        };
        (external, problem)
    }

    /// The solver's settings.
    pub(crate) fn config(&self) -> &SolverConfig {
        &self.config
    }

    /// Name and version, as evidence and cache keys state them.
    pub(crate) fn title(&self) -> &str {
        self.version.get_or_init(|| {
            let version =
                version_of(&self.config.program).unwrap_or_else(|| "of unknown version".to_owned());
            format!("{} {version}", self.config.name)
        })
    }

    /// Whether all constraints of a script can be true.
    ///
    /// The exchange runs on a thread of its own: when the time is over the process is ended
    /// and the thread is left to itself, so that not even a process that hands its output
    /// to another one can hold up the caller.
    pub(crate) fn ask(&self, script: &Script) -> Found {
        let idle = self
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        let mut talk = match idle.map_or_else(|| self.start(), Ok) {
            Ok(talk) => talk,
            Err(reason) => return Found::Unknown(reason),
        };
        let killer = talk.killer();
        let (sender, receiver) = mpsc::channel();
        let (script, title) = (script.clone(), self.title().to_owned());
        std::thread::spawn(move || {
            let found = ask(&mut talk, &script, &title);
            // The caller may have given up; then the conversation ends here.
            let _ = sender.send((found, talk));
        });
        let late =
            Reason::TimeLimit(u64::try_from(self.config.time.as_millis()).unwrap_or(u64::MAX));
        let (found, mut talk) = match receiver.recv_timeout(self.config.time) {
            Ok(answered) => answered,
            Err(_) => {
                killer.kill();
                let Ok((_, mut talk)) = receiver.recv_timeout(GRACE) else {
                    return Found::Unknown(late);
                };
                talk.remark("the time was over and the process was ended");
                (Err(late), talk)
            }
        };
        self.write_down(&mut talk);
        match found {
            Ok(found) => {
                self.idle
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(talk);
                found
            }
            Err(reason) => Found::Unknown(reason),
        }
    }

    fn start(&self) -> Result<Conversation, Reason> {
        let SolverConfig {
            name,
            program,
            args,
            ..
        } = &self.config;
        let started = Conversation::start(program, args, self.transcript.is_some());
        started.map_err(|what| Reason::SolverDied(format!("{name}: {what}")))
    }

    /// Appends what was said to the transcript, one question at a time.
    fn write_down(&self, talk: &mut Conversation) {
        let said = talk.transcript();
        if let Some(file) = &self.transcript {
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            // A transcript that cannot be written must not stop the proof.
            let _ = file.write_all(said.as_bytes());
        }
    }
}

/// One question; an error means that the conversation cannot go on.
fn ask(talk: &mut Conversation, script: &Script, title: &str) -> Result<Found, Reason> {
    let died = |what: String| Reason::SolverDied(format!("{title}: {what}"));
    let bad = |what: String| Reason::BadAnswer(format!("{title}: {what}"));
    prepare(talk, script).map_err(died)?;
    let found = match talk.check() {
        Ok(Answer::Unsat) => Found::Nothing,
        Ok(Answer::Unknown) => Found::Unknown(Reason::SolverUnknown(title.to_owned())),
        Ok(Answer::Sat) => {
            let asked = answer::asked(script).map_err(bad)?;
            let values = talk.values(&asked).map_err(bad)?;
            Found::Model(answer::model(script, values).map_err(bad)?)
        }
        Err(what) if what == ENDED => return Err(died(what)),
        Err(what) => return Err(bad(what)),
    };
    // An answer is this question's when nothing is left over.
    talk.reset().map_err(died)?;
    talk.option(":produce-models", "true").map_err(died)?;
    match talk.is_in_step() {
        true => Ok(found),
        false => Err(bad("more than an answer".to_owned())),
    }
}

fn prepare(talk: &mut Conversation, script: &Script) -> Result<(), String> {
    talk.reset()?;
    talk.option(":produce-models", "true")?;
    talk.logic(&script.logic)?;
    script.steps.iter().try_for_each(|step| match step {
        Step::Introduce(function) => talk.introduce(function),
        Step::Assert(truth) => talk.assert(truth),
        Step::Remark(text) => {
            talk.remark(text);
            Ok(())
        }
    })
}

/// What a program says to `--version`: the first number with a point in it.
fn version_of(program: &Path) -> Option<String> {
    let mut child = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let deadline = Instant::now() + VERSION_TIME;
    while child.try_wait().ok()?.is_none() {
        if Instant::now() >= deadline {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let mut text = String::new();
    child
        .stdout
        .take()?
        .take(1 << 16)
        .read_to_string(&mut text)
        .ok()?;
    let numbers = text
        .split(|c: char| c.is_whitespace() || c == ',')
        .map(|w| w.trim_start_matches('v'));
    numbers
        .filter(|w| w.contains('.') && w.starts_with(|c: char| c.is_ascii_digit()))
        .map(str::to_owned)
        .next()
}
