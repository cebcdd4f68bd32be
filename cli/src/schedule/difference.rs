//! The lines that differ between two texts.
//!
//! In: two texts. Out: all lines in order, each kept, new or gone; as many as possible are
//! kept (the longest common subsequence).

/// What became of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// In both.
    Kept,
    /// Only in the second.
    New,
    /// Only in the first.
    Gone,
}

/// The lines of both texts.
pub(crate) fn difference<'t>(before: &'t str, after: &'t str) -> Vec<(Kind, &'t str)> {
    let (a, b): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    // longest[i][j]: lines that a[i..] and b[j..] have in common.
    let mut longest = vec![vec![0_usize; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            longest[i][j] = match a[i] == b[j] {
                true => longest[i + 1][j + 1] + 1,
                false => longest[i + 1][j].max(longest[i][j + 1]),
            };
        }
    }
    let (mut i, mut j, mut out) = (0, 0, Vec::new());
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            out.push((Kind::Kept, a[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < a.len() && (j == b.len() || longest[i + 1][j] >= longest[i][j + 1]) {
            out.push((Kind::Gone, a[i]));
            i += 1;
        } else {
            out.push((Kind::New, b[j]));
            j += 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Kind, difference};

    #[test]
    fn lines_are_kept_new_or_gone() {
        let found = difference("a\nb\nc\n", "a\nx\nc\nd\n");
        let expected = [
            (Kind::Kept, "a"),
            (Kind::Gone, "b"),
            (Kind::New, "x"),
            (Kind::Kept, "c"),
            (Kind::New, "d"),
        ];
        assert_eq!(found, expected);
        assert!(difference("", "").is_empty());
    }
}
