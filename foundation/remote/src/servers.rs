//! Servers of Redis, S3 and WebDAV.
//!
//! In: a URL. Out: a [`Place`] that reads and writes objects there, each within [`PATIENCE`] and
//! without a second try; an answer without end is left before it fills the memory, and its server with
//! it. Crate `opendal` speaks to them; S3's keys come from where its users have
//! them (the environment, profiles), not from the URL. Nothing that a server says is shown with a
//! secret in it.

use crate::url::{Kind, Url};
use futures_util::StreamExt as _;
use futures_util::future::{Either, select};
use opendal::{ErrorKind, Operator, services};
use semantics::diagnostic::Diagnostic;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use store::shared::Place;
use tokio::runtime::{Handle, Runtime};

/// Time for one object, from the first word to the server to its last.
const PATIENCE: Duration = Duration::from_secs(5);

/// By how much this process may grow while it waits for one answer, in kB: clients read an answer, or
/// what a server says of a failure, as a whole and without a bound of their own.
const GROWTH: u64 = 512 << 10;
/// How often that is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// Below what all objects lie.
const ROOT: &str = "isaforge";

/// A server.
struct Server {
    url: Url,
    operator: Operator,
    handle: Handle,
    talks: Mutex<Talks>,
}

/// Who talks to a server.
struct Talks {
    /// What reads from it, also when nobody waits for an answer any more; nothing when it was left.
    runtime: Option<Runtime>,
    /// How many wait for an answer.
    waiting: usize,
    /// It is left as soon as nobody waits.
    leaving: bool,
}

/// The server of a URL. Nothing is asked of it yet.
///
/// # Errors
/// When the URL lacks what such a server needs.
pub(crate) fn open(url: &Url) -> Result<Box<dyn Place>, Diagnostic> {
    let wrong = |why: &dyn std::fmt::Display| {
        let message = format!("`{url}` cannot be used: {}", url.hidden(&why.to_string()));
        Diagnostic::error(message)
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| wrong(&error))?;
    // Another may have been chosen before, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let operator = operator(url).map_err(|error| match url.kind {
        Kind::S3 => wrong(&error.message()).hint("name its region: `s3://BUCKET/PATH?region=…`"),
        Kind::Redis | Kind::Http(_) => wrong(&error.message()),
    })?;
    Ok(Box::new(Server {
        url: url.clone(),
        operator,
        handle: runtime.handle().clone(),
        talks: Mutex::new(Talks {
            runtime: Some(runtime),
            waiting: 0,
            leaving: false,
        }),
    }))
}

fn operator(url: &Url) -> opendal::Result<Operator> {
    opendal_http_transport_reqwest::install_default();
    let below = |path: &str| match path.is_empty() {
        true => format!("/{ROOT}"),
        false => format!("/{path}/{ROOT}"),
    };
    let (name, password) = url.user.clone().unwrap_or_default();
    match url.kind {
        Kind::Redis => {
            let endpoint = format!("redis://{}", url.authority(Some(6379)));
            let mut redis = services::Redis::default()
                .endpoint(&endpoint)
                .root(&below(""));
            if !name.is_empty() {
                redis = redis.username(&name);
            }
            if !password.is_empty() {
                redis = redis.password(&password);
            }
            Operator::new(redis.db(url.path.parse().unwrap_or(0)))
        }
        Kind::S3 => {
            let mut s3 = services::S3::default()
                .bucket(&url.host)
                .root(&below(&url.path));
            if let Some(region) = url.option("region") {
                s3 = s3.region(region);
            }
            if let Some(endpoint) = url.option("endpoint") {
                s3 = s3.endpoint(endpoint);
            }
            Operator::new(s3)
        }
        Kind::Http(tls) => {
            let scheme = if tls { "https" } else { "http" };
            let endpoint = format!("{scheme}://{}", url.authority(None));
            // Folders are the server's affair: not every one that takes `PUT` knows of them.
            let mut dav = services::Webdav::default()
                .endpoint(&endpoint)
                .root(&below(&url.path))
                .disable_create_dir(true);
            if url.user.is_some() {
                dav = dav.username(&name).password(&password);
            }
            Operator::new(dav)
        }
    }
}

