//! Names of a kernel as names of C.
//!
//! In: names as written in the kernel. Out: C identifiers, one for each, none of them a
//! keyword, a name that the emitted code uses itself, or another's.

use super::operation;
use std::collections::{BTreeMap, BTreeSet};

/// Names that a kernel may use and C, its headers or the emitted code use otherwise.
const TAKEN: &[&str] = &[
    "abs",
    "aligned_alloc",
    "alignas",
    "argc",
    "argv",
    "asm",
    "at_end",
    "auto",
    "bool",
    "break",
    "case",
    "char",
    "const",
    "constexpr",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "exit",
    "extern",
    "fail",
    "false",
    "fclose",
    "float",
    "fopen",
    "for",
    "fread",
    "free",
    "fwrite",
    "get",
    "get_array",
    "goto",
    "if",
    "inline",
    "int",
    "k",
    "l",
    "linux",
    "long",
    "main",
    "malloc",
    "memcmp",
    "memcpy",
    "memset",
    "mmap",
    "mprotect",
    "now",
    "nullptr",
    "printf",
    "put_array",
    "register",
    "restrict",
    "return",
    "rewind",
    "short",
    "signal",
    "signed",
    "sizeof",
    "static",
    "stderr",
    "stdout",
    "strtol",
    "struct",
    "switch",
    "sysconf",
    "touched",
    "true",
    "typedef",
    "typeof",
    "union",
    "unix",
    "unsigned",
    "void",
    "volatile",
    "while",
    "write",
];

/// The identifiers given out so far.
#[derive(Debug, Default)]
pub(super) struct Names {
    used: BTreeSet<String>,
    /// The last number that was appended to a name: those before it are not free.
    last: BTreeMap<String, u32>,
}

impl Names {
    /// An identifier for a kernel's name: the name itself, or with the lowest number
    /// appended that makes it free.
    pub(super) fn fresh(&mut self, name: &str) -> String {
        let free = |text: &String| {
            !TAKEN.contains(&text.as_str()) && !self.used.contains(text) && !reserved(text)
        };
        let plain = Some(name.to_owned()).filter(free);
        let found = plain.unwrap_or_else(|| {
            let base = name.trim_start_matches('_');
            let last = self.last.entry(base.to_owned()).or_default();
            let numbered = (*last + 1..).map(|n| (n, format!("{base}_{n}")));
            let mut numbered = numbered.filter(|(_, text)| free(text));
            let (number, found) = numbered.next().expect("some number is free");
            *last = number;
            found
        });
        self.used.insert(found.clone());
        found
    }
}

/// Whether C, its headers or the emitted functions may use the name.
fn reserved(name: &str) -> bool {
    name.starts_with('_') || name.starts_with(operation::PREFIX) || name.ends_with("_t")
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn names_of_c_are_avoided_and_no_name_is_given_twice() {
        let mut names = Names::default();
        assert_eq!(names.fresh("acc"), "acc");
        assert_eq!(names.fresh("acc"), "acc_1");
        assert_eq!(names.fresh("acc_3"), "acc_3");
        assert_eq!(names.fresh("acc"), "acc_2");
        assert_eq!(names.fresh("acc"), "acc_4");
        assert_eq!(names.fresh("double"), "double_1");
        assert_eq!(names.fresh("_x"), "x_1");
        assert_eq!(names.fresh("int8_t"), "int8_t_1");
    }
}
