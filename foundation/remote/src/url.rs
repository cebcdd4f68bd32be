//! URLs of servers.
//!
//! In: text. Out: [`Url`], nothing for what is no URL (a folder is meant), or what is wrong with it.
//! Neither its `Display` nor any message has the name or the password of a user.

use semantics::diagnostic::{Diagnostic, suggest};
use std::fmt;

#[cfg(test)]
mod tests;

/// The kinds of servers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A Redis server.
    Redis,
    /// A bucket of S3, Amazon's or another's.
    S3,
    /// A server of WebDAV, or one of HTTP that takes `PUT`; whether by TLS.
    Http(bool),
}

/// The names of kinds.
const SCHEMES: [(&str, Kind); 7] = [
    ("redis", Kind::Redis),
    ("s3", Kind::S3),
    ("https", Kind::Http(true)),
    ("http", Kind::Http(false)),
    ("webdavs", Kind::Http(true)),
    ("webdav", Kind::Http(false)),
    ("davs", Kind::Http(true)),
];

/// What may stand behind `?` in a URL of S3.
const OPTIONS: [&str; 2] = ["region", "endpoint"];

/// Where a server is, and how it is spoken to.
#[derive(Clone, PartialEq, Eq)]
pub struct Url {
    /// What speaks there.
    pub kind: Kind,
    scheme: &'static str,
    /// Who asks, and by which password; may be empty.
    pub user: Option<(String, String)>,
    /// The host, or the bucket.
    pub host: String,
    /// The port, where one is named.
    pub port: Option<u16>,
    /// What follows, without the slashes at its ends.
    pub path: String,
    /// What stands behind `?`, by name.
    pub options: Vec<(String, String)>,
}

impl Url {
    /// Reads a URL; nothing when the text is a path.
    ///
    /// # Errors
    /// When it begins like a URL and is none of a server that is known.
    pub fn read(text: &str) -> Result<Option<Url>, Diagnostic> {
        let Some((scheme, rest)) = text.split_once(':') else {
            return Ok(None);
        };
        let named = SCHEMES.iter().find(|(name, _)| *name == scheme);
        let Some(rest) = rest.strip_prefix("//") else {
            // `c:\\x` is a path, and `redis:/x` a slip.
            let meant = named.map(|(name, _)| *name);
            return match meant.or_else(|| suggest(scheme, SCHEMES.map(|(name, _)| name))) {
                Some(name) => {
                    let message = format!("a URL of `{name}` begins with `{name}://`");
                    Err(Diagnostic::error(message).hint(example(name)))
                }
                None => Ok(None),
            };
        };
        let Some((scheme, kind)) = named else {
            return Err(unknown(scheme));
        };
        let url = Url::parts(scheme, *kind, rest)?;
        url.checked().map(Some)
    }