impl Server {
    /// Waits for an answer, and not for long.
    fn wait<T>(&self, answer: impl Future<Output = opendal::Result<T>>) -> io::Result<Option<T>> {
        self.begin()?;
        let limited = async { tokio::time::timeout(PATIENCE, bounded(answer)).await };
        let answered = self.handle.block_on(limited);
        self.end(!matches!(answered, Ok(Some(_))));
        match answered {
            Err(_) => {
                let message = format!("no answer came within {} s", PATIENCE.as_secs());
                Err(io::Error::new(io::ErrorKind::TimedOut, message))
            }
            Ok(None) => Err(io::Error::other("its answer has no end")),
            Ok(Some(Ok(found))) => Ok(Some(found)),
            Ok(Some(Err(error))) if error.kind() == ErrorKind::NotFound => Ok(None),
            Ok(Some(Err(error))) => Err(self.io_error(&error)),
        }
    }

    fn begin(&self) -> io::Result<()> {
        let mut talks = self.talks();
        if talks.leaving {
            return Err(io::Error::other("it was left"));
        }
        talks.waiting += 1;
        Ok(())
    }

    /// Whoever is the last to wait for a server that has not answered ends what still reads from it.
    fn end(&self, failed: bool) {
        let mut talks = self.talks();
        talks.waiting -= 1;
        talks.leaving |= failed;
        if talks.leaving && talks.waiting == 0 {
            let runtime = talks.runtime.take();
            runtime.into_iter().for_each(Runtime::shutdown_background);
        }
    }

    fn talks(&self) -> MutexGuard<'_, Talks> {
        self.talks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a server says, on one line.
    fn io_error(&self, error: &opendal::Error) -> io::Error {
        let status = status(error);
        if let (Kind::S3, Some(404)) = (&self.url.kind, status) {
            // An object that is not there is no error; what is not there is what holds objects.
            let text = format!("there is no bucket `{}`", self.url.host);
            return io::Error::new(io::ErrorKind::NotFound, text);
        }
        let kind = match (error.kind(), status) {
            (ErrorKind::PermissionDenied, _) => io::ErrorKind::PermissionDenied,
            (ErrorKind::Unsupported, _) | (_, Some(405 | 501)) => io::ErrorKind::Unsupported,
            _ => io::ErrorKind::Other,
        };
        // What servers of HTTP say at length is a page.
        let mut text = match status {
            Some(status) => format!("it answers with status {status}"),
            None => error.message().to_owned(),
        };
        let mut below = std::error::Error::source(error);
        while let Some(why) = below {
            text = format!("{text}: {why}");
            below = why.source();
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let text: String = words.join(" ").chars().take(200).collect();
        io::Error::new(kind, self.url.hidden(&text))
    }
}

impl Place for Server {
    fn read(&self, name: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
        let read = async {
            let mut parts = self.operator.reader(name).await?.into_stream(..).await?;
            let mut bytes = Vec::new();
            while let Some(part) = parts.next().await {
                bytes.extend_from_slice(&part?.to_bytes());
                if bytes.len() as u64 > most {
                    return Err(opendal::Error::new(
                        ErrorKind::Unexpected,
                        "it is too large",
                    ));
                }
            }
            Ok(bytes)
        };
        self.wait(read)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let bytes = bytes.to_vec();
        match self.wait(self.operator.write(name, bytes))? {
            Some(_) => Ok(()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn shown(&self) -> String {
        format!("the shared store `{}`", self.url)
    }
}

/// An answer; nothing when this process has grown too much while it waited.
async fn bounded<T>(answer: impl Future<Output = T>) -> Option<T> {
    let most = resident().map(|begun| begun + GROWTH);
    let grown = async {
        loop {
            tokio::time::sleep(LOOK).await;
            if resident().zip(most).is_some_and(|(now, most)| now > most) {
                return;
            }
        }
    };
    match select(pin!(answer), pin!(grown)).await {
        Either::Left((answer, _)) => Some(answer),
        Either::Right(_) => None,
    }
}

/// The memory of this process in kB, where the system says.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let row = status.lines().find_map(|l| l.strip_prefix("VmRSS:"))?;
    row.trim().strip_suffix(" kB")?.parse().ok()
}

/// The status that a server of HTTP gave, where one answered; it stands in the error's context only.
fn status(error: &opendal::Error) -> Option<u16> {
    let text = error.to_string();
    let (_, rest) = text.split_once("status: ")?;
    rest.get(..3)?.parse().ok()
}
