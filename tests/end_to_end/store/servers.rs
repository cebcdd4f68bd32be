//! The same with servers: Redis, and nginx with its module for WebDAV.
//!
//! Each test starts a server of its own on a free port of this machine and ends it, whatever
//! happens; one that is not installed is a reason to skip.

use super::{KERNELS, compiled, counts, room, second_machine};
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use test_support::need;

/// A server that ends with its test.
struct Server {
    process: Child,
    port: u16,
    /// What it writes to.
    _folder: TempDir,
}

impl Server {
    /// Starts a program that is to listen at a port.
    fn start(
        program: &str,
        of: impl FnOnce(&TempDir, u16) -> Vec<String>,
    ) -> Result<Server, String> {
        let folder = room();
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
        Err(format!("`{program}` does not listen within 10 s"))
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
                "daemon off; user root; worker_processes 1; pid {dir}/pid; error_log {dir}/errors;\n\
                 events {{}}\nhttp {{ access_log off; {}\n\
                 server {{ listen 127.0.0.1:{port}; client_max_body_size 64m; location / {{\n\
                 root {dir}/data; {methods} create_full_put_path on; }} }} }}\n",
                temporary.join(" ")
            );
            let conf = folder.path().join("conf");
            fs::write(&conf, text).expect("there is room");
            let conf = conf.display().to_string();
            ["-p", &dir, "-c", &conf, "-e", "stderr"]
                .map(str::to_owned)
                .to_vec()
        })
    }

    fn signal(&self, name: &str) {
        let id = self.process.id().to_string();
        let done = Command::new("kill").args([name, &id]).status();
        assert!(done.is_ok_and(|status| status.success()));
    }

    /// Where the store is, with a password that must never be shown.
    fn redis_url(&self) -> String {
        format!("redis://:hunter2@127.0.0.1:{}/3", self.port)
    }

    fn dav_url(&self, scheme: &str) -> String {
        format!("{scheme}://me:hunter2@127.0.0.1:{}/team/a", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A worker of nginx ends with its master only when that is asked to.
        let _ = Command::new("kill")
            .args(["-TERM", &self.process.id().to_string()])
            .status();
        std::thread::sleep(Duration::from_millis(100));
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn redis_has_what_a_second_machine_needs() {
    let server = need!(Server::redis());
    second_machine(&server.redis_url(), |first, made| {
        assert!(made.iter().all(|(_, log)| !log.contains("hunter2")));
        // A password that is wrong: told, and no loss.
        let wrong = server.redis_url().replace("hunter2", "hunter3");
        let machine = room();
        copy_table(first, machine.path());
        let (code, log) = compiled(machine.path(), KERNELS[0], &wrong);
        assert_eq!(code, made[0].0);
        assert_eq!(log.matches("does not serve").count(), 1, "{log}");
        assert!(!log.contains("hunter3"), "{log}");
    });
}

#[test]
fn nginx_has_what_a_second_machine_needs() {
    let server = need!(Server::nginx("dav_methods PUT DELETE MKCOL;"));
    second_machine(&server.dav_url("http"), |first, made| {
        assert!(made.iter().all(|(_, log)| !log.contains("hunter2")));
        let machine = room();
        copy_table(first, machine.path());
        let (code, log) = compiled(machine.path(), KERNELS[1], &server.dav_url("webdav"));
        let [asked, taken, ..] = counts(&log);
        assert!(code == made[1].0 && asked == taken, "{log}");
    });
}

#[test]
fn a_server_that_takes_nothing_is_read_all_the_same() {
    let server = need!(Server::nginx(""));
    let machine = room();
    let (_, log) = compiled(machine.path(), KERNELS[0], &server.dav_url("http"));
    assert_eq!(log.matches("warning: ").count(), 1, "{log}");
    let [asked, taken, refused, left] = counts(&log);
    assert!(asked > 1 && [taken, refused, left] == [0; 3], "{log}");
}

#[test]
fn a_server_that_is_killed_or_hangs_costs_a_warning() {
    let server = need!(Server::redis());
    let first = room();
    let (code, _) = compiled(first.path(), KERNELS[2], &server.redis_url());
    let hung = room();
    copy_table(first.path(), hung.path());
    server.signal("-STOP");
    let (again, log) = compiled(hung.path(), KERNELS[2], &server.redis_url());
    server.signal("-CONT");
    assert_eq!(code, again);
    assert_eq!(log.matches("no answer came within").count(), 1, "{log}");
    let killed = room();
    copy_table(first.path(), killed.path());
    let url = server.redis_url();
    // Nothing is there any more, so that the run takes a while; somewhere in it the server goes.
    let flushed = TcpStream::connect(("127.0.0.1", server.port)).and_then(|mut stream| {
        stream.write_all(b"AUTH hunter2\r\nFLUSHALL\r\n")?;
        let mut answer = [0; 10];
        stream.read_exact(&mut answer)
    });
    assert!(flushed.is_ok());
    let run = std::thread::spawn(move || compiled(killed.path(), KERNELS[2], &url));
    std::thread::sleep(Duration::from_millis(400));
    drop(server);
    let (again, log) = run.join().expect("it ends well");
    assert_eq!(code, again);
    assert!(log.matches("warning: ").count() <= 1, "{log}");
    let gone = room();
    copy_table(first.path(), gone.path());
    let (again, log) = compiled(gone.path(), KERNELS[2], "redis://:hunter2@127.0.0.1:1/0");
    assert_eq!(code, again);
    assert_eq!(log.matches("does not serve").count(), 1, "{log}");
    assert!(!log.contains("hunter2"), "{log}");
}

/// What a hostile server may say for ever, after its first words.
const ENDLESS: [(&str, &[u8], &[u8]); 4] = [
    ("redis", b"$99999999999\r\n", b"AAAAAAAAAAAAAAAA"),
    ("redis", b"*2147483647\r\n", b"$4\r\nAAAA\r\n"),
    (
        "http",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
        b"AAAA",
    ),
    (
        "http",
        b"HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"4\r\nAAAA\r\n",
    ),
];

/// A server that never ends an answer; its port. It ends with the process.
fn endless(head: &'static [u8], more: &'static [u8]) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
    let port = listener.local_addr().expect("it listens").port();
    let answer = move |mut stream: TcpStream| {
        let _ = stream.read(&mut [0; 4096]);
        let many = more.repeat(1 << 16);
        // Until nobody listens.
        let mut said = stream.write_all(head);
        while said.is_ok() {
            said = stream.write_all(&many);
        }
    };
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream));
        }
    });
    port
}

