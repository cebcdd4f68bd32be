//! Servers of tests: a program on a free port of this machine, which ends with its test, and what is asked
//! of every place. A program that cannot be started is a reason to skip.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use store::shared::Place;
use tempfile::TempDir;

/// The most bytes that are read.
pub(crate) const MOST: u64 = 1 << 20;

/// A server that ends with its test.
pub(crate) struct Server {
    pub(crate) process: Child,
    pub(crate) port: u16,
    _folder: TempDir,
}

impl Server {
    /// Starts a program with these words, of a folder of its own and its port.
    pub(crate) fn start(
        program: &mut Command,
        words: impl FnOnce(&Path, u16) -> Vec<String>,
    ) -> Result<Server, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let port = TcpListener::bind(("127.0.0.1", 0))
            .and_then(|listener| listener.local_addr())
            .map_err(|error| format!("no port is free: {error}"))?
            .port();
        program.args(words(folder.path(), port));
        let name = program.get_program().display().to_string();
        let process = program
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("`{name}` cannot be started: {error}"))?;
        Ok(Server {
            process,
            port,
            _folder: folder,
        })
    }

    /// The same once it listens, which it has to within some seconds.
    ///
    /// # Errors
    /// It has ended.
    pub(crate) fn listening(mut self, seconds: u32) -> Result<Server, String> {
        for _ in 0..20 * seconds {
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return Ok(self);
            }
            if let Ok(Some(status)) = self.process.try_wait() {
                return Err(format!("the server does not run: {status}"));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("the server does not listen within {seconds} s")
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.process.id().to_string();
        let done = Command::new("kill").args([name, &id]).status();
        assert!(done.is_ok_and(|status| status.success()));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Objects are there once they were written, whole, and for others too.
pub(crate) fn serves(one: &dyn Place, other: &dyn Place) {
    let long: Vec<u8> = (0..300_000u32).map(|n| n as u8).collect();
    assert_eq!(one.read("kind-1/ab/abc", MOST).expect("an answer"), None);
    for bytes in [&b"text\n"[..], &long] {
        one.write("kind-1/ab/abc", bytes).expect("it is written");
        let found = other.read("kind-1/ab/abc", MOST).expect("an answer");
        assert!(found.as_deref() == Some(bytes));
    }
    assert!(
        other.read("kind-1/ab/abc", 1000).is_err(),
        "it is too large"
    );
    assert!(!one.shown().contains("hunter2"), "{}", one.shown());
}

/// What a place says when it does not serve, within its time and without its secrets.
pub(crate) fn fails(place: &dyn Place) -> io::Error {
    let start = Instant::now();
    let error = place
        .read("kind-1/ab/abc", MOST)
        .expect_err("nobody serves");
    assert!(start.elapsed() < Duration::from_secs(15), "{error}");
    assert!(!error.to_string().contains("hunter"), "{error}");
    error
}
