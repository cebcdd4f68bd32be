//! What somebody meant who writes kernels as other languages are written.
//!
//! In: a text and the place where it is no kernel. Out: how what was meant is written here, where that
//! place shows it: a `?`, a `for (`, a cast. It decides nothing: the grammar has refused the text.

use semantics::span::Source;

/// How it is written here.
pub(crate) fn meant(text: &str, at: usize) -> Option<String> {
    let (before, rest) = (&text[..at], &text[at..]);
    let known = sign(before, rest).or_else(|| word(before, rest));
    known.map(str::to_owned).or_else(|| open(text, at))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The last word of a text, and what stands before it.
fn last_word(text: &str) -> (&str, &str) {
    let text = text.trim_end();
    let start = text.trim_end_matches(is_word).len();
    (&text[..start], &text[start..])
}

/// By the sign that stands there.
fn sign(before: &str, rest: &str) -> Option<&'static str> {
    let starts = |sign: &str| rest.starts_with(sign);
    let ends = |sign: &str| before.trim_end().ends_with(sign);
    let (ahead, name) = last_word(before);
    Some(match () {
        () if starts("?") => "a value is chosen by `select(c, a, b)`",
        () if starts("=") && ends("..") => "`0..n` ends before `n`; with `n` it is `0..n + 1`",
        () if starts("=") && last_word(ahead).1 == "var" => {
            "a variable has a type: `var s: i32 = 0;`"
        }
        () if starts("(") && name == "for" => "loops are written `for x in 0..n { … }`",
        () if starts("(") && ["if", "while", "switch"].contains(&name) => return control(name),
        () if starts("/*") || starts("#") => "a comment begins with `//` and ends with its line",
        () if starts("[") && ends("]") => "indices stand in one pair of brackets: `a[y, x]`",
        () if starts("++") || starts("--") => "this is written `x += 1` or `x = x - 1`",
        () if ["-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="]
            .iter()
            .any(|s| starts(s)) =>
        {
            "of these there is `+=` only: write `x = x - y`"
        }
        () if starts("*") && ends("*") => "a power is written `x * x`, of floats `pow(x, y)`",
        () if ends(")")
            && is_cast(before)
            && rest.starts_with(|c: char| is_word(c) || c == '(') =>
        {
            "a value gets another type by `i16(x)`, of which the low bits stay, or `i16_sat(x)`"
        }
        () => return None,
    })
}

/// Whether a text ends with a type in brackets.
fn is_cast(before: &str) -> bool {
    let inner = before.trim_end().trim_end_matches(')');
    let (ahead, name) = last_word(inner);
    let of_c = [
        "int", "float", "double", "char", "short", "long", "unsigned",
    ];
    let is_type = crate::types::Type::by_name(name).is_some() || of_c.contains(&name);
    is_type && ahead.trim_end().ends_with('(')
}

/// By the word that stands there, or before.
fn word(before: &str, rest: &str) -> Option<&'static str> {
    let here = &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())];
    let digits = here.trim_start_matches(|c: char| c.is_ascii_digit());
    if digits.len() < here.len() && ["u", "U", "l", "L", "ul", "UL", "f", "F"].contains(&digits) {
        return Some("numbers have no suffix: they take the type of the value beside them");
    }
    if ["void", "int", "static", "def", "func", "function"].contains(&here)
        && before.trim().is_empty()
    {
        return Some("a kernel is written `kernel f(n: size, a: in u8[n], o: out u8[n]) { … }`");
    }
    control(here).or_else(|| control(last_word(before).1))
}

/// What stands here for what decides elsewhere what is done.
fn control(word: &str) -> Option<&'static str> {
    Some(match word {
        "if" | "else" | "elif" | "switch" => {
            "there are no branches: a value is chosen by `select(c, a, b)`"
        }
        "while" | "do" | "loop" => "loops are counted: `for x in 0..n { … }`",
        "return" | "break" | "continue" => {
            "a kernel has no `return`: it writes its results to arrays that are `out`"
        }
        _ => return None,
    })
}

/// What is written here for a function that other languages have.
pub(crate) fn function(name: &str) -> Option<&'static str> {
    Some(match name {
        "round" | "roundf" | "rint" | "rintf" | "nearbyint" | "nearest" | "roundeven" => {
            "`round_even(x)` is the nearest whole number, of two the even one"
        }
        "fabs" | "fabsf" => "write `select(x < 0.0, -x, x)`",
        "ctpop" | "popcnt" | "bitcount" | "count_ones" | "__builtin_popcount" => {
            "`popcount(x)` counts the bits that are set"
        }
        "lzcnt" | "ctlz" | "nlz" | "leading_zeros" | "__builtin_clz" => {
            "`clz(x)` counts the zeros above the highest bit"
        }
        "lerp" | "mix" => "write it out: `a + (b - a) * t`",
        "rotl" | "rotr" | "rotate_left" | "rotate_right" => {
            "write it out, of a type without sign: `x << 3 | x >> 29`; it is found where a machine has it"
        }
        "where" | "cond" | "iif" | "blend" => "a value is chosen by `select(c, a, b)`",
        "saturate" | "saturating_cast" => {
            "a conversion that saturates is named by its type: `u8_sat(x)`"
        }
        "mod" => "write `x % y`",
        "mad" | "fmaf" => "write `fma(a, b, c)`, or `a * b + c`",
        _ => return None,
    })
}

/// Which brace is open where a text ends.
fn open(text: &str, at: usize) -> Option<String> {
    if !text[at..].trim().is_empty() {
        return None;
    }
    let mut open = Vec::new();
    let mut from = 0;
    for line in text.split_inclusive('\n') {
        let code = line.split("//").next().unwrap_or_default();
        for (n, c) in code.char_indices() {
            match c {
                '{' => open.push(from + n),
                '}' => drop(open.pop()),
                _ => {}
            }
        }
        from += line.len();
    }
    let place = Source::new("", text).line_column(*open.last()?);
    let lines = place.line;
    let which = text.lines().nth(lines - 1).unwrap_or_default().trim();
    let shown: String = which.chars().take(60).collect();
    Some(format!("a `}}` is missing: that of `{shown}`"))
}
