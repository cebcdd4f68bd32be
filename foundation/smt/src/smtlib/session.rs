//! One solver process, driven through rsmt2.
//!
//! In: scripts. Out: the lines that the solver answers. Every exchange ends with an echoed
//! mark, so that an answer can never be taken for another question's. It does not interpret
//! answers and it does not watch the clock: whoever asks ends the process ([`Killer`]).

use crate::config::SolverConfig;
use crate::verdict::Reason;
use rsmt2::{SmtConf, Solver};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{Read, Write};

/// Longest answer that is read, in bytes.
const MAX_ANSWER: usize = 16 << 20;

/// A running solver.
pub(crate) struct Session {
    solver: Solver<()>,
    pid: Pid,
    name: String,
    marks: u64,
    /// Everything said so far on this session that no transcript has taken.
    pub(crate) said: String,
}

impl Session {
    /// Starts the solver.
    pub(crate) fn start(config: &SolverConfig) -> Result<Session, Reason> {
        let died = |what: String| Reason::SolverDied(format!("{}: {what}", config.name));
        // A shell tells its process number and becomes the solver, so that the watchdog
        // knows what to end while rsmt2 owns the process.
        let mut conf = SmtConf::yices_2("/bin/sh");
        conf.option("-c").option("echo $$; exec \"$0\" \"$@\"");
        conf.option(config.program.to_string_lossy());
        for arg in &config.args {
            conf.option(arg);
        }
        let mut solver = Solver::new(conf, ()).map_err(|e| died(e.to_string()))?;
        let first = read_line(&mut solver).map_err(died)?;
        let pid = first
            .trim()
            .parse()
            .ok()
            .and_then(Pid::from_raw)
            .ok_or_else(|| died("no process".to_owned()))?;
        Ok(Session {
            solver,
            pid,
            name: config.name.clone(),
            marks: 0,
            said: String::new(),
        })
    }

    /// What ends the process from another thread.
    pub(crate) fn killer(&self) -> Killer {
        Killer(self.pid)
    }

    /// Sends commands and returns the lines that come back; blocks until they do or the
    /// process ends.
    pub(crate) fn exchange(&mut self, commands: &str) -> Result<Vec<String>, Reason> {
        self.marks += 1;
        let mark = format!("isaforge-{}", self.marks);
        self.send_and_read(commands, &mark).map_err(|what| {
            self.said.push_str(&format!("; {what}\n"));
            Reason::SolverDied(format!("{}: {what}", self.name))
        })
    }

    fn send_and_read(&mut self, commands: &str, mark: &str) -> Result<Vec<String>, String> {
        let text = format!("{commands}(echo \"{mark}\")\n");
        self.said.push_str(&text);
        self.solver
            .write_all(text.as_bytes())
            .map_err(|e| e.to_string())?;
        self.solver.flush().map_err(|e| e.to_string())?;
        let mut lines = Vec::new();
        let mut size = 0;
        loop {
            let line = read_line(&mut self.solver)?;
            self.said.push_str(&format!("; <- {}\n", line.trim_end()));
            if line.trim().trim_matches('"') == mark {
                return Ok(lines);
            }
            size += line.len();
            if size > MAX_ANSWER {
                return Err(format!("an answer of more than {MAX_ANSWER} bytes"));
            }
            lines.push(line.trim_end().to_owned());
        }
    }
}

/// Ends a solver process.
pub(crate) struct Killer(Pid);

impl Killer {
    /// Ends it now. The process is not waited for before its session is dropped, so its
    /// number cannot have been given to another one while the session lives.
    pub(crate) fn kill(&self) {
        let _ = kill_process(self.0, Signal::KILL);
    }
}

/// One line, read byte by byte: rsmt2's reader is buffered below.
fn read_line(solver: &mut Solver<()>) -> Result<String, String> {
    let mut bytes = Vec::new();
    let mut byte = [0u8];
    loop {
        match solver.read(&mut byte) {
            Ok(0) => return Err("its output ended".to_owned()),
            Ok(_) if byte[0] == b'\n' => return Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Ok(_) if bytes.len() >= MAX_ANSWER => return Err("an endless line".to_owned()),
            Ok(_) => bytes.push(byte[0]),
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e.to_string()),
        }
    }
}