#[test]
fn answers_without_end_are_left() {
    let first = room();
    let (code, _) = compiled(first.path(), KERNELS[0], "");
    for (scheme, head, more) in ENDLESS {
        let machine = room();
        copy_table(first.path(), machine.path());
        let store = format!("{scheme}://127.0.0.1:{}/0", endless(head, more));
        let file = format!("kernels/{}.kernel", KERNELS[0]);
        let file_of = |name: &str| fs::File::create(machine.path().join(name)).expect("room");
        let mut run = Command::new(env!("CARGO_BIN_EXE_isaforge"))
            .args([
                "compile",
                &file,
                "--target",
                "x86-64-v3",
                "-o",
                "-",
                "--store",
                &store,
            ])
            .current_dir(super::root())
            .env("XDG_CACHE_HOME", machine.path())
            .stdout(file_of("code"))
            .stderr(file_of("told"))
            .spawn()
            .expect("the binary starts");
        let mut most = 0;
        while run.try_wait().expect("it is ours").is_none() {
            let status = fs::read_to_string(format!("/proc/{}/status", run.id()));
            let peak = status.unwrap_or_default().lines().find_map(|l| {
                let peak = l.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?;
                peak.parse::<u64>().ok()
            });
            most = most.max(peak.unwrap_or(0));
            std::thread::sleep(Duration::from_millis(20));
        }
        let read = |name: &str| fs::read_to_string(machine.path().join(name)).expect("a file");
        let log = read("told");
        assert_eq!(code, read("code"), "{log}");
        assert_eq!(log.matches("does not serve").count(), 1, "{log}");
        assert!(most < 1_500_000, "{scheme}: {most} kB\n{log}");
    }
}

/// Gives a machine another's table of instructions, and nothing else.
fn copy_table(from: &std::path::Path, to: &std::path::Path) {
    super::copy(from, to, "/instruction-tables/");
}
