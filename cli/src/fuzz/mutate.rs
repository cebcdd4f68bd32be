//! Changes of texts that mostly keep their words.
//!
//! In: a text as tokens, another one of the same kind. Out: the first, changed once. It knows no
//! grammar: brackets, signs, numbers and names are what all of them have.

use semantics::random::Random;
use std::rc::Rc;

/// A word, a number, a mark or a run of blanks, shared by all copies of it.
pub(super) type Token = Rc<str>;

/// What stands in for a token: edges of numbers, names that mean something somewhere, marks.
const WORDS: &[&str] = &[
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "7",
    "8",
    "15",
    "16",
    "31",
    "32",
    "63",
    "64",
    "127",
    "128",
    "255",
    "256",
    "4096",
    "65535",
    "65536",
    "1000000000",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "99999999999999999999999999",
    "0x",
    "0xffffffffffffffff",
    "1e9",
    "1e999",
    "0.5",
    "nan",
    "-inf",
    "_",
    "op_add",
    "int",
    "true",
    "false",
    "null",
    "~",
    "*",
    "&",
    "&a",
    "*a",
    "<<: *a",
    "!!binary",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    "|",
    "\"",
    "'",
    "\\",
    "/",
    "//",
    "#",
    ";",
    ":",
    ": ",
    ",",
    ".",
    "..",
    "..+",
    "=",
    "==",
    "+=",
    "+",
    "-",
    "!",
    "!=",
    "%",
    "^",
    "&&",
    "||",
    "?",
    "@",
    "$",
    "\n",
    "\n\n",
    "\n- ",
    "\n  ",
    "\t",
    "\r\n",
    " ",
    "  ",
    "\0",
    "\u{feff}",
    "é",
    "\u{202e}",
    "min(",
    "max(",
    "select(",
    "ramp(",
    "x8(",
    "int16x8(",
    "likely(",
    "let t = ",
    " in ",
    " if ",
    "for ",
    "in ",
    "step ",
    "var ",
    "requires ",
    "schedule { unroll x; }",
    "clamped",
    "pad 16",
];

/// The tokens of a text: words, numbers, single marks, runs of blanks.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 1,
        ' ' => 2,
        _ => 0,
    };
    let mut starts = Vec::new();
    let mut last = 0;
    for (at, c) in text.char_indices() {
        if kind(c) == 0 || kind(c) != last {
            starts.push(at);
        }
        last = kind(c);
    }
    starts.push(text.len());
    starts.windows(2).map(|w| text[w[0]..w[1]].into()).collect()
}

/// One change that adds about so many bytes at most.
pub(super) fn change(tokens: &mut Vec<Token>, other: &[Token], most: usize, random: &mut Random) {
    if tokens.is_empty() || other.is_empty() {
        tokens.push((*random.pick(WORDS)).into());
        return;
    }
    let at = random.index(tokens.len());
    let end = (at + 1 + random.index(12)).min(tokens.len());
    match random.index(14) {
        0..3 => exchange(tokens, random),
        3 => tokens[at] = (*random.pick(WORDS)).into(),
        4 => tokens.insert(at, (*random.pick(WORDS)).into()),
        5 => drop(tokens.drain(at..end)),
        6 => {
            let copy = tokens[at..end].to_vec();
            let to = random.index(tokens.len() + 1);
            tokens.splice(to..to, copy);
        }
        7 => {
            let to = random.index(tokens.len());
            tokens.swap(at, to);
        }
        8 => {
            let from = random.index(other.len());
            let piece = &other[from..(from + 1 + random.index(40)).min(other.len())];
            tokens.splice(at..at, piece.iter().cloned());
        }
        9 => lines(tokens, other, most, random),
        10 => repeat(tokens, at..end, most, random),
        11 => nest(tokens, at, most, random),
        12 => tokens.truncate(at.max(1)),
        _ => {
            // A letter becomes another one, or a byte that is none.
            let token: String = tokens[at].chars().skip(1).collect();
            let letter = char::from_u32(random.index(0x180) as u32).unwrap_or(' ');
            tokens[at] = format!("{letter}{token}").into();
        }
    }
}

/// A number becomes another number, a name another name of the same text.
fn exchange(tokens: &mut [Token], random: &mut Random) {
    let number = |t: &Token| t.starts_with(|c: char| c.is_ascii_digit());
    let name = |t: &Token| t.starts_with(|c: char| c.is_ascii_alphabetic());
    let of = |tokens: &[Token], such: &dyn Fn(&Token) -> bool| -> Vec<usize> {
        (0..tokens.len()).filter(|&n| such(&tokens[n])).collect()
    };
    let numbers = random.index(2) == 0;
    let places = match numbers {
        true => of(tokens, &number),
        false => of(tokens, &name),
    };
    if places.is_empty() {
        return;
    }
    let place = *random.pick(&places);
    tokens[place] = match numbers {
        true => (*random.pick(&WORDS[..35])).into(),
        false => tokens[*random.pick(&places)].clone(),
    };
}

/// Lines dropped, moved, repeated or taken from elsewhere.
fn lines(tokens: &mut Vec<Token>, other: &[Token], most: usize, random: &mut Random) {
    let split = |tokens: &[Token]| -> Vec<Vec<Token>> {
        let parts = tokens.split_inclusive(|t| &**t == "\n");
        parts.map(<[Token]>::to_vec).collect()
    };
    let mut all = split(tokens);
    let (at, to) = (random.index(all.len()), random.index(all.len()));
    match random.index(4) {
        0 => drop(all.remove(at)),
        1 => all.swap(at, to),
        2 => {
            let line = all[at].clone();
            let length: usize = line.iter().map(|t| t.len()).sum();
            let times = (1 + random.index(40)).min((most / length.max(1)).max(1));
            all.splice(to..to, std::iter::repeat_n(line, times));
        }
        _ => {
            let lines = split(other);
            all.insert(to, random.pick(&lines).clone());
        }
    }
    *tokens = all.concat();
}

/// The same tokens many times over.
fn repeat(
    tokens: &mut Vec<Token>,
    range: std::ops::Range<usize>,
    most: usize,
    random: &mut Random,
) {
    let copy = tokens[range.clone()].to_vec();
    let length: usize = copy.iter().map(|t| t.len()).sum();
    let times = [3, 40, 1000, 30_000][random.index(4)].min(most / length.max(1));
    let many = std::iter::repeat_n(copy, times).flatten();
    tokens.splice(range.end..range.end, many);
}

/// A token within many brackets, behind many signs, or with many operands.
fn nest(tokens: &mut [Token], at: usize, most: usize, random: &mut Random) {
    const AROUND: &[(&str, &str)] = &[
        ("(", ")"),
        ("[", "]"),
        ("{", "}"),
        ("-", ""),
        ("!", ""),
        ("~", ""),
        ("- ", ""),
        ("", " + 1"),
        ("", " * 2"),
        ("", "[0]"),
        ("a[0] if ", ""),
        ("min(1, ", ")"),
        ("let t = 1 in ", ""),
        ("{a: ", "}"),
        ("(\")\" + ", ")"),
    ];
    let (open, close) = *random.pick(AROUND);
    let most = most / (open.len() + close.len());
    let times = [2, 40, 150, 2_000, 20_000][random.index(5)].min(most);
    let nested = [&open.repeat(times), &*tokens[at], &close.repeat(times)].concat();
    tokens[at] = nested.into();
}
