//! Names of a kernel as names of C.
//!
//! In: names as written in the kernel. Out: C identifiers, one for each, none of them a
//! keyword, a name that headers or the emitted code use themselves, or another's.

use super::{harness, operation};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Names that headers declare or define, and keywords: `cargo xtask c-names` makes the list.
static TAKEN: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    let own = harness::words().chain(LANES);
    include_str!("names/taken.txt").lines().chain(own).collect()
});

/// Further names that the C library exports: a function of that name would take their place.
static LINKED: LazyLock<BTreeSet<&str>> =
    LazyLock::new(|| include_str!("names/linked.txt").lines().collect());

/// The variables of loops over lanes.
const LANES: [&str; 2] = ["k", "l"];

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
        self.free(name, |_| false)
    }

    /// The same for a function that others link with.
    pub(super) fn function(&mut self, name: &str) -> String {
        self.free(name, |text| LINKED.contains(text))
    }

    /// The same for a name that is not among others, either.
    pub(super) fn apart(&mut self, name: &str, others: &dyn Fn(&str) -> bool) -> String {
        self.free(name, others)
    }

    fn free(&mut self, name: &str, taken: impl Fn(&str) -> bool) -> String {
        let free = |text: &String| !self.used.contains(text) && !reserved(text) && !taken(text);
        let plain = Some(name.to_owned()).filter(free);
        let found = plain.unwrap_or_else(|| {
            let base = numbered(name);
            let last = self.last.entry(base.clone()).or_default();
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
    name.starts_with('_')
        || operation::may_define(name)
        || name.ends_with("_t")
        || name.chars().next().is_none_or(|c| c.is_ascii_digit())
        || TAKEN.contains(name)
}

/// A name that is not reserved for its beginning, whatever number is appended.
fn numbered(name: &str) -> String {
    let bare = name.trim_start_matches('_');
    let named = bare.starts_with(|c: char| c.is_ascii_alphabetic());
    match named {
        true => bare.to_owned(),
        false => format!("v_{bare}").trim_end_matches('_').to_owned(),
    }
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

    #[test]
    fn every_name_gets_an_identifier() {
        for name in [
            "_",
            "__",
            "_1",
            "op_",
            "op_add_i32",
            "_op_x",
            "op_t",
            "",
            "9",
            "_9",
            "v_1",
        ] {
            let mut names = Names::default();
            let many: Vec<String> = (0..20).map(|_| names.fresh(name)).collect();
            assert!(many.iter().all(|n| !super::reserved(n)), "{many:?}");
        }
        assert_eq!(Names::default().fresh("_"), "v_1");
        assert_eq!(Names::default().fresh("op_x"), "op_x");
        assert_eq!(Names::default().function("op_blend"), "op_blend");
        assert_eq!(Names::default().fresh("op_add_i32"), "op_add_i32_1");
    }

    /// The keywords of C, up to C23.
    const KEYWORDS: &str = "alignas alignof auto bool break case char const constexpr continue default \
        do double else enum extern false float for goto if inline int long nullptr register restrict \
        return short signed sizeof static static_assert struct switch thread_local true typedef typeof \
        typeof_unqual union unsigned void volatile while asm";

    #[test]
    fn no_keyword_of_c_is_a_name() {
        for word in KEYWORDS.split_whitespace() {
            assert_ne!(Names::default().fresh(word), word);
            assert_ne!(Names::default().function(word), word);
        }
    }

    #[test]
    fn what_headers_and_libraries_declare_is_no_name() {
        for name in [
            "index",
            "div",
            "rand",
            "INT8_MAX",
            "NULL",
            "linux",
            "errno",
            "stdin",
            "memcpy",
            "get",
            "put_array",
            "main",
            "argv",
            "k",
            "class",
            "and",
            "nullptr",
            "environ",
        ] {
            assert_ne!(Names::default().fresh(name), name);
            assert_ne!(Names::default().function(name), name);
        }
        // A variable may shade a function that no header here declares; a function may not.
        for name in ["connect", "y1", "gamma", "exp"] {
            assert_eq!(Names::default().fresh(name), name);
            assert_ne!(Names::default().function(name), name);
        }
    }
}
