//! Directives: what a schedule is made of, and how each is written.
//!
//! In: the words of a directive, or a text. Out: a [`Directive`], whose `Display` is the text
//! that is read as the same directive again, or a sentence that says what was expected. That
//! the names exist is looked at when the directive is applied.

use kernel::ast::DirectiveText;
use kernel::types::MAX_LANES;
use semantics::diagnostic::suggest;
use semantics::span::Span;
use std::fmt;
use std::str::FromStr;

/// What can be written, for hints: one form for each number of words that a directive has.
const FORMS: [&str; 27] = [
    "vectorize x by 64",
    "vectorize x by 64 tail mask",
    "split x by 64 into b",
    "tile y, x by 4, 4 into yo, xo",
    "interchange y, x",
    "unroll x",
    "unroll x by 4",
    "jam y by 4",
    "fission x after c",
    "fission x after c into a, b",
    "fuse x, z",
    "partition x at 8",
    "partition x at 8 into a, b",
    "reorder_stmts a, b",
    "remove_loop x",
    "compute row at y",
    "compute row",
    "stage c over x",
    "stage_mem c over x as t",
    "expand_dim t by x",
    "lift_alloc t",
    "lift_alloc t over x",
    "set_memory t in m",
    "unroll_buffer t",
    "unroll_buffer t at 1",
    "increment x",
    "branch_free x",
];

/// The words between what a directive names.
const BETWEEN: [&str; 8] = ["by", "into", "after", "at", "over", "as", "in", "tail"];

/// A change of a kernel's loops, statements or buffers. Names are those of loops, but where
/// they are said to be of arrays; counts are at least 2.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Directive {
    /// Lanes instead of iterations.
    Vectorize {
        /// The loop.
        axis: String,
        /// How many.
        lanes: u32,
        /// What becomes of the iterations that do not fill a vector.
        tail: Tail,
    },
    /// Blocks of iterations: a loop `into` around the loop.
    Split {
        /// The loop.
        axis: String,
        /// Iterations of a block.
        by: i64,
        /// The new loop.
        into: String,
    },
    /// Blocks of directly nested loops; all three have one entry for each loop.
    Tile {
        /// The loops, the outermost first.
        axes: Vec<String>,
        /// Iterations of a block.
        by: Vec<i64>,
        /// The new loops.
        into: Vec<String>,
    },
    /// An element of an array kept in a register while a loop runs.
    Stage {
        /// The array.
        array: String,
        /// The loop.
        over: String,
    },
    /// A function's values in an array, computed before they are asked for.
    Compute {
        /// The function.
        function: String,
        /// The loop in each iteration of which they are computed; without, once before all loops.
        at: Option<String>,
    },
    /// Iterations written out: so many at a time, or all.
    Unroll {
        /// The loop.
        axis: String,
        /// How many.
        by: Option<i64>,
    },
    /// Iterations side by side, inner loops joined.
    Jam {
        /// The loop.
        axis: String,
        /// How many.
        by: i64,
    },
    /// The inner of two directly nested loops outside.
    Interchange {
        /// The loop that is outside before.
        outer: String,
        /// The loop that is inside before.
        inner: String,
    },
    /// A loop as two, one after the other.
    Fission {
        /// The loop.
        axis: String,
        /// What the last statement of the first loop writes, or its loop.
        after: String,
        /// Names of the two; without, both keep that of the loop.
        into: Option<(String, String)>,
    },
    /// Two neighbouring loops as one.
    Fuse {
        /// The first.
        first: String,
        /// The second.
        second: String,
    },
    /// The range of a loop in two.
    Partition {
        /// The loop.
        axis: String,
        /// Where the second range begins: the words of an index.
        at: Vec<String>,
        /// Names of the two.
        into: Option<(String, String)>,
    },
    /// Two neighbouring statements the other way round, by what they write or their loop.
    ReorderStatements {
        /// The first.
        first: String,
        /// The second.
        second: String,
    },
    /// One iteration in place of all, which do the same.
    RemoveLoop {
        /// The loop.
        axis: String,
    },
    /// What a loop touches of an array in a new one.
    StageMemory {
        /// The array.
        array: String,
        /// The loop.
        over: String,
        /// The new array.
        new: String,
    },
    /// A buffer for each iteration of a loop.
    ExpandDimension {
        /// The buffer.
        buffer: String,
        /// The loop.
        by: String,
    },
    /// A buffer made outside of a loop, or of the innermost one around it.
    LiftAllocation {
        /// The buffer.
        buffer: String,
        /// The loop.
        over: Option<String>,
    },
    /// A buffer in another memory.
    SetMemory {
        /// The buffer.
        buffer: String,
        /// The memory.
        memory: String,
    },
    /// A buffer for each index of a dimension.
    UnrollBuffer {
        /// The buffer.
        buffer: String,
        /// The dimension, the outermost is 0.
        dimension: usize,
    },
    /// Addresses moved on in each iteration, instead of computed anew.
    Increment {
        /// The loop.
        axis: String,
    },
    /// Arithmetic in place of conditions.
    BranchFree {
        /// The loop.
        axis: String,
    },
}

