//! What of a text is code: what is left when comments and quoted text are taken out.
//!
//! In: a file that was written, by the ending of its name. Out: what a stranger's text did there
//! that it must not: it stands outside of comments and quotes, or one of them has no end. It knows no
//! more of a language than that.

use std::path::Path;

/// The word that must stay where text is.
pub(super) const WORD: &str = "HARM";

/// Where comments and quoted texts begin and end in a language; a backslash takes the meaning of what follows
/// in those that say so.
struct Syntax {
    line: &'static [&'static str],
    quoted: &'static [(&'static str, &'static str, bool)],
    /// Lines that end with a backslash go on in the next.
    spliced: bool,
}

const C: Syntax = Syntax {
    line: &["//"],
    quoted: &[("/*", "*/", false), ("\"", "\"", true), ("'", "'", true)],
    spliced: true,
};
const TABLEGEN: Syntax = Syntax {
    line: &["//"],
    quoted: &[("/*", "*/", false), ("[{", "}]", false), ("\"", "\"", true)],
    spliced: false,
};
const MLIR: Syntax = Syntax {
    line: &["//"],
    quoted: &[("\"", "\"", true)],
    spliced: false,
};
const LLVM: Syntax = Syntax {
    line: &[";"],
    quoted: &[("\"", "\"", false)],
    spliced: false,
};
const PYTHON: Syntax = Syntax {
    line: &["#"],
    quoted: &[
        ("\"\"\"", "\"\"\"", true),
        ("'''", "'''", true),
        ("\"", "\"", true),
        ("'", "'", true),
    ],
    spliced: false,
};
const JAVASCRIPT: Syntax = Syntax {
    line: &["//"],
    quoted: &[
        ("/*", "*/", false),
        ("\"", "\"", true),
        ("'", "'", true),
        ("`", "`", true),
    ],
    spliced: false,
};
const ASSEMBLY: Syntax = Syntax {
    line: &["#", "//"],
    quoted: &[("/*", "*/", false), ("\"", "\"", true)],
    spliced: false,
};
const SMT_LIB: Syntax = Syntax {
    line: &[";"],
    quoted: &[("|", "|", false), ("\"", "\"", false)],
    spliced: false,
};

/// What is left of a text, or which opening has no end.
fn code(text: &str, syntax: &Syntax) -> Result<String, String> {
    let text = match syntax.spliced {
        true => text.replace("\\\r\n", "").replace("\\\n", ""),
        false => text.to_owned(),
    };
    let (mut rest, mut out) = (text.as_str(), String::new());
    while let Some(next) = rest.chars().next() {
        if syntax.line.iter().any(|mark| rest.starts_with(mark)) {
            rest = rest.find(['\n', '\r']).map_or("", |end| &rest[end..]);
            continue;
        }
        let opened = syntax
            .quoted
            .iter()
            .find(|(open, ..)| rest.starts_with(open));
        let Some(&(open, close, escaped)) = opened else {
            out.push(next);
            rest = &rest[next.len_utf8()..];
            continue;
        };
        let end = end(&rest[open.len()..], close, escaped);
        let end = end.ok_or_else(|| format!("`{open}` without an end"))?;
        let inside = &rest[open.len()..open.len() + end];
        if open.len() == 1 && inside.contains('\n') && !["|", "`"].contains(&open) {
            return Err(format!("a line feed between `{open}`: {inside}"));
        }
        rest = &rest[open.len() + end + close.len()..];
    }
    Ok(out)
}

/// Where a quoted text ends.
fn end(text: &str, close: &str, escaped: bool) -> Option<usize> {
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let first = rest.chars().next()?;
        match first {
            '\\' if escaped => at += 1 + rest[1..].chars().next()?.len_utf8(),
            _ if rest.starts_with(close) => return Some(at),
            _ => at += first.len_utf8(),
        }
    }
    None
}

/// What a stranger's text did in a file, if anything.
pub(super) fn wrong(path: &Path, text: &str) -> Option<String> {
    let ending = path
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default();
    let syntax = match ending {
        "c" | "h" => &C,
        "td" => &TABLEGEN,
        "mlir" => &MLIR,
        "ll" => &LLVM,
        "py" => &PYTHON,
        "js" => &JAVASCRIPT,
        "s" => &ASSEMBLY,
        "smt2" => &SMT_LIB,
        "json" => {
            return serde_json::from_str::<serde_json::Value>(text)
                .err()
                .map(|e| e.to_string());
        }
        "csv" => return rows(text),
        "html" => return page(text),
        // Behind the programs the file has the kernels, as they were written.
        "autoir" => return lines(text.split("\n--- kernels").next().unwrap_or_default()),
        "md" if text.contains("<script") => return Some("a script".to_owned()),
        _ => return lines(text),
    };
    match code(text, syntax) {
        Ok(code) => code.contains(WORD).then(|| format!("code:\n{code}")),
        Err(told) => Some(told),
    }
}

