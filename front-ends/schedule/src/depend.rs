//! Dependences between iterations.
//!
//! In: a loop of a kernel and what holds around it. Out: whether two different iterations
//! can touch one element of an array, one of them writing it. Proved by [`kernel::lia`];
//! where that fails, small sizes are searched for two such iterations, to show them.

use super::Refusal;
use kernel::data::samples;
use kernel::index::{Index, Linear, Symbol};
use kernel::lia::Facts;
use kernel::tree::{Access, Assign, For, Id, Kernel, Stmt};
use semantics::span::Span;
use std::collections::{BTreeMap, BTreeSet};

/// An access of a loop's body with the loops around it inside the body.
pub(super) struct Touch {
    pub(super) access: Access,
    pub(super) writes: bool,
    /// Whether it only adds to the element, and such additions may come in any order.
    pub(super) adds: bool,
    pub(super) loops: Vec<For>,
}

/// Which iterations of the loop around two accesses are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Meeting {
    /// Different ones.
    Different,
    /// A later one for the first access than for the second.
    Later,
    /// The same, or there is no loop.
    Same,
}

impl Meeting {
    fn covers(self, x: i64, y: i64) -> bool {
        match self {
            Meeting::Different => x != y,
            Meeting::Later => x > y,
            Meeting::Same => true,
        }
    }
}

/// Two accesses that may meet in different iterations.
pub(super) struct Conflict {
    /// The array.
    pub(super) array: Id,
    /// The access that writes.
    pub(super) span: Span,
    /// An example, when one was found.
    pub(super) example: Option<String>,
}

/// Whether no two iterations of a loop conflict.
///
/// # Errors
/// The first conflict, as a reason to refuse a change of the loop.
pub(super) fn independent(
    kernel: &Kernel,
    f: &For,
    around: &Facts,
    ignore: &impl Fn(&Access) -> bool,
) -> Result<(), Refusal> {
    let Some(conflict) = conflict(kernel, f, around, ignore) else {
        return Ok(());
    };
    let name = &kernel.arrays[conflict.array].name;
    let message =
        format!("two iterations may touch one element of `{name}`, and one of them writes it");
    let refusal = Refusal::at(conflict.span, message);
    Err(match conflict.example {
        Some(example) => refusal.note(example),
        None => refusal,
    })
}

/// The first conflict between different iterations of a loop. Accumulations into elements
/// for which `ignore` holds are left out.
pub(super) fn conflict(
    kernel: &Kernel,
    f: &For,
    around: &Facts,
    ignore: &impl Fn(&Access) -> bool,
) -> Option<Conflict> {
    let mut touches = Vec::new();
    collect(kernel, &f.body, &mut Vec::new(), &mut touches);
    touches.retain(|t| !(t.writes && ignore(&t.access)));
    let mut known = Known::default();
    for writer in touches.iter().filter(|t| t.writes) {
        for other in touches
            .iter()
            .filter(|t| t.access.array == writer.access.array)
        {
            let pair = (writer, other);
            let question = || apart(kernel, Some(f), around, pair, Meeting::Different);
            if !known.apart(pair, question) {
                let array = writer.access.array;
                let example = example(kernel, Some(f), writer, other, Meeting::Different);
                return Some(Conflict {
                    array,
                    span: writer.access.span,
                    example,
                });
            }
        }
    }
    None
}

/// The first way in which what `one` does and what `two` does are not the same in the other
/// order, in such iterations of the loop around both.
pub(super) fn crossing(
    kernel: &Kernel,
    f: Option<&For>,
    around: &Facts,
    parts: (&[Stmt], &[Stmt]),
    meeting: Meeting,
) -> Option<Conflict> {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    collect(kernel, parts.0, &mut Vec::new(), &mut first);
    collect(kernel, parts.1, &mut Vec::new(), &mut second);
    let mut known = Known::default();
    for one in &first {
        for two in second.iter().filter(|t| t.access.array == one.access.array) {
            if !one.writes && !two.writes || one.adds && two.adds {
                continue;
            }
            if !known.apart((one, two), || apart(kernel, f, around, (one, two), meeting)) {
                return Some(Conflict {
                    array: one.access.array,
                    span: if one.writes {
                        one.access.span
                    } else {
                        two.access.span
                    },
                    example: example(kernel, f, one, two, meeting),
                });
            }
        }
    }
    None
}