    fn parts(scheme: &'static str, kind: Kind, rest: &str) -> Result<Url, Diagnostic> {
        let wrong = |what: &str| {
            let message = format!("a URL of `{scheme}` {what}");
            Diagnostic::error(message).hint(example(scheme))
        };
        if rest.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(wrong("has no spaces: they are written %20"));
        }
        if rest.contains('#') {
            return Err(wrong("has no `#`: in a password it is written %23"));
        }
        let (rest, options) = rest.split_once('?').unwrap_or((rest, ""));
        let (server, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, place) = match server.rsplit_once('@') {
            Some((user, place)) => (Some(user), place),
            None => (None, server),
        };
        let user = user.map(|user| {
            let (name, password) = user.split_once(':').unwrap_or((user, ""));
            Some((decoded(name)?, decoded(password)?))
        });
        let user = match user {
            Some(None) => return Err(wrong("has two digits after each `%`")),
            Some(user) => user,
            None => None,
        };
        let (host, port) =
            host_and_port(place).ok_or_else(|| wrong("ends its host with a port"))?;
        let options = options.split('&').filter(|option| !option.is_empty());
        let options = options.map(|option| {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            Some((decoded(name)?, decoded(value)?))
        });
        let options = options.collect::<Option<Vec<_>>>();
        let path = decoded(path.trim_matches('/'));
        let (Some(options), Some(path)) = (options, path) else {
            return Err(wrong("has two digits after each `%`"));
        };
        if host.is_empty() {
            return Err(wrong("names who serves"));
        }
        Ok(Url {
            kind,
            scheme,
            user,
            host: host.to_owned(),
            port,
            path,
            options,
        })
    }

    /// What does not fit the kind of server.
    fn checked(self) -> Result<Url, Diagnostic> {
        let wrong = |message: String| Err(Diagnostic::error(message).hint(example(self.scheme)));
        let number = self.path.is_empty() || self.path.parse::<u16>().is_ok();
        if self.kind == Kind::Redis && !number {
            return wrong("behind the host of `redis` stands the number of a database".to_owned());
        }
        if self.kind == Kind::S3 && self.port.is_some() {
            return wrong("`s3` is followed by a bucket: a server is its `endpoint`".to_owned());
        }
        if self.path.split('/').any(|part| part == "..") {
            return wrong("the path of a store does not go up".to_owned());
        }
        let known: &[&str] = match self.kind {
            Kind::S3 => &OPTIONS,
            Kind::Redis | Kind::Http(_) => &[],
        };
        match self
            .options
            .iter()
            .find(|(name, _)| !known.contains(&name.as_str()))
        {
            Some(_) if known.is_empty() => {
                wrong(format!("a URL of `{}` has nothing behind `?`", self.scheme))
            }
            Some((name, _)) => {
                let message = format!("`{name}` is no option of `s3`");
                let near = suggest(name, OPTIONS).map(|near| format!("did you mean `{near}`?"));
                let hint = near.unwrap_or_else(|| format!("there are {}", OPTIONS.join(" and ")));
                Err(Diagnostic::error(message).hint(hint))
            }
            None => Ok(self),
        }
    }

    /// The value of an option.
    pub fn option(&self, name: &str) -> Option<&str> {
        let mut all = self.options.iter();
        all.find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// Host and port as they stand in a URL; `default` is the port where none is named.
    pub fn authority(&self, default: Option<u16>) -> String {
        match self.port.or(default) {
            Some(port) => format!("{}:{port}", self.host),
            None => self.host.clone(),
        }
    }

    /// A text of somebody else's without what must not be shown.
    pub fn hidden(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in self
            .user
            .iter()
            .flat_map(|(name, password)| [password, name])
        {
            if !secret.is_empty() {
                text = text.replace(secret.as_str(), "***");
            }
        }
        text
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.authority(None))?;
        match self.path.is_empty() {
            true => Ok(()),
            false => write!(f, "/{}", self.path),
        }
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// How URLs of a kind look.
fn example(scheme: &str) -> String {
    match scheme {
        "redis" => "such as redis://host:6379/0 or redis://:PASSWORD@host".to_owned(),
        "s3" => "such as s3://bucket/path?region=eu-central-1".to_owned(),
        other => format!("such as {other}://host/path or {other}://USER:PASSWORD@host/path"),
    }
}

fn unknown(scheme: &str) -> Diagnostic {
    let known = SCHEMES.iter().map(|(name, _)| *name);
    // What stands before the colon may be anything that was typed.
    let plain = scheme.len() <= 16 && scheme.chars().all(|c| c.is_ascii_alphanumeric());
    let message = match plain {
        true => format!("there is no kind of store `{scheme}://`"),
        false => "this begins like no URL of a store".to_owned(),
    };
    let complaint = Diagnostic::error(message);
    match suggest(scheme, known) {
        Some(near) if plain => complaint.hint(format!("did you mean `{near}://`?")),
        _ => complaint.hint(format!("name {}", crate::FORMS)),
    }
}

/// A host, in brackets when it has colons, and a port.
fn host_and_port(text: &str) -> Option<(&str, Option<u16>)> {
    let end = match text.starts_with('[') {
        true => text.find(']')? + 1,
        false => text.find(':').unwrap_or(text.len()),
    };
    let (host, rest) = text.split_at(end);
    match rest.strip_prefix(':') {
        Some(port) => Some((host, Some(port.parse().ok().filter(|&p| p > 0)?))),
        None => rest.is_empty().then_some((host, None)),
    }
}

/// A text with its `%` signs and the digits after them replaced.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let (high, low) = (digit()?, digit()?);
        bytes.push(u8::try_from(16 * high + low).ok()?);
    }
    let text = String::from_utf8(bytes).ok()?;
    (!text.chars().any(char::is_control)).then_some(text)
}