/// Tables, listings and reports: the word begins no line.
fn lines(text: &str) -> Option<String> {
    let odd = |c: char| {
        c != '\n' && c != '\t' && (c.is_control() || "\u{2028}\u{2029}\u{202e}".contains(c))
    };
    let begun = text.lines().find(|l| l.trim_start().starts_with(WORD));
    let begun = begun.or_else(|| text.lines().find(|l| l.contains(odd)));
    begun.map(|line| format!("the line {line:?}"))
}

/// Comma-separated values: every row has as many as the first.
fn rows(text: &str) -> Option<String> {
    let mut rows: Vec<usize> = Vec::new();
    let (mut fields, mut quoted, mut begun) = (1, false, false);
    for c in text
        .lines()
        .filter(|l| !l.starts_with('#'))
        .flat_map(|l| l.chars().chain(['\n']))
    {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields += 1,
            '\n' if !quoted => {
                if begun {
                    rows.push(fields);
                }
                (fields, begun) = (1, false);
                continue;
            }
            _ => {}
        }
        begun = true;
    }
    let other = rows.iter().position(|&n| n != rows[0]);
    let told = other.map(|at| format!("row {at} has {} fields, not {}", rows[at], rows[0]));
    quoted.then(|| "a quote without an end".to_owned()).or(told)
}

/// A page: the word stands in its text, neither in a tag nor in a script that is not data.
fn page(text: &str) -> Option<String> {
    let mut rest = text;
    let mut scripts = 0;
    while let Some(at) = rest.find('<') {
        rest = &rest[at..];
        if let Some(body) = rest.strip_prefix("<!--") {
            rest = &body[body.find("-->")?..];
            continue;
        }
        let mut quote = None;
        let end = rest.char_indices().find(|&(_, c)| {
            match (quote, c) {
                (None, '"' | '\'') => quote = Some(c),
                (Some(q), _) if q == c => quote = None,
                _ => {}
            }
            quote.is_none() && c == '>'
        });
        let Some((end, _)) = end else {
            return Some("a tag without an end".to_owned());
        };
        let tag = &rest[..=end];
        match code(tag, &PYTHON) {
            Ok(tag) if !tag.contains(WORD) => {}
            _ => return Some(format!("the tag {tag}")),
        }
        rest = &rest[end + 1..];
        if tag.starts_with("<script") {
            scripts += 1;
            let body = &rest[..rest.find("</script").unwrap_or(rest.len())];
            rest = &rest[body.len()..];
            if body.contains(WORD) {
                return Some(format!("a script: {body}"));
            }
        }
    }
    (scripts > 1).then(|| format!("{scripts} scripts"))
}

#[test]
fn what_is_code_is_told_from_text() {
    let wrong = |name: &str, text: &str| wrong(Path::new(name), text).is_some();
    for (name, bad, good) in [
        ("a.c", "x(); HARM();", "x(\"HARM\\\"\"); /* HARM */ // HARM"),
        ("a.c", "/* x */ HARM */", "/* x * / HARM */"),
        ("a.h", "\"x\ny\"", "\"x\\ny\""),
        ("a.c", "// x\nHARM", "// x \\n HARM"),
        ("a.td", "[{ x }] HARM }]", "let x = [{ HARM ] } }];"),
        ("a.td", "\"x\"; HARM \"", "\"x\\\"; HARM \""),
        ("a.mlir", "// x\nHARM", "// HARM\n\"HARM\""),
        ("a.ll", "; x\nHARM", "; HARM\n@\"HARM\""),
        ("a.py", "\"\"\"x\"\"\" HARM", "\"\"\"x\n'HARM'\"\"\" # HARM"),
        ("a.js", "`x` + HARM", "`x\nHARM`"),
        ("a.s", "nop # x\nHARM", "nop # HARM"),
        ("a.smt2", "(|x| HARM |)", "(|HARM|)"),
        ("a.json", "{\"a\": \"x\n\"}", "{\"a\": \"HARM\"}"),
        ("a.csv", "a,b\nx,y,HARM\n", "a,b\n\"x,y\",HARM\n"),
        (
            "a.html",
            "<p title=\"\" HARM=\"\">",
            "<p title=\"HARM\">HARM &lt;</p>",
        ),
        (
            "a.html",
            "<script>1</script><script>HARM</script>",
            "<script>1</script>",
        ),
        ("a.md", "| x |\nHARM", "| x HARM |"),
    ] {
        assert!(wrong(name, bad), "{name}: {bad}");
        assert!(!wrong(name, good), "{name}: {good}");
    }
}