/// The accesses of statements.
pub(super) fn collect(kernel: &Kernel, body: &[Stmt], loops: &mut Vec<For>, out: &mut Vec<Touch>) {
    for stmt in body {
        if let Stmt::For(f) = stmt {
            loops.push(For {
                body: Vec::new(),
                ..f.clone()
            });
            collect(kernel, &f.body, loops, out);
            loops.pop();
        }
        kernel.for_each_access(stmt, &mut |access, writes| {
            let adds =
                |a: &Assign| super::nest::any_order(a) && !reads_it(kernel, &a.value, access);
            out.push(Touch {
                access: access.clone(),
                writes,
                adds: writes && matches!(stmt, Stmt::Assign(a) if adds(a)),
                loops: loops.clone(),
            });
        });
    }
}

/// Whether an expression reads the array of an access.
fn reads_it(kernel: &Kernel, value: &kernel::tree::Expr, access: &Access) -> bool {
    let mut found = false;
    kernel.for_each_load(value, &mut |a| found |= a.array == access.array);
    found
}

/// Pairs of accesses that were found apart. Of copies of statements most pairs are one question: whether
/// two accesses meet depends on the distance of their places, and not on where both are.
#[derive(Default)]
struct Known {
    kinds: BTreeMap<Kind, usize>,
    apart: BTreeSet<(usize, usize, Vec<i64>)>,
}

/// What tells accesses apart but for the constants in their indices: array, lanes, their dimension and
/// distance, whether they are clamped; the loops around; what else is in the indices.
type Kind = ((Id, u32, usize, i64, bool), Vec<Around>, Vec<Linear>);
/// A loop: its variable, bounds and step.
type Around = (Symbol, Index, Index, i64);

impl Known {
    /// Whether a pair is apart, asked once for all such pairs.
    fn apart(&mut self, (one, two): (&Touch, &Touch), ask: impl FnOnce() -> bool) -> bool {
        let places = self.place(one).zip(self.place(two));
        let question = places.and_then(|((k, at), (l, to))| {
            let distances = at.iter().zip(&to).map(|(a, b)| a.checked_sub(*b));
            Some((k, l, distances.collect::<Option<Vec<i64>>>()?))
        });
        let Some(question) = question else {
            return ask();
        };
        let found = self.apart.contains(&question) || ask();
        if found {
            self.apart.insert(question);
        }
        found
    }

    /// The kind of an access and the constants in its indices; nothing where one is not linear.
    fn place(&mut self, touch: &Touch) -> Option<(usize, Vec<i64>)> {
        let a = &touch.access;
        let linear: Option<Vec<Linear>> = a.index.iter().map(Index::linear).collect();
        let mut linear = linear?;
        let constants = linear.iter_mut().map(|l| std::mem::take(&mut l.constant));
        let constants = constants.collect();
        let loops = touch.loops.iter();
        let loops = loops
            .map(|f| (f.var, f.lo.clone(), f.hi.clone(), f.step))
            .collect();
        let shape = (a.array, a.lanes, a.dim, a.stride, a.clamped);
        let next = self.kinds.len();
        let kind = self.kinds.entry((shape, loops, linear)).or_insert(next);
        Some((*kind, constants))
    }
}

