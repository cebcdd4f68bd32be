//! Servers as places: Redis, and nginx with its module for WebDAV, started and ended here on free
//! ports of this machine. One that is not installed is a reason to skip.

#![cfg(feature = "servers")]

mod serving;

use serving::{MOST, Server, fails, serves};
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use store::shared::Place;
use test_support::need;

/// A server that is installed has to run.
fn started(program: &str, words: impl FnOnce(&Path, u16) -> Vec<String>) -> Result<Server, String> {
    let server = Server::start(&mut Command::new(program), words)?;
    Ok(server
        .listening(10)
        .unwrap_or_else(|why| panic!("`{program}`: {why}")))
}

fn redis() -> Result<Server, String> {
    started("redis-server", |folder, port| {
        let port = port.to_string();
        let dir = folder.display().to_string();
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
    started("nginx", |folder, port| {
        let dir = folder.display().to_string();
        fs::create_dir_all(folder.join("data")).expect("there is room");
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
        let temporary = temporary.map(|name| format!("{name}_temp_path {dir}/{name};"));
        let text = format!(
            "daemon off; user root; master_process off; pid {dir}/pid;\n\
                 error_log {dir}/errors;\nevents {{}}\nhttp {{ access_log off; {}\n\
                 server {{ listen 127.0.0.1:{port}; client_max_body_size 64m; location / {{\n\
                 root {dir}/data; {methods} create_full_put_path on; }} }} }}\n",
            temporary.join(" ")
        );
        let conf = folder.join("conf");
        fs::write(&conf, text).expect("there is room");
        let conf = conf.display().to_string();
        let words = ["-p", &dir, "-c", &conf, "-e", "stderr"];
        words.map(str::to_owned).to_vec()
    })
}

fn opened(server: &Server, scheme: &str, path: &str) -> Box<dyn Place> {
    let url = format!("{scheme}://:hunter2@127.0.0.1:{}/{path}", server.port);
    remote::open(&url).expect("it is well written")
}

#[test]
fn redis_serves_until_it_hangs_or_is_killed() {
    let server = need!(redis());
    let place = opened(&server, "redis", "3");
    serves(&*place, &*opened(&server, "redis", "3"));
    let elsewhere = opened(&server, "redis", "4").read("kind-1/ab/abc", MOST);
    assert_eq!(elsewhere.expect("an answer"), None);
    let wrong = format!("redis://:hunter3@127.0.0.1:{}", server.port);
    fails(&*remote::open(&wrong).expect("it is well written"));
    server.signal("-STOP");
    let hung = fails(&*opened(&server, "redis", "3"));
    assert_eq!(hung.kind(), io::ErrorKind::TimedOut);
    server.signal("-CONT");
    serves_still(&*opened(&server, "redis", "3"));
    let gone = opened(&server, "redis", "3");
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
    let server = need!(nginx("dav_methods PUT;"));
    let place = opened(&server, "http", "team/a");
    serves(&*place, &*opened(&server, "webdav", "team/a"));
    server.signal("-STOP");
    let hung = fails(&*opened(&server, "http", "team/a"));
    assert_eq!(hung.kind(), io::ErrorKind::TimedOut);
    server.signal("-CONT");
    drop(server);
    fails(&*place);
}

#[test]
fn nginx_that_takes_nothing_is_told_from_one_that_is_gone() {
    let server = need!(nginx(""));
    let place = opened(&server, "http", "");
    assert_eq!(place.read("kind-1/ab/abc", MOST).expect("an answer"), None);
    let error = place
        .write("kind-1/ab/abc", b"text")
        .expect_err("PUT is not allowed");
    let read_only = [io::ErrorKind::PermissionDenied, io::ErrorKind::Unsupported];
    assert!(read_only.contains(&error.kind()), "{error:?}");
}
