//! A server of S3 as a place: moto's (`pip install 'moto[server]'`), started and ended here on a
//! free port of this machine, with one who may write, one who may only read, and one whose key is
//! wrong. Keys come from the environment, so that each of them is a process of its own. Where it is
//! not installed there is a reason to skip.

#![cfg(feature = "servers")]

use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};
use store::shared::Place;
use test_support::need;

/// The most bytes that are read.
const MOST: u64 = 1 << 20;
/// Requests that the server believes before it asks for keys: those that make the bucket and users.
const BELIEVED: usize = 7;
/// Says what a process is to do ([`part`]): what it is, and the address of the server.
const PART: &str = "ISAFORGE_S3_PART";

/// The server, which ends with its test.
struct Server {
    process: Child,
    port: u16,
}

impl Server {
    fn start() -> Result<Server, String> {
        let port = TcpListener::bind(("127.0.0.1", 0))
            .and_then(|listener| listener.local_addr())
            .map_err(|error| format!("no port is free: {error}"))?
            .port();
        let process = Command::new("moto_server")
            .args(["-H", "127.0.0.1", "-p", &port.to_string()])
            .env("INITIAL_NO_AUTH_ACTION_COUNT", BELIEVED.to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("`moto_server` cannot be started: {error}"))?;
        let mut server = Server { process, port };
        for _ in 0..1200 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Ok(server);
            }
            if let Ok(Some(status)) = server.process.try_wait() {
                return Err(format!("`moto_server` does not run: {status}"));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("`moto_server` does not listen within 60 s")
    }

    /// What it answers to a request that nobody signs.
    fn ask(&self, method: &str, path: &str, service: &str, body: &str) -> String {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\
             Authorization: AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/{service}/aws4_request, \
             SignedHeaders=host, Signature=0\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut answer = String::new();
        TcpStream::connect(("127.0.0.1", self.port))
            .and_then(|mut stream| {
                stream.write_all(request.as_bytes())?;
                stream.read_to_string(&mut answer)
            })
            .expect("it answers");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        answer
    }

    /// A user who may do something with all buckets: the name of the key, and the key.
    fn user(&self, name: &str, may: &str) -> [String; 2] {
        let ask = |words: &str| {
            let body = format!("{words}&UserName={name}&Version=2010-05-08");
            self.ask("POST", "/", "iam", &body)
        };
        ask("Action=CreateUser");
        let policy = format!(
            "%7B%22Version%22%3A%222012-10-17%22%2C%22Statement%22%3A%5B%7B%22Effect%22%3A%22Allow%22\
             %2C%22Action%22%3A%22s3%3A{may}%22%2C%22Resource%22%3A%22%2A%22%7D%5D%7D"
        );
        ask(&format!(
            "Action=PutUserPolicy&PolicyName=p&PolicyDocument={policy}"
        ));
        let answer = ask("Action=CreateAccessKey");
        ["AccessKeyId", "SecretAccessKey"].map(|tag| {
            let (_, rest) = answer.split_once(&format!("<{tag}>")).expect("a key");
            rest.split('<').next().unwrap_or_default().to_owned()
        })
    }

    fn signal(&self, name: &str) {
        let id = self.process.id().to_string();
        let done = Command::new("kill").args([name, &id]).status();
        assert!(done.is_ok_and(|status| status.success()));
    }

    /// Does a part as the owner of a key.
    fn run(&self, part: &str, [name, key]: &[String; 2]) {
        let output = Command::new(env::current_exe().expect("the test has a path"))
            .args(["--exact", "part", "--nocapture"])
            .env(PART, format!("{part} {}", self.port))
            .env("AWS_ACCESS_KEY_ID", name)
            .env("AWS_SECRET_ACCESS_KEY", key)
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .output()
            .expect("the test starts again");
        let told = [output.stdout, output.stderr].concat();
        let told = String::from_utf8_lossy(&told).into_owned();
        assert!(output.status.success(), "{part}: {told}");
        assert!(told.contains(&format!("done: {part}")), "{told}");
        assert!(!told.contains(key.as_str()), "a secret is shown: {told}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn s3_serves_whom_it_knows_until_it_hangs_or_is_killed() {
    let server = need!(Server::start());
    server.ask("PUT", "/team", "s3", "");
    let writer = server.user("writer", "%2A");
    let reader = server.user("reader", "GetObject");
    let forged = [writer[0].clone(), "hunter2".repeat(5)];
    server.run("serves", &writer);
    server.run("reads", &reader);
    server.run("forged", &forged);
    server.run("nowhere", &writer);
    server.signal("-STOP");
    server.run("hangs", &writer);
    server.signal("-CONT");
    server.run("reads", &reader);
    let process = server.process.id();
    server.signal("-KILL");
    let state = || fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    while !state().is_empty() && !state().contains(") Z") {
        std::thread::sleep(Duration::from_millis(20));
    }
    server.run("gone", &writer);
}

/// Not a test by itself: a process that [`Server::run`] starts.
#[test]
fn part() {
    let Ok(asked) = env::var(PART) else { return };
    let (part, port) = asked.split_once(' ').expect("what, and where");
    let open = |bucket: &str, path: &str| {
        let at = format!("region=us-east-1&endpoint=http://127.0.0.1:{port}");
        remote::open(&format!("s3://{bucket}{path}?{at}")).expect("it is well written")
    };
    let place = open("team", "/a");
    let other = open("team", "/a");
    let long: Vec<u8> = (0..300_000u32).map(|n| n as u8).collect();
    let name = "kind-1/ab/abc";
    match part {
        "serves" => {
            assert_eq!(place.read(name, MOST).expect("an answer"), None);
            for bytes in [&b"text\n"[..], &long] {
                place.write(name, bytes).expect("it is written");
                let found = other.read(name, MOST).expect("an answer");
                assert!(found.as_deref() == Some(bytes));
            }
            let small = other.read(name, 1000);
            small.expect_err("it is larger than asked for");
            let beside = open("team", "/b").read(name, MOST);
            assert_eq!(beside.expect("an answer"), None, "another path");
        }
        "reads" => {
            let found = place.read(name, MOST).expect("an answer");
            assert!(found == Some(long));
            assert_eq!(
                place.read("kind-1/ab/other", MOST).expect("an answer"),
                None
            );
            let error = place.write(name, b"mine").expect_err("it may only read");
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{error}");
        }
        "forged" => {
            let told = fails(&*place);
            assert_eq!(told.kind(), io::ErrorKind::PermissionDenied, "{told}");
            place
                .write(name, b"forged")
                .expect_err("nobody knows that key");
        }
        "nowhere" => {
            let place = open("nobody", "");
            let written = || place.write(name, b"text").expect_err("nothing holds it");
            for error in [fails(&*place), written()] {
                assert_eq!(error.kind(), io::ErrorKind::NotFound, "{error}");
                assert_eq!(error.to_string(), "there is no bucket `nobody`");
            }
            drop(place);
            let place = open("team", "/a");
            assert!(
                place.read(name, MOST).is_ok(),
                "another place is there all the same"
            );
        }
        "hangs" => assert_eq!(fails(&*place).kind(), io::ErrorKind::TimedOut),
        "gone" => drop(fails(&*place)),
        part => panic!("there is no part `{part}`"),
    }
    assert!(
        place.shown().starts_with("the shared store `s3://team/a"),
        "{}",
        place.shown()
    );
    println!("done: {part}");
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
