//! A server of S3 as a place: moto's (`pip install 'moto[server]'`), started and ended here on a
//! free port of this machine, with one who may write, one who may only read, and one whose key is
//! wrong. Keys come from the environment, so that each of them is a process of its own. Where it is
//! not installed there is a reason to skip.

#![cfg(feature = "servers")]

mod serving;

use serving::{MOST, Server, fails, serves};
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;
use std::{env, fs};
use test_support::need;

/// Requests that the server believes before it asks for keys: those that make the bucket and users.
const BELIEVED: usize = 7;
/// Says what a process is to do ([`part`]): what it is, and the address of the server.
const PART: &str = "ISAFORGE_S3_PART";

/// The server as this test speaks to it.
struct Moto(Server);

impl Moto {
    fn start() -> Result<Moto, String> {
        let mut program = Command::new("moto_server");
        program.env("INITIAL_NO_AUTH_ACTION_COUNT", BELIEVED.to_string());
        let words = |_: &std::path::Path, port: u16| {
            let port = port.to_string();
            ["-H", "127.0.0.1", "-p", &port].map(str::to_owned).to_vec()
        };
        let server = Server::start(&mut program, words)?.listening(60);
        // It may be installed without what serves.
        Ok(Moto(server.map_err(|why| format!("`moto_server`: {why}"))?))
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
        TcpStream::connect(("127.0.0.1", self.0.port))
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

    /// Does a part as the owner of a key.
    fn run(&self, part: &str, [name, key]: &[String; 2]) {
        let output = Command::new(env::current_exe().expect("the test has a path"))
            .args(["--exact", "part", "--nocapture"])
            .env(PART, format!("{part} {}", self.0.port))
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

#[test]
fn s3_serves_whom_it_knows_until_it_hangs_or_is_killed() {
    let server = need!(Moto::start());
    server.ask("PUT", "/team", "s3", "");
    let writer = server.user("writer", "%2A");
    let reader = server.user("reader", "GetObject");
    let forged = [writer[0].clone(), "hunter2".repeat(5)];
    server.run("serves", &writer);
    server.run("reads", &reader);
    server.run("forged", &forged);
    server.run("nowhere", &writer);
    server.0.signal("-STOP");
    server.run("hangs", &writer);
    server.0.signal("-CONT");
    server.run("reads", &reader);
    let process = server.0.process.id();
    server.0.signal("-KILL");
    let state = || fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    while !state().is_empty() && !state().contains(") Z") {
        std::thread::sleep(Duration::from_millis(20));
    }
    server.run("gone", &writer);
}

/// Not a test by itself: a process that [`Moto::run`] starts.
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
            serves(&*place, &*other);
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