/// What becomes of the iterations that do not fill a vector.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Tail {
    /// They stay as they are.
    Scalar,
    /// A vector of which only the leading lanes are loaded and stored.
    Mask,
    /// A whole vector more, into what rows are padded with.
    Round,
    /// A whole vector more, which ends where the loop does.
    Shift,
}

impl Tail {
    const ALL: [(Tail, &str); 4] = [
        (Tail::Scalar, "scalar"),
        (Tail::Mask, "mask"),
        (Tail::Round, "round"),
        (Tail::Shift, "shift"),
    ];

    /// The word behind `tail`.
    pub fn word(self) -> &'static str {
        let of = Tail::ALL.iter().find(|(tail, _)| *tail == self);
        of.expect("all are listed").1
    }
}

/// A directive, and where it was written.
#[derive(Clone, Debug)]
pub struct Located {
    /// The directive.
    pub directive: Directive,
    /// Its place in the kernel's source.
    pub span: Span,
}

/// The directive of a line of a kernel's schedule.
///
/// # Errors
/// A sentence: what was expected.
pub(crate) fn read(text: &DirectiveText) -> Result<Directive, String> {
    let words: Vec<&str> = text.words.iter().map(|w| w.name.as_str()).collect();
    Directive::from_words(&words)
}

/// What directives are called in other languages of schedules, with ours.
const ELSEWHERE: [(&str, &str); 16] = [
    ("reorder", "interchange y, x"),
    ("swap", "interchange y, x"),
    ("permute", "interchange y, x"),
    ("merge", "fuse x, z"),
    ("block", "tile y, x by 4, 4 into yo, xo"),
    ("strip_mine", "split x by 64 into b"),
    ("divide_loop", "split x by 64 into b"),
    ("cut_loop", "partition x at 8"),
    ("peel", "partition x at 8"),
    ("simd", "vectorize x by 64"),
    ("distribute", "fission x after c"),
    ("unroll_and_jam", "jam y by 4"),
    ("cache", "stage_mem c over x as t"),
    ("compute_at", "compute row at y"),
    ("compute_root", "compute row"),
    ("store_at", "compute row at y"),
];

/// A hint for words that are no directive: the misspelt one, how such directives are written, or
/// all directives.
pub(crate) fn hint(text: &DirectiveText) -> String {
    let words: Vec<&str> = text.words.iter().map(|w| w.name.as_str()).collect();
    let first = words.first().copied().unwrap_or_default();
    let keyword = |form: &&'static str| form.split(' ').next();
    let meant = |near: &str| format!("did you mean `{near}`?");
    let other = ELSEWHERE.iter().find(|(word, _)| *word == first);
    if let Some((_, form)) = other {
        return meant(form);
    }
    match suggest(first, FORMS.iter().filter_map(keyword)) {
        None => format!("directives are {}", quoted(&FORMS).join(", ")),
        Some(near) if near != first => meant(near),
        Some(_) => {
            let mut forms = FORMS.to_vec();
            forms.retain(|form| keyword(form) == Some(first));
            let near = forms.iter().find_map(|form| misspelt(&words, form));
            let write = || format!("write {}", quoted(&forms).join(" or "));
            near.or_else(|| misspelt_tail(&words))
                .map_or_else(write, meant)
        }
    }
}

fn quoted(forms: &[&str]) -> Vec<String> {
    forms.iter().map(|form| format!("`{form}`")).collect()
}

fn misspelt_tail(words: &[&str]) -> Option<&'static str> {
    let at = words.iter().position(|w| *w == "tail")?;
    let word = words.get(at + 1)?;
    suggest(word, Tail::ALL.map(|(_, word)| word)).filter(|near| near != word)
}

