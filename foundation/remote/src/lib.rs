//! Where a store is that several people share.
//!
//! In: what a user has written after `--store`. Out: a [`Place`]: a folder, or
//! a server of Redis, S3 or WebDAV; or a diagnostic that says how it is written. Names of places have
//! no secrets in them. What lies there is neither read nor believed here.
//!
//! | module | what |
//! |---|---|
//! | [`url`] | URLs of servers, and what is wrong with them |
//! | `servers` | the servers themselves, by crate `opendal`, in builds with that feature |

#[cfg(feature = "servers")]
mod servers;
pub mod url;

use semantics::diagnostic::Diagnostic;
use std::path::Path;
use store::backend::Folder;
use store::shared::Place;
use url::Url;

/// How a place is written.
pub const FORMS: &str = "a folder, redis://HOST:PORT/NUMBER, s3://BUCKET/PATH, https://HOST/PATH or \
    webdav://HOST/PATH";

/// The place that somebody names.
///
/// # Errors
/// When no place is written so, or there can be no folder of that name.
pub fn open(text: &str) -> Result<Box<dyn Place>, Diagnostic> {
    match Url::read(text)? {
        Some(url) => server(&url),
        None => folder(Path::new(text)),
    }
}

fn folder(path: &Path) -> Result<Box<dyn Place>, Diagnostic> {
    let shown = path.display();
    if let Err(error) = std::fs::create_dir_all(path) {
        let message = format!("`{shown}` is no folder that a store can be in: {error}");
        let hint = format!("name {FORMS}");
        return Err(Diagnostic::error(message).hint(hint));
    }
    Ok(Box::new(Folder::new(path)))
}

#[cfg(feature = "servers")]
fn server(url: &Url) -> Result<Box<dyn Place>, Diagnostic> {
    servers::open(url)
}

#[cfg(not(feature = "servers"))]
fn server(url: &Url) -> Result<Box<dyn Place>, Diagnostic> {
    let message = format!("this program was built without the clients of servers: `{url}`");
    Err(Diagnostic::error(message)
        .with_note("they are 150 crates more, so that a plain build leaves them out")
        .hint("build it with `cargo build --release --features servers`, or name a folder"))
}
