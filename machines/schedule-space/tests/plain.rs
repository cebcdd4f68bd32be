//! Kernels of all kinds without a schedule: each gets one that does the same.

use kernel::data::{fill, numbers};
use kernel::eval;
use kernel::index::{Index, Symbol};
use kernel::tree::{Kernel, Stmt};
use schedule::directive::Directive;
use schedule_space::climb::{Candidate, Evaluate, Found, Limits, Vectors, search};
use schedule_space::loops::told_apart;
use semantics::span::Source;
use std::collections::BTreeMap;

/// Statements that are executed, or their operators; how many schedules were asked about.
struct Executed<'k> {
    kernel: &'k Kernel,
    sizes: &'k BTreeMap<Symbol, i64>,
    of: fn(&Kernel, &Stmt) -> u64,
    asked: usize,
}

/// The same for each statement, whatever it computes.
fn alike(_: &Kernel, _: &Stmt) -> u64 {
    100
}

/// As many as a statement has operators.
fn operators(kernel: &Kernel, stmt: &Stmt) -> u64 {
    let mut count = 1;
    if let Some(value) = kernel.value(stmt) {
        kernel.walk(value, &|id| !kernel.locals[id].stated, &mut |e| {
            count += 10 * u64::from(!e.operands().is_empty());
            e.operands()
        });
    }
    count
}

impl Evaluate for Executed<'_> {
    fn cost(&mut self, directives: &[Directive]) -> Result<u64, String> {
        self.asked += 1;
        let scheduled = schedule::apply_directives(self.kernel, directives);
        let scheduled = scheduled.map_err(|wrong| wrong[0].message.clone())?;
        let (kernel, of) = (scheduled.kernel(), self.of);
        let of = |stmt: &Stmt| of(kernel, stmt);
        Ok(executed(&kernel.body, &mut self.sizes.clone(), &of))
    }
}

fn executed(body: &[Stmt], values: &mut BTreeMap<Symbol, i64>, of: &dyn Fn(&Stmt) -> u64) -> u64 {
    let each = body.iter().map(|stmt| match stmt {
        Stmt::For(f) => {
            let value = |index: &Index| {
                let known = |s: Symbol| values.get(&s).copied().unwrap_or(0);
                index.eval(&known).expect("small numbers")
            };
            let (lo, hi) = (value(&f.lo), value(&f.hi));
            values.insert(f.var, lo);
            let rounds = ((hi - lo).max(0) + f.step - 1) / f.step;
            let rounds = if f.at.is_some() { 1 } else { rounds };
            10 + rounds.unsigned_abs() * (20 + executed(&f.body, values, of))
        }
        stmt => of(stmt),
    });
    each.sum()
}

fn found(kernel: &Kernel, given: &[Directive], evaluations: usize) -> (Found, usize) {
    found_by(alike, kernel, given, evaluations)
}

fn found_by(
    of: fn(&Kernel, &Stmt) -> u64,
    kernel: &Kernel,
    given: &[Directive],
    evaluations: usize,
) -> (Found, usize) {
    let sizes: BTreeMap<Symbol, i64> = kernel.sizes().map(|s| (s, 40)).collect();
    let mut evaluate = Executed {
        kernel,
        sizes: &sizes,
        of,
        asked: 0,
    };
    let limits = Limits {
        evaluations,
        until: None,
        keep: 3,
    };
    let vectors = Vectors {
        narrowest: 128,
        widest: 256,
        masked: [32, 64].into(),
    };
    let found = search(kernel, given, &sizes, vectors, &mut evaluate, limits);
    (found.expect("the kernel has a cost"), evaluate.asked)
}

fn kernels() -> Vec<Kernel> {
    let text = include_str!("plain.kernel").to_owned();
    let (kernels, wrong) = kernel::read(&Source::new("plain.kernel".to_owned(), text));
    assert!(wrong.is_empty(), "{wrong:?}");
    kernels
}

/// Kernels in which there is nothing to make lanes of.
const SCALAR: [&str; 4] = ["argmin", "expf", "scan", "straight"];

