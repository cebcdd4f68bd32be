//! Servers as places: Redis, and nginx with its module for WebDAV, started and ended here on free
//! ports of this machine. One that is not installed is a reason to skip.

#![cfg(feature = "servers")]

use std::fs;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use store::shared::Place;
use tempfile::TempDir;
use test_support::need;

/// The most bytes that are read.
const MOST: u64 = 1 << 20;

/// A server that ends with its test.
struct Server {
    process: Child,
    port: u16,
    _folder: TempDir,
}

impl Server {
    fn start(
        program: &str,
        of: impl FnOnce(&TempDir, u16) -> Vec<String>,
    ) -> Result<Server, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let port = TcpListener::bind(("127.0.0.1", 0))
            .and_then(|listener| listener.local_addr())
            .map_err(|error| format!("no port is free: {error}"))?
            .port();
        let arguments = of(&folder, port);
        let process = Command::new(program)
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("`{program}` cannot be started: {error}"))?;
        let server = Server {
            process,
            port,
            _folder: folder,
        };
        for _ in 0..200 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Ok(server);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("`{program}` does not listen within 10 s")
    }

    fn redis() -> Result<Server, String> {
        Server::start("redis-server", |folder, port| {
            let port = port.to_string();
            let dir = folder.path().display().to_string();
            let words = [
                "--bind",
                "127.0.0.1",
                "--port",
                &port,
                "--save",
                "",
                "--appendonly",
                "no",
                "--dir",
                &dir,
                "--requirepass",
                "hunter2",
            ];
            words.map(str::to_owned).to_vec()
        })
    }

    fn nginx(methods: &str) -> Result<Server, String> {
        Server::start("nginx", |folder, port| {
            let dir = folder.path().display().to_string();
            fs::create_dir_all(folder.path().join("data")).expect("there is room");
            let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
            let temporary = temporary.map(|name| format!("{name}_temp_path {dir}/{name};"));
            let text = format!(
                "daemon off; user root; master_process off; pid {dir}/pid;\n\
                 error_log {dir}/errors;\nevents {{}}\nhttp {{ access_log off; {}\n\
                 server {{ listen 127.0.0.1:{port}; client_max_body_size 64m; location / {{\n\
                 root {dir}/data; {methods} create_full_put_path on; }} }} }}\n",
                temporary.join(" ")
            );
            let conf = folder.path().join("conf");
            fs::write(&conf, text).expect("there is room");
            let conf = conf.display().to_string();
            let words = ["-p", &dir, "-c", &conf, "-e", "stderr"];
            words.map(str::to_owned).to_vec()
        })
    }

    fn signal(&self, name: &str) {
        let id = self.process.id().to_string();
        let done = Command::new("kill").args([name, &id]).status();
        assert!(done.is_ok_and(|status| status.success()));
    }

    fn place(&self, scheme: &str, path: &str) -> Box<dyn Place> {
        let url = format!("{scheme}://:hunter2@127.0.0.1:{}/{path}", self.port);
        remote::open(&url).expect("it is well written")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Objects are there once they were written, whole, and for others too.
fn serves(one: &dyn Place, other: &dyn Place) {
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
fn fails(place: &dyn Place) -> io::Error {
    let start = Instant::now();
    let error = place
        .read("kind-1/ab/abc", MOST)
        .expect_err("nobody serves");
    assert!(start.elapsed() < Duration::from_secs(15), "{error}");
    assert!(!error.to_string().contains("hunter"), "{error}");
    error
}

#[test]
fn redis_serves_until_it_hangs_or_is_killed() {
    let server = need!(Server::redis());
    let place = server.place("redis", "3");
    serves(&*place, &*server.place("redis", "3"));
    let elsewhere = server.place("redis", "4").read("kind-1/ab/abc", MOST);
    assert_eq!(elsewhere.expect("an answer"), None);
    let wrong = format!("redis://:hunter3@127.0.0.1:{}", server.port);
    fails(&*remote::open(&wrong).expect("it is well written"));
    server.signal("-STOP");
    let hung = fails(&*server.place("redis", "3"));
    assert_eq!(hung.kind(), io::ErrorKind::TimedOut);
    server.signal("-CONT");
    serves_still(&*server.place("redis", "3"));
    let gone = server.place("redis", "3");
    drop(server);
    fails(&*gone);
    fails(&*place);
}

fn serves_still(place: &dyn Place) {
    let found = place.read("kind-1/ab/abc", MOST).expect("an answer");
    assert_eq!(found.map(|bytes| bytes.len()), Some(300_000));
}

#[test]
fn nginx_serves_until_it_hangs_or_is_killed() {
    let server = need!(Server::nginx("dav_methods PUT;"));
    let place = server.place("http", "team/a");
    serves(&*place, &*server.place("webdav", "team/a"));
    server.signal("-STOP");
    let hung = fails(&*server.place("http", "team/a"));
    assert_eq!(hung.kind(), io::ErrorKind::TimedOut);
    server.signal("-CONT");
    drop(server);
    fails(&*place);
}

#[test]
fn nginx_that_takes_nothing_is_told_from_one_that_is_gone() {
    let server = need!(Server::nginx(""));
    let place = server.place("http", "");
    assert_eq!(place.read("kind-1/ab/abc", MOST).expect("an answer"), None);
    let error = place
        .write("kind-1/ab/abc", b"text")
        .expect_err("PUT is not allowed");
    let read_only = [io::ErrorKind::PermissionDenied, io::ErrorKind::Unsupported];
    assert!(read_only.contains(&error.kind()), "{error:?}");
}