/// Whether two accesses are proved never to meet in such iterations.
fn apart(
    kernel: &Kernel,
    f: Option<&For>,
    around: &Facts,
    (one, two): (&Touch, &Touch),
    meeting: Meeting,
) -> bool {
    let mut new = Fresh::of(kernel);
    let mut facts = around.clone();
    let first = instance(&mut new, f, one, &mut facts);
    let second = instance(&mut new, f, two, &mut facts);
    for d in 0..one.access.index.len() {
        let (a, b) = (&one.access.index[d], &two.access.index[d]);
        let clamped = |t: &Touch| d == t.access.dim && t.access.clamped;
        if clamped(one) || clamped(two) {
            continue;
        }
        let a = super::copy::substitute(a, &first).plus(&lane(&mut new, one, d, &mut facts));
        let b = super::copy::substitute(b, &second).plus(&lane(&mut new, two, d, &mut facts));
        facts.add_at_most(&a, &b);
        facts.add_at_most(&b, &a);
    }
    let Some(f) = f else {
        return facts.contradictory();
    };
    let (x, y) = (&first[&f.var], &second[&f.var]);
    let ordered = |a: &Index, b: &Index| {
        let mut facts = facts.clone();
        facts.add_at_most(&a.offset(f.step), b);
        facts.contradictory()
    };
    match meeting {
        Meeting::Different => ordered(x, y) && ordered(y, x),
        Meeting::Later => ordered(y, x),
        Meeting::Same => {
            facts.add_at_most(x, y);
            facts.add_at_most(y, x);
            facts.contradictory()
        }
    }
}

/// How far any lane of an access is from its first element in a dimension.
fn lane(new: &mut Fresh, touch: &Touch, d: usize, facts: &mut Facts) -> Index {
    let access = &touch.access;
    if d != access.dim || access.lanes == 1 {
        return Index::Const(0);
    }
    let lane = new.symbol();
    let lanes = Index::Const(i64::from(access.lanes));
    facts.add_loop(lane, &Index::Const(0), &lanes, 1);
    Index::Sym(lane).times(access.stride)
}

/// Symbols that a kernel does not have.
struct Fresh(u32);

impl Fresh {
    fn of(kernel: &Kernel) -> Fresh {
        Fresh(u32::try_from(kernel.symbols.len()).expect("fewer than 2^32 symbols"))
    }

    fn symbol(&mut self) -> Symbol {
        self.0 += 1;
        Symbol(self.0 - 1)
    }
}

/// Fresh names for the loop variable and the loops inside, and what holds of them.
fn instance(
    new: &mut Fresh,
    f: Option<&For>,
    touch: &Touch,
    facts: &mut Facts,
) -> BTreeMap<Symbol, Index> {
    let mut by = BTreeMap::new();
    for l in f.into_iter().chain(&touch.loops) {
        let (lo, hi) = (
            super::copy::substitute(&l.lo, &by),
            super::copy::substitute(&l.hi, &by),
        );
        let var = new.symbol();
        facts.add_loop(var, &lo, &hi, l.step);
        by.insert(l.var, Index::Sym(var));
    }
    by
}

/// Two such iterations that touch one element, from small sizes.
fn example(
    kernel: &Kernel,
    f: Option<&For>,
    one: &Touch,
    two: &Touch,
    meeting: Meeting,
) -> Option<String> {
    for sizes in samples(kernel, 0..20, 40) {
        let mut env = sizes.clone();
        if let Some(f) = f.or(one.loops.first()).or(two.loops.first()) {
            outer_minimum(&kernel.body, f.var, &mut env);
        }
        // The first and the last iteration that touches each place.
        let mut places: BTreeMap<Vec<i64>, (i64, i64)> = BTreeMap::new();
        visit(f, one, &env, &mut |x, place| {
            let slot = places.entry(place).or_insert((x, x));
            *slot = (slot.0.min(x), slot.1.max(x));
            false
        });
        let mut found = None;
        visit(f, two, &env, &mut |y, place| {
            let Some(&(least, most)) = places.get(&place) else {
                return false;
            };
            let at = [most, least].into_iter().find(|&x| meeting.covers(x, y));
            let array = &kernel.arrays[one.access.array].name;
            found = at.map(|x| match f {
                Some(f) if meeting != Meeting::Same => {
                    let name = kernel.symbol_name(f.var);
                    format!("{name} = {x} and {name} = {y} both touch {array}{place:?}")
                }
                _ => format!("both touch {array}{place:?}"),
            });
            found.is_some()
        });
        if let Some(found) = found {
            return Some(match sizes.is_empty() {
                true => found,
                false => format!("{found} (at {})", kernel.values_text(&sizes)),
            });
        }
    }
    None
}

