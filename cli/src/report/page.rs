//! The page of a compilation: source, C and assembly side by side, and what is told of each window.
//!
//! In: kernels with their reports, C and instructions, and warnings. Out: one HTML text that needs no other file
//! and no network. Lines of one window have one colour in all columns; a short script marks them
//! where one is pointed at or clicked, and without it the page says the same. Nothing is computed here.

use super::spent::{Purpose, Spent};
use super::{KernelReport, Report, WindowReport};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use validate::disassembly::Instruction;

const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/script.js");

/// So many colours are told apart.
const COLOURS: usize = 6;

/// What the page shows of a kernel beside its report.
pub(crate) struct Shown {
    /// Its code, when there is some that is C.
    pub(crate) code: Option<String>,
    /// What a compiler makes of it, or why nothing.
    pub(crate) assembly: Result<Vec<Instruction>, String>,
}

/// A message of the compilation.
pub(crate) struct Message {
    /// Its first line.
    pub(crate) title: String,
    /// The rest.
    pub(crate) text: String,
}

/// The page.
pub(crate) fn page(
    (file, source): (&str, &str),
    report: &Report,
    shown: &[Shown],
    messages: &[Message],
) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <title>{0}</title><style>{STYLE}</style></head><body>\n<header><h1>{0}</h1>\
         <p>For {1}: {2} instructions to choose from. Made by isaforge {3}.</p></header>\n<main>\n",
        escaped(file),
        escaped(&report.target),
        report.candidates,
        report.version
    );
    if !messages.is_empty() {
        out.push_str("<section class=\"warnings\"><h2>Warnings</h2>\n");
        for message in messages {
            let (title, text) = (escaped(&message.title), escaped(&message.text));
            let _ = writeln!(out, "<article><h3>{title}</h3><pre>{text}</pre></article>");
        }
        out.push_str("</section>\n");
    }
    for (k, (kernel, shown)) in report.kernels.iter().zip(shown).enumerate() {
        one(&mut out, k, source, kernel, shown);
    }
    let _ = writeln!(out, "</main>\n<script>{SCRIPT}</script>\n</body></html>");
    out
}

/// A kernel.
fn one(out: &mut String, k: usize, source: &str, kernel: &KernelReport, shown: &Shown) {
    let _ = writeln!(
        out,
        "<section class=\"kernel\"><h2>kernel {}</h2>",
        escaped(&kernel.name)
    );
    if let Some(run) = &kernel.run {
        let _ = writeln!(
            out,
            "<p class=\"run\">Run: {}.</p>",
            escaped(&run.reported())
        );
    }
    if let Some(schedule) = &kernel.schedule {
        let _ = writeln!(out, "<pre class=\"schedule\">{}</pre>", escaped(schedule));
    }
    let place = Place {
        k,
        windows: &kernel.windows,
    };
    out.push_str("<div class=\"columns\">\n");
    column(out, "Source", &place.source(source));
    let in_code = match &shown.code {
        Some(code) => {
            let windows = place.in_code(code);
            column(
                out,
                "C",
                &numbered(code.lines(), |at| windows.get(&at).copied()),
            );
            windows
        }
        None => BTreeMap::new(),
    };
    match &shown.assembly {
        Ok(all) => column(out, "Assembly", &listing(all, &in_code)),
        Err(why) => {
            let why = escaped(why);
            let _ = writeln!(
                out,
                "<div class=\"column\"><h3>Assembly</h3><p>None: {why}.</p></div>"
            );
        }
    }
    out.push_str("</div>\n");
    for (number, window) in kernel.windows.iter().enumerate() {
        card(out, &place, number, window);
    }
    out.push_str("</section>\n");
}

/// A line of a column: what stands before it, its text, the window that it is of.
struct Line {
    before: String,
    text: String,
    window: Option<usize>,
}

/// Which lines are of which window of a kernel.
struct Place<'a> {
    k: usize,
    windows: &'a [WindowReport],
}

impl Place<'_> {
    /// The lines of the source from the first of the kernel on, with its windows: a window begins at its
    /// statement, and those that were made of one statement share its lines.
    fn source(&self, source: &str) -> Vec<Line> {
        let mut of = BTreeMap::new();
        for (number, window) in self.windows.iter().enumerate() {
            for line in window.line..=window.last {
                of.entry(line).or_insert(number);
            }
        }
        numbered(source.lines(), |at| of.get(&at).copied())
    }

    /// The lines of the code with their windows: from the comment that names one to where its block ends
    /// or the next one begins.
    fn in_code(&self, code: &str) -> BTreeMap<usize, usize> {
        let names: BTreeMap<&str, usize> = { self.windows.iter().zip(0..) }
            .map(|(w, n)| (w.name.as_str(), n))
            .collect();
        let lines: Vec<(usize, &str)> = { code.lines() }
            .map(|line| (line.len() - line.trim_start().len(), line.trim_start()))
            .collect();
        let heading = |at: usize| {
            let (name, _) = lines[at].1.strip_prefix("// ")?.split_once(": line ")?;
            names.get(name).copied()
        };
        let mut found = BTreeMap::new();
        for at in 0..lines.len() {
            let Some(number) = heading(at) else { continue };
            let indent = lines[at].0;
            let ends = |k: &usize| {
                (lines[*k].0 < indent && !lines[*k].1.is_empty()) || heading(*k).is_some()
            };
            let mut end = (at + 1..lines.len()).find(ends).unwrap_or(lines.len());
            if end < lines.len() && lines[end].0 > indent {
                // The loop around the next window stands beside this one.
                let outer = (at + 1..end).rev().find(|&k| lines[k].0 == indent);
                end = outer.unwrap_or(end);
            }
            found.extend((at..end).map(|line| (line + 1, number)));
        }
        found
    }
}

