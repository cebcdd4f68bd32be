//! What a URL says, what is wrong with one, and that none of it shows a secret.

use super::{Kind, Url};

fn url(text: &str) -> Url {
    match Url::read(text) {
        Ok(Some(url)) => url,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn a_url_has_its_parts() {
    let found = url("redis://me:a%40b%2Fc@host:7000/3");
    assert_eq!(found.kind, Kind::Redis);
    assert_eq!(found.user, Some(("me".to_owned(), "a@b/c".to_owned())));
    assert_eq!((found.host.as_str(), found.port), ("host", Some(7000)));
    assert_eq!(found.path, "3");
    let found = url("s3://bucket/a/b/?region=eu&endpoint=http://[::1]:9000");
    assert_eq!(
        (found.host.as_str(), found.path.as_str()),
        ("bucket", "a/b")
    );
    assert_eq!(found.option("endpoint"), Some("http://[::1]:9000"));
    let found = url("https://[::1]:8443");
    assert_eq!(found.authority(None), "[::1]:8443");
    assert_eq!(url("webdav://host").authority(Some(80)), "host:80");
}

#[test]
fn what_is_no_url_is_a_path() {
    for text in [
        "",
        "store",
        "/a/b",
        "./redis",
        "c:\\x",
        "a:b",
        "x/redis://y",
    ] {
        let found = Url::read(text);
        let path = matches!(found, Ok(None));
        assert!(path || text == "x/redis://y", "{text}: {found:?}");
    }
}

#[test]
fn what_is_wrong_is_told_with_a_mend_and_without_secrets() {
    let cases = [
        (
            "redis:/host",
            "begins with `redis://`",
            "redis://host:6379/0",
        ),
        (
            "rediss:/host",
            "begins with `redis://`",
            "redis://host:6379/0",
        ),
        ("redis://", "names who serves", "redis://host"),
        (
            "redis://secret:hunter2@",
            "names who serves",
            "redis://host",
        ),
        ("redis://:hunter2@host:99999", "a port", "redis://host"),
        ("redis://:hunter2@host:0", "a port", "redis://host"),
        (
            "redis://:hunter2@host/main",
            "number of a database",
            "6379/0",
        ),
        ("redis://:hunter2 @host", "no spaces", "redis://host"),
        ("redis://:hunter2#@host", "%23", "redis://host"),
        ("redis://:hunter2%zz@host", "two digits", "redis://host"),
        (
            "reddis://:hunter2@host",
            "`reddis://`",
            "did you mean `redis://`?",
        ),
        ("ftp://hunter2@host", "`ftp://`", "redis://HOST"),
        ("hunter2@x://y", "no URL of a store", "redis://HOST"),
        ("https://host/a/../b", "does not go up", "https://host"),
        (
            "https://host/?hunter2",
            "nothing behind `?`",
            "https://host",
        ),
        (
            "s3://bucket?regoin=eu",
            "`regoin`",
            "did you mean `region`?",
        ),
        ("s3://host:9000/bucket", "`endpoint`", "s3://bucket"),
    ];
    for (text, message, hint) in cases {
        let told = Url::read(text).expect_err(text);
        let shown = semantics::diagnostic::render(&[told]);
        assert!(
            shown.contains(message) && shown.contains(hint),
            "{text}: {shown}"
        );
        assert!(!shown.contains("hunter2"), "{text}: {shown}");
    }
}

#[test]
fn neither_its_name_nor_what_others_say_of_it_has_the_secret() {
    let found = url("https://me:hunter2@host:1/p?".trim_end_matches('?'));
    for shown in [found.to_string(), format!("{found:?}")] {
        assert_eq!(shown, "https://host:1/p");
    }
    let told = found.hidden("cannot log in at https://me:hunter2@host");
    assert!(!told.contains("hunter2") && !told.contains("me:"), "{told}");
}
