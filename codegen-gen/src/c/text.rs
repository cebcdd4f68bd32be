//! Lines of C with indentation.
//!
//! In: lines, and where blocks open and close. Out: the text. It knows nothing of C but
//! that blocks are braces and four spaces deep.

/// Text that grows line by line.
#[derive(Debug, Default)]
pub(super) struct Text {
    text: String,
    depth: usize,
}

impl Text {
    /// Adds a line at the present depth; an empty one stays empty.
    pub(super) fn line(&mut self, line: &str) {
        if !line.is_empty() {
            self.text.push_str(&"    ".repeat(self.depth));
            self.text.push_str(line);
        }
        self.text.push('\n');
    }

    /// Adds `head {` and goes one deeper.
    pub(super) fn open(&mut self, head: &str) {
        self.line(format!("{head} {{").trim_start());
        self.depth += 1;
    }

    /// Closes what [`Text::open`] opened.
    pub(super) fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.line("}");
    }

    /// Adds lines that were made elsewhere, at the present depth.
    pub(super) fn lines(&mut self, lines: &str) {
        lines.lines().for_each(|line| self.line(line));
    }

    /// Text that is made apart, to be added at the present depth.
    pub(super) fn apart(&self) -> Text {
        Text {
            text: String::new(),
            depth: self.depth,
        }
    }

    /// Adds text that was made apart.
    pub(super) fn add(&mut self, other: Text) {
        self.text.push_str(&other.text);
    }

    /// All of it.
    pub(super) fn finish(self) -> String {
        self.text
    }
}
