//! The page that shows a schedule.
//!
//! In: kernels with their loops after each directive. Out: one HTML text that needs no other
//! file, no network and no script: steps one below the other, changed lines marked, light or
//! dark as the reader's system is.

use super::Shown;
use super::difference::{Kind, difference};
use std::fmt::Write as _;

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1d2430;--paper:#fdfdfb;--soft:#6a7280;--line:#dde1e6;\
--new:#d9f2dd;--newink:#0b5d1e;--gone:#fbe0dd;--goneink:#96231a;--code:#f4f5f2}\
@media(prefers-color-scheme:dark){:root{--ink:#e4e7ec;--paper:#14171c;--soft:#98a1ad;--line:#2c323b;\
--new:#16391f;--newink:#a6e8b4;--gone:#43201d;--goneink:#f5b5ae;--code:#1b1f26}}\
body{margin:0 auto;max-width:62rem;padding:2rem 1rem;background:var(--paper);color:var(--ink);\
font:16px/1.5 system-ui,sans-serif}\
h1{font-size:1.4rem;margin:0 0 .2rem}h2{font-size:1.15rem;margin:2.2rem 0 .4rem}\
p,nav{color:var(--soft);margin:.2rem 0}nav ol{columns:2;padding-left:1.6rem;margin:.4rem 0}\
nav a{color:inherit}section{border-top:1px solid var(--line);padding:.8rem 0}\
h3{font:600 1rem ui-monospace,monospace;margin:0 0 .4rem}\
h3 small{font:400 .85rem system-ui,sans-serif;color:var(--soft);margin-left:.6rem}\
pre{margin:0;padding:.6rem 0;background:var(--code);border-radius:6px;overflow-x:auto;\
font:13.5px/1.5 ui-monospace,monospace}\
pre span{display:block;padding:0 .8rem;min-height:1.5em;width:max-content;min-width:calc(100% - 1.6rem)}\
pre .n{background:var(--new);color:var(--newink)}\
pre .g{background:var(--gone);color:var(--goneink)}";

/// The page.
pub(crate) fn page(file: &str, shown: &[Shown]) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <title>{0}: schedule</title><style>{STYLE}</style></head><body>\n\
         <h1>{0}</h1><p>The loops after each directive. Lines marked + are new, lines marked − \
         are gone.</p>\n",
        escaped(file)
    );
    for (k, kernel) in shown.iter().enumerate() {
        let _ = writeln!(
            out,
            "<h2>kernel {}</h2>\n<nav><ol start=\"0\">",
            escaped(&kernel.name)
        );
        for (n, (heading, _)) in kernel.steps.iter().enumerate() {
            let heading = escaped(heading);
            let _ = writeln!(out, "<li><a href=\"#k{k}s{n}\">{heading}</a></li>");
        }
        out.push_str("</ol></nav>\n");
        let mut before = None;
        for (n, (heading, now)) in kernel.steps.iter().enumerate() {
            let lines = match before {
                None => now.lines().map(|l| (Kind::Kept, l)).collect(),
                Some(before) => difference(before, now),
            };
            step(&mut out, &format!("k{k}s{n}"), heading, &lines);
            before = Some(now);
        }
    }
    out.push_str("</body></html>\n");
    out
}

fn step(out: &mut String, id: &str, heading: &str, lines: &[(Kind, &str)]) {
    let count = |kind: Kind| lines.iter().filter(|l| l.0 == kind).count();
    let (new, gone) = (count(Kind::New), count(Kind::Gone));
    let changed = match (new, gone) {
        (0, 0) => String::new(),
        _ => format!("<small>+{new} −{gone}</small>"),
    };
    let heading = escaped(heading);
    let _ = write!(out, "<section id=\"{id}\"><h3>{heading}{changed}</h3><pre>");
    for (kind, line) in lines {
        let (class, mark) = match kind {
            Kind::Kept => ("", ' '),
            Kind::New => (" class=\"n\"", '+'),
            Kind::Gone => (" class=\"g\"", '−'),
        };
        let _ = write!(out, "<span{class}>{mark} {}</span>", escaped(line));
    }
    out.push_str("</pre></section>\n");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
