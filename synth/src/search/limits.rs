//! What is looked for beside the rest, and what that may spend.
//!
//! In: a part of a search. Out: what it finds, within limits of its own, which are those of the window again behind
//! it. It looks for nothing itself.

use super::Search;

/// Matches of instructions that may be spent beside a window's own.
const ASIDE_MATCHES: usize = 2_000;

impl Search<'_> {
    /// What is looked for so is none of what the window has to spend.
    pub(super) fn unspent<T>(&mut self, look: impl FnOnce(&mut Self) -> T) -> T {
        let spent = (self.report.goals, self.report.matches);
        let found = look(self);
        (self.report.goals, self.report.matches) = spent;
        found
    }

    /// What is looked for with so many further goals at most.
    pub(super) fn within<T>(&mut self, goals: usize, look: impl FnOnce(&mut Self) -> T) -> T {
        let all = self.limits.goals;
        self.limits.goals = all.min(self.report.goals + goals);
        let found = look(self);
        self.limits.goals = all;
        found
    }

    /// What is looked for with so many goals, none of the window's: that these were spent is no limit of the
    /// window, and what was not found with them may be there.
    pub(super) fn aside<T>(&mut self, goals: usize, look: impl FnOnce(&mut Self) -> T) -> T {
        let (matches, stopped) = (self.limits.matches, self.report.stopped_by.clone());
        self.limits.matches = matches.min(self.report.matches + ASIDE_MATCHES);
        let found = self.within(goals, |search| {
            search.unspent(|search| {
                let found = look(search);
                let (report, limits) = (&mut search.report, &search.limits);
                if report.goals >= limits.goals || report.matches >= limits.matches {
                    search.solved.clear();
                    report.stopped_by = stopped;
                }
                found
            })
        });
        self.limits.matches = matches;
        found
    }
}