/// Gives the loops around a loop their first values.
pub(super) fn outer_minimum(body: &[Stmt], var: Symbol, env: &mut BTreeMap<Symbol, i64>) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::For(f) if f.var == var => true,
        Stmt::For(f) => {
            let lo =
                f.lo.eval(&|s| env.get(&s).copied().unwrap_or(0))
                    .unwrap_or(0);
            env.insert(f.var, lo);
            outer_minimum(&f.body, var, env)
        }
        _ => false,
    })
}

/// Calls `f` with the loop variable and the place of each instance of an access, until it
/// says stop; at most a few thousand of them.
fn visit(
    l: Option<&For>,
    touch: &Touch,
    env: &BTreeMap<Symbol, i64>,
    f: &mut impl FnMut(i64, Vec<i64>) -> bool,
) {
    let mut work = vec![(env.clone(), 0usize)];
    let mut budget = 5000;
    let loops: Vec<&For> = l.into_iter().chain(&touch.loops).collect();
    while let Some((env, depth)) = work.pop() {
        let value = |s: Symbol| env.get(&s).copied().unwrap_or(0);
        let Some(inner) = loops.get(depth) else {
            let place: Option<Vec<i64>> = touch
                .access
                .index
                .iter()
                .map(|i| i.eval(&value).ok())
                .collect();
            let Some(place) = place else { continue };
            if f(l.map_or(0, |l| value(l.var)), place) {
                return;
            }
            continue;
        };
        let (Ok(mut x), Ok(hi)) = (inner.lo.eval(&value), inner.hi.eval(&value)) else {
            continue;
        };
        while x < hi && budget > 0 {
            budget -= 1;
            let mut next = env.clone();
            next.insert(inner.var, x);
            work.push((next, depth + 1));
            x = x.saturating_add(inner.step);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use semantics::span::Source;

    /// What the loops of a kernel's body touch.
    fn touches(body: &str) -> Vec<Touch> {
        let text = format!("kernel k(n: size, o: inout u8[n, 40]) {{ {body} }}");
        let (kernels, wrong) = kernel::read(&Source::new("k", text));
        assert!(
            wrong.is_empty(),
            "{}",
            semantics::diagnostic::render(&wrong)
        );
        let mut out = Vec::new();
        collect(&kernels[0], &kernels[0].body, &mut Vec::new(), &mut out);
        out
    }

    #[test]
    fn pairs_as_far_from_each_other_are_one_question_and_no_others() {
        let first = touches(
            "for y in 0..n { for x in 0..8 { o[y, x] = 0; o[y, x + 9] = 0; o[y, x + 18] = 0; } }",
        );
        let other = touches("for y in 0..n { for x in 0..9 { o[y, x] = 0; o[y, x + 9] = 0; } }");
        let mut known = Known::default();
        let mut asked = |pair: (&Touch, &Touch), answer: bool| {
            let mut asked = false;
            let ask = || {
                asked = true;
                answer
            };
            assert_eq!(known.apart(pair, ask), answer || !asked);
            asked
        };
        assert!(asked((&first[1], &first[0]), true));
        assert!(!asked((&first[2], &first[1]), true), "as far");
        assert!(asked((&first[2], &first[0]), true), "farther");
        assert!(asked((&first[0], &first[1]), true), "the other way");
        assert!(asked((&other[1], &other[0]), false), "in another loop");
        assert!(
            asked((&other[1], &other[0]), false),
            "what is not apart is not kept"
        );
    }
}