fn numbered<'t>(
    lines: impl Iterator<Item = &'t str>,
    of: impl Fn(usize) -> Option<usize>,
) -> Vec<Line> {
    let line = |(at, text): (usize, &str)| Line {
        before: at.to_string(),
        text: text.to_owned(),
        window: of(at),
    };
    (1..).zip(lines).map(line).collect()
}

fn listing(all: &[Instruction], in_code: &BTreeMap<usize, usize>) -> Vec<Line> {
    let line = |i: &Instruction| Line {
        before: i.address.clone(),
        text: i.text.clone(),
        window: i.line.and_then(|line| in_code.get(&line).copied()),
    };
    all.iter().map(line).collect()
}

fn column(out: &mut String, title: &str, lines: &[Line]) {
    let _ = write!(
        out,
        "<div class=\"column\"><h3>{title}</h3><pre tabindex=\"0\" role=\"region\" aria-label=\"{title}\">"
    );
    for line in lines {
        let of = match line.window {
            Some(w) => format!(" class=\"of c{}\" data-of=\"{w}\"", w % COLOURS),
            None => String::new(),
        };
        let (before, text) = (escaped(&line.before), escaped(&line.text));
        let _ = write!(out, "<span{of}><i>{before}</i>{text}</span>");
    }
    out.push_str("</pre></div>\n");
}

/// A window: what it was, what came of it, at what cost.
fn card(out: &mut String, place: &Place<'_>, number: usize, window: &WindowReport) {
    let (k, colour) = (place.k, number % COLOURS);
    let _ = writeln!(
        out,
        "<article class=\"window c{colour}\" id=\"k{k}w{number}\" data-of=\"{number}\">\
         <h3>{} <small>line {}, {}</small></h3>",
        escaped(&window.name),
        window.line,
        escaped(&window.result)
    );
    for wrong in window.limit.iter().chain(&window.notes) {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", escaped(wrong));
    }
    let _ = writeln!(
        out,
        "<pre class=\"expression\">{}</pre>",
        escaped(&window.expression)
    );
    let cost = window
        .cost
        .map_or("not known".to_owned(), |cost| format!("{cost:.1} cycles"));
    let bound = window.spent.as_ref().map(|spent| spent.bound.as_str());
    let bound = bound.map_or(String::new(), |b| format!(", bound by {}", escaped(b)));
    let _ = writeln!(out, "<p class=\"cost\"><b>{cost}</b>{bound}</p>");
    match &window.spent {
        Some(spent) => split(out, spent),
        None => out.push_str("<p>Computed element by element by C.</p>\n"),
    }
    if let Some(proof) = &window.proof {
        let _ = writeln!(
            out,
            "<p>Proved equal to the expression: {}.</p>",
            escaped(proof)
        );
    }
    if !window.explanation.is_empty() {
        out.push_str("<details open><summary>What was considered</summary><ul>\n");
        for line in &window.explanation {
            let _ = writeln!(out, "<li>{}</li>", escaped(line));
        }
        out.push_str("</ul></details>\n");
    }
    out.push_str("</article>\n");
}

/// The instructions, and how they are loads, stores, arithmetic and moves.
fn split(out: &mut String, spent: &Spent) {
    out.push_str("<div class=\"scroll\"><table class=\"split\"><thead><tr>");
    for purpose in Purpose::ALL {
        let _ = write!(out, "<th scope=\"col\">{}</th>", purpose.name());
    }
    out.push_str("</tr></thead><tbody><tr>");
    for purpose in Purpose::ALL {
        let (count, cycles) = spent.share(purpose);
        let _ = match count {
            0 => write!(out, "<td>–</td>"),
            _ => write!(out, "<td>{count}, {cycles:.1} cycles</td>"),
        };
    }
    out.push_str("</tr></tbody></table></div>\n");
    if spent.parts.is_empty() {
        return;
    }
    out.push_str(
        "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">Instruction</th><th scope=\"col\">For</th>\
         <th scope=\"col\">Latency</th><th scope=\"col\">Between starts</th><th scope=\"col\">Port</th></tr></thead><tbody>",
    );
    for part in &spent.parts {
        let _ = write!(
            out,
            "<tr><th scope=\"row\"><code>{}</code></th><td>{}</td><td>{:.1}</td><td>{:.1}</td><td>{}</td></tr>",
            escaped(&part.instruction),
            part.purpose.name(),
            part.latency,
            part.throughput,
            escaped(part.resource.as_deref().unwrap_or("not known"))
        );
    }
    out.push_str("</tbody></table></div>\n");
}

/// A text as HTML has it. Control characters are none that a page may have.
fn escaped(text: &str) -> String {
    let plain: String = { text.chars() }
        .map(|c| {
            if c.is_control() && c != '\n' && c != '\t' {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect();
    plain
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