#[test]
fn every_kernel_gets_a_schedule_that_does_the_same() {
    for kernel in kernels() {
        let (kernel, _) = told_apart(&kernel);
        let (found, _) = found(&kernel, &[], 40);
        let best = &found.best[0];
        let name = &kernel.name;
        assert!(best.cost <= found.given, "{name}: {best:?}");
        let lanes = |d: &Directive| matches!(d, Directive::Vectorize { .. });
        let vector = best.directives.iter().any(lanes);
        assert_eq!(vector, !SCALAR.contains(&name.as_str()), "{name}: {best:?}");
        let sizes = kernel.sizes().map(|s| (s, 11)).collect();
        let data = fill(&kernel, &sizes, &mut numbers(3));
        let expected = eval::run(&kernel, &data).expect("the evaluator runs");
        // What the C library computes is not computed here.
        let here = name != "expf";
        for candidate in found.best.iter().filter(|_| here) {
            let scheduled = schedule::apply_directives(&kernel, &candidate.directives);
            let lowered =
                lowering::lower(&scheduled.expect("it was legal")).expect("it is lowered");
            let replayed = lowering::replay::run(&lowered, &data);
            assert_eq!(replayed.as_ref(), Ok(&expected), "{name}: {candidate:?}");
        }
    }
}

#[test]
fn a_limit_leaves_the_best_so_far() {
    let kernels = kernels();
    let matmul = kernels
        .iter()
        .find(|k| k.name == "matmul")
        .expect("it is there");
    let (one, asked) = found(matmul, &[], 1);
    assert_eq!((one.best[0].cost, one.nests), (one.given, (1, 1)));
    assert!(asked <= 3, "{asked}");
    let (few, _) = found(matmul, &[], 30);
    let (many, _) = found(matmul, &[], 300);
    assert!(few.best[0].cost < one.given, "{few:?}");
    assert!(many.best[0].cost <= few.best[0].cost, "{many:?}");
    assert_eq!(found(matmul, &[], 300).0.best, many.best);
}

#[test]
fn what_is_given_stays() {
    let kernels = kernels();
    let matmul = kernels
        .iter()
        .find(|k| k.name == "matmul")
        .expect("it is there");
    let given: Vec<Directive> = ["stage c over p", "vectorize x by 4 tail mask"]
        .map(|text| text.parse().expect("a directive"))
        .into();
    let (found, _) = found(matmul, &given, 60);
    let best = &found.best[0].directives;
    assert!(
        best.starts_with(&given) && best.len() > given.len(),
        "{best:?}"
    );
    let lanes = best
        .iter()
        .filter(|d| matches!(d, Directive::Vectorize { .. }));
    assert_eq!(lanes.count(), 1, "{best:?}");
}

/// What is asked for at several places is computed once where operators cost, and at the loop whose
/// iterations ask for it at several; the cheapest schedule without is told as well.
#[test]
fn a_function_that_is_asked_for_often_is_computed_once() {
    let text = r#"
kernel smooth(h: size, w: size, a: in u8[h, w], o: out u16[h, w]) {
  fn plain(y: index, x: index) -> u16 = u16(a.clamped[y, x]);
  fn column(y: index, x: index) -> u16 = plain(y - 1, x) + 3 * plain(y, x) + plain(y + 1, x);
  for y in 0..h { for x in 0..w {
    o[y, x] = column(y, x - 2) + 3 * column(y, x) + column(y, x + 2);
  } }
}
"#;
    let (kernels, wrong) = kernel::read(&Source::new("smooth.kernel", text));
    assert!(wrong.is_empty(), "{wrong:?}");
    let (found, _) = found_by(operators, &kernels[0], &[], 200);
    let computed = |directives: &[Directive]| -> Vec<String> {
        let all = directives.iter().map(Directive::to_string);
        all.filter(|d| d.starts_with("compute")).collect()
    };
    let best = computed(&found.best[0].directives);
    assert_eq!(best, ["compute column at y"], "{found:?}");
    let plain = |c: &Candidate| computed(&c.directives).is_empty() && c.directives.len() > 1;
    assert!(found.best.iter().any(plain), "{found:?}");
}
