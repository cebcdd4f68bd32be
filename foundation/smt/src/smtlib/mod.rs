//! The SMT solver as an engine: sessions over rsmt2, one process each.
//!
//! In: truth values over flat terms. Out: [`Found`], with what the solver is called and
//! which version it is. A process that dies, overruns its time or answers nonsense is
//! dropped and the next question gets a fresh one. Models are not checked here: the prover
//! runs them in the interpreter.

mod answer;
mod encode;
mod session;

#[cfg(test)]
mod tests;

use crate::blast::Found;
use crate::config::SolverConfig;
use crate::verdict::Reason;
use answer::Status;
pub(crate) use encode::{Script, script};
use semantics::diagnostic::Diagnostic;
use session::Session;
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
    idle: Mutex<Vec<Session>>,
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
        let mut session = match idle.map_or_else(|| Session::start(&self.config), Ok) {
            Ok(session) => session,
            Err(reason) => return Found::Unknown(reason),
        };
        let killer = session.killer();
        let (sender, receiver) = mpsc::channel();
        let (script, title) = (script.clone(), self.title().to_owned());
        std::thread::spawn(move || {
            let found = ask_session(&mut session, &script, &title);
            // The caller may have given up; then the session ends here.
            let _ = sender.send((found, session));
        });
        let late =
            Reason::TimeLimit(u64::try_from(self.config.time.as_millis()).unwrap_or(u64::MAX));
        let (found, mut session) = match receiver.recv_timeout(self.config.time) {
            Ok(answered) => answered,
            Err(_) => {
                killer.kill();
                let Ok((_, mut session)) = receiver.recv_timeout(GRACE) else {
                    return Found::Unknown(late);
                };
                session
                    .said
                    .push_str("; the time was over and the process was ended\n");
                (Err(late), session)
            }
        };
        self.write_down(&mut session);
        match found {
            Ok(found) => {
                self.idle
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(session);
                found
            }
            Err(reason) => Found::Unknown(reason),
        }
    }

    /// Appends what was said to the transcript, one question at a time.
    fn write_down(&self, session: &mut Session) {
        let said = std::mem::take(&mut session.said);
        if let Some(file) = &self.transcript {
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            // A transcript that cannot be written must not stop the proof.
            let _ = file.write_all(said.as_bytes());
        }
    }
}

/// One question; an error means that the session cannot be used again.
fn ask_session(session: &mut Session, script: &Script, title: &str) -> Result<Found, Reason> {
    let text = format!(
        "(reset)\n(set-option :produce-models true)\n{}(check-sat)\n",
        script.text()
    );
    let lines = session.exchange(&text)?;
    let bad = |what: String| Reason::BadAnswer(format!("{title}: {what}"));
    match answer::status(&lines).map_err(bad)? {
        Status::Unsat => Ok(Found::Nothing),
        Status::Unknown => Ok(Found::Unknown(Reason::SolverUnknown(title.to_owned()))),
        Status::Sat => {
            let lines = match answer::question(script) {
                Some(question) => session.exchange(&question)?,
                None => vec!["()".to_owned()],
            };
            answer::model(script, &lines).map(Found::Model).map_err(bad)
        }
    }
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