/// The word of a form that is not among the words, where one of those is near to it.
fn misspelt(words: &[&str], form: &'static str) -> Option<&'static str> {
    let mut fixed = form.split(' ').skip(1).filter(|w| BETWEEN.contains(w));
    let long = |word: &&&str| word.len() > 1 && !BETWEEN.contains(word);
    fixed.find(|of| {
        let mut others = words.iter().skip(1).filter(long);
        !words.contains(of) && others.any(|word| suggest(word, [*of]).is_some())
    })
}

impl FromStr for Directive {
    type Err = String;

    /// The directive that a text is, words as in a kernel.
    fn from_str(text: &str) -> Result<Directive, String> {
        let spaced = [",", "+", "-", "*", "/"]
            .iter()
            .fold(text.to_owned(), |t, mark| {
                t.replace(mark, &format!(" {mark} "))
            });
        let words: Vec<&str> = spaced.split_whitespace().collect();
        Directive::from_words(&words)
    }
}

impl Directive {
    fn from_words(words: &[&str]) -> Result<Directive, String> {
        let by = words.iter().position(|w| *w == "by").unwrap_or(words.len());
        let numbers = words[by..]
            .iter()
            .take_while(|w| !matches!(**w, "into" | "tail"));
        if let Some(at) = numbers.clone().position(|w| *w == "-") {
            let number = words.get(by + at + 1).copied().unwrap_or_default();
            return Err(format!(
                "loops go up: `by -{number}` is no number of iterations"
            ));
        }
        if let Some(d) = of_loops(words)? {
            return Ok(d);
        }
        let of = |name: &str| name.to_owned();
        Ok(match *words {
            ["tile", ref rest @ ..] => tile(rest)?,
            ["fission", x, "after", at, ref into @ ..] => Directive::Fission {
                axis: of(x),
                after: of(at),
                into: into_two(into)?,
            },
            ["partition", x, "at", ref rest @ ..] => {
                let end = rest.iter().position(|w| *w == "into").unwrap_or(rest.len());
                Directive::Partition {
                    axis: of(x),
                    at: rest[..end].iter().map(|w| of(w)).collect(),
                    into: into_two(&rest[end..])?,
                }
            }
            ["stage_mem", array, "over", x, "as", new] => Directive::StageMemory {
                array: of(array),
                over: of(x),
                new: of(new),
            },
            ["expand_dim", buffer, "by", x] => Directive::ExpandDimension {
                buffer: of(buffer),
                by: of(x),
            },
            ["lift_alloc", buffer] => Directive::LiftAllocation {
                buffer: of(buffer),
                over: None,
            },
            ["lift_alloc", buffer, "over", x] => Directive::LiftAllocation {
                buffer: of(buffer),
                over: Some(of(x)),
            },
            ["set_memory", buffer, "in", memory] => Directive::SetMemory {
                buffer: of(buffer),
                memory: of(memory),
            },
            ["unroll_buffer", buffer] => Directive::UnrollBuffer {
                buffer: of(buffer),
                dimension: 0,
            },
            ["unroll_buffer", buffer, "at", dim] => Directive::UnrollBuffer {
                buffer: of(buffer),
                dimension: dim
                    .parse()
                    .map_err(|_| format!("expected a dimension, found `{dim}`"))?,
            },
            _ => return Err("this directive is not understood".to_owned()),
        })
    }

    /// The names of the loops or statements that it changes, for a message that they are not
    /// there; none for those of buffers.
    pub(crate) fn changes(&self) -> Vec<&str> {
        match self {
            Directive::Vectorize { axis, .. }
            | Directive::Split { axis, .. }
            | Directive::Unroll { axis, .. }
            | Directive::Jam { axis, .. }
            | Directive::Fission { axis, .. }
            | Directive::Partition { axis, .. }
            | Directive::RemoveLoop { axis }
            | Directive::Increment { axis }
            | Directive::BranchFree { axis }
            | Directive::Stage { over: axis, .. }
            | Directive::Compute { at: Some(axis), .. }
            | Directive::StageMemory { over: axis, .. } => vec![axis],
            Directive::Tile { axes, .. } => axes.iter().map(String::as_str).collect(),
            Directive::Interchange {
                outer: first,
                inner: second,
            }
            | Directive::Fuse { first, second }
            | Directive::ReorderStatements { first, second } => vec![first, second],
            Directive::Compute { at: None, .. }
            | Directive::ExpandDimension { .. }
            | Directive::LiftAllocation { .. }
            | Directive::SetMemory { .. }
            | Directive::UnrollBuffer { .. } => Vec::new(),
        }
    }

    /// Whether it makes a loop of a name.
    pub(crate) fn makes(&self, name: &str) -> bool {
        match self {
            Directive::Split { into, .. } => into == name,
            Directive::Tile { into, .. } => into.iter().any(|n| n == name),
            Directive::Fission { into, .. } | Directive::Partition { into, .. } => {
                let named = |(a, b): &(String, String)| a == name || b == name;
                into.as_ref().is_some_and(named)
            }
            // Its loops are those of the function's parameters.
            Directive::Compute { function, .. } => {
                let parameter = name.strip_prefix(function.as_str());
                parameter.is_some_and(|rest| rest.len() > 1 && rest.starts_with('_'))
            }
            _ => false,
        }
    }
}

/// Directives of one or two loops and at most one number.
fn of_loops(words: &[&str]) -> Result<Option<Directive>, String> {
    let of = |name: &str| name.to_owned();
    Ok(Some(match *words {
        ["vectorize", x, "by", n, ref tail @ ..] => {
            let tail = match *tail {
                [] => Some(Tail::Scalar),
                ["tail", word] => Tail::ALL.iter().find(|t| t.1 == word).map(|t| t.0),
                _ => None,
            };
            let wrong = "a tail is `tail scalar`, `tail mask`, `tail round` or `tail shift`";
            let tail = tail.ok_or_else(|| wrong.to_owned())?;
            let lanes = number(n, i64::from(MAX_LANES))?;
            Directive::Vectorize {
                axis: of(x),
                lanes: u32::try_from(lanes).map_err(|e| e.to_string())?,
                tail,
            }
        }
        ["unroll", x] => Directive::Unroll {
            axis: of(x),
            by: None,
        },
        ["unroll", x, "by", n] => Directive::Unroll {
            axis: of(x),
            by: Some(number(n, 64)?),
        },
        ["jam", x, "by", n] => Directive::Jam {
            axis: of(x),
            by: number(n, 64)?,
        },
        ["split", x, "by", n, "into", outer] => Directive::Split {
            axis: of(x),
            by: number(n, 1 << 20)?,
            into: of(outer),
        },
        ["compute", function] => Directive::Compute {
            function: of(function),
            at: None,
        },
        ["compute", function, "at", x] => Directive::Compute {
            function: of(function),
            at: Some(of(x)),
        },
        ["stage", array, "over", x] => Directive::Stage {
            array: of(array),
            over: of(x),
        },
        ["interchange", y, ",", x] => Directive::Interchange {
            outer: of(y),
            inner: of(x),
        },
        ["fuse", x, ",", z] => Directive::Fuse {
            first: of(x),
            second: of(z),
        },
        ["reorder_stmts", a, ",", b] => Directive::ReorderStatements {
            first: of(a),
            second: of(b),
        },
        ["remove_loop", x] => Directive::RemoveLoop { axis: of(x) },
        ["increment", x] => Directive::Increment { axis: of(x) },
        ["branch_free", x] => Directive::BranchFree { axis: of(x) },
        _ => return Ok(None),
    }))
}

/// The names between commas.
fn list(words: &[&str]) -> Option<Vec<String>> {
    let names = words.iter().step_by(2);
    let commas = words.iter().skip(1).step_by(2);
    let right = words.len() % 2 == 1 && commas.into_iter().all(|w| *w == ",");
    let names: Vec<String> = names.map(|w| (*w).to_owned()).collect();
    (right && names.iter().all(|n| n != ",")).then_some(names)
}

fn number(text: &str, most: i64) -> Result<i64, String> {
    between(text, 2, most)
}

/// The same; a tile may be of one iteration, as `RLEN / 128` of some machine is.
fn between(text: &str, least: i64, most: i64) -> Result<i64, String> {
    let value = text.parse::<i64>().ok();
    let value = value.filter(|n| (least..=most).contains(n));
    value.ok_or_else(|| {
        let name = text.starts_with(|c: char| c.is_ascii_uppercase());
        let which = match name {
            true => ", which is no parameter of a machine that is known here",
            false => "",
        };
        format!("expected a number from {least} to {most}, found `{text}`{which}")
    })
}

/// `into a, b`, or nothing.
fn into_two(words: &[&str]) -> Result<Option<(String, String)>, String> {
    match *words {
        [] => Ok(None),
        ["into", a, ",", b] => Ok(Some((a.to_owned(), b.to_owned()))),
        _ => Err("expected `into` and the names of two loops".to_owned()),
    }
}

fn tile(words: &[&str]) -> Result<Directive, String> {
    let wrong = || {
        "expected loops, as many numbers and as many new names: `tile y, x by 4, 4 into yo, xo`"
            .to_owned()
    };
    let at = |word: &str| words.iter().position(|w| *w == word).ok_or_else(wrong);
    let (by, into) = (at("by")?, at("into")?);
    if by > into {
        return Err(wrong());
    }
    let axes = list(&words[..by]).ok_or_else(wrong)?;
    let counts = list(&words[by + 1..into]).ok_or_else(wrong)?;
    let into = list(&words[into + 1..]).ok_or_else(wrong)?;
    if counts.len() != axes.len() || into.len() != axes.len() {
        return Err(wrong());
    }
    let by = counts.iter().map(|c| between(c, 1, 1 << 20));
    let by = by.collect::<Result<_, _>>()?;
    Ok(Directive::Tile { axes, by, into })
}

impl fmt::Display for Directive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let two = |into: &Option<(String, String)>| match into {
            Some((a, b)) => format!(" into {a}, {b}"),
            None => String::new(),
        };
        match self {
            Directive::Vectorize { axis, lanes, tail } => {
                write!(f, "vectorize {axis} by {lanes}")?;
                match tail {
                    Tail::Scalar => Ok(()),
                    tail => write!(f, " tail {}", tail.word()),
                }
            }
            Directive::Split { axis, by, into } => write!(f, "split {axis} by {by} into {into}"),
            Directive::Tile { axes, by, into } => {
                let by: Vec<String> = by.iter().map(i64::to_string).collect();
                let (axes, by, into) = (axes.join(", "), by.join(", "), into.join(", "));
                write!(f, "tile {axes} by {by} into {into}")
            }
            Directive::Compute { function, at: None } => write!(f, "compute {function}"),
            Directive::Compute {
                function,
                at: Some(at),
            } => write!(f, "compute {function} at {at}"),
            Directive::Stage { array, over } => write!(f, "stage {array} over {over}"),
            Directive::Unroll { axis, by: None } => write!(f, "unroll {axis}"),
            Directive::Unroll { axis, by: Some(by) } => write!(f, "unroll {axis} by {by}"),
            Directive::Jam { axis, by } => write!(f, "jam {axis} by {by}"),
            Directive::Interchange { outer, inner } => write!(f, "interchange {outer}, {inner}"),
            Directive::Fission { axis, after, into } => {
                write!(f, "fission {axis} after {after}{}", two(into))
            }
            Directive::Fuse { first, second } => write!(f, "fuse {first}, {second}"),
            Directive::Partition { axis, at, into } => {
                write!(f, "partition {axis} at {}{}", at.join(" "), two(into))
            }
            Directive::ReorderStatements { first, second } => {
                write!(f, "reorder_stmts {first}, {second}")
            }
            Directive::RemoveLoop { axis } => write!(f, "remove_loop {axis}"),
            Directive::StageMemory { array, over, new } => {
                write!(f, "stage_mem {array} over {over} as {new}")
            }
            Directive::ExpandDimension { buffer, by } => write!(f, "expand_dim {buffer} by {by}"),
            Directive::LiftAllocation { buffer, over: None } => write!(f, "lift_alloc {buffer}"),
            Directive::LiftAllocation {
                buffer,
                over: Some(over),
            } => write!(f, "lift_alloc {buffer} over {over}"),
            Directive::SetMemory { buffer, memory } => {
                write!(f, "set_memory {buffer} in {memory}")
            }
            Directive::UnrollBuffer {
                buffer,
                dimension: 0,
            } => write!(f, "unroll_buffer {buffer}"),
            Directive::UnrollBuffer { buffer, dimension } => {
                write!(f, "unroll_buffer {buffer} at {dimension}")
            }
            Directive::Increment { axis } => write!(f, "increment {axis}"),
            Directive::BranchFree { axis } => write!(f, "branch_free {axis}"),
        }
    }
}

#[cfg(test)]
mod tests;
