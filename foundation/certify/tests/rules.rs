//! Every rewrite by its name, at a few widths; all widths are `isaforge verify --rules`.

use certify::corpus::Corpus;
use certify::many::Plan;
use certify::rules::{Kind, Row, Source, Use, sources, table};
use certify::session::SolverProgram;
use semantics::build as b;
use semantics::sort::Sort;
use semantics::term::Term;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use test_support::need;
use toolchain::find;

fn plan(z3: std::path::PathBuf) -> Plan {
    Plan {
        program: SolverProgram {
            path: z3,
            // As `isaforge verify --rules` asks, whatever else the machine does.
            units: Some(3_000_000),
            ..SolverProgram::named("z3")
        },
        limit: Duration::from_secs(60),
        total: None,
        threads: 2,
        chains: false,
        conflicts: 0,
    }
}

#[test]
fn every_rewrite_has_a_name_that_is_used_and_holds() {
    let plan = plan(need!(find::z3()));
    let log = AtomicUsize::new(0);
    let rows = table(&sources(), &[1, 8], &plan, &|of, _| {
        assert!(
            log.fetch_add(1, Ordering::Relaxed) < of,
            "more than there are"
        );
    });
    assert!(rows.len() > 130, "{}", rows.len());
    let uses: usize = rows.iter().map(|row| row.uses).sum();
    assert!(log.into_inner() >= uses, "{uses}");
    for row in rows {
        assert!(row.kind <= Kind::Argued, "{row:?}");
        assert!(row.kind == Kind::Argued || row.solver > 0, "{row:?}");
    }
}

fn uses(from: Term, to: Term) -> Vec<Use> {
    let rule = "fault";
    vec![Use { rule, from, to }]
}

fn input(corpus: &Corpus) -> Term {
    Term::var("x", Sort::Bv(corpus.width))
}

/// A table of one rewrite.
fn planted(wrong: fn(&Corpus) -> Vec<Use>) -> Source {
    Source {
        name: "planted",
        rules: vec![("fault", "x = what it is not".to_owned(), None)],
        uses: wrong,
    }
}

#[test]
fn a_rewrite_that_does_not_hold_is_wrong_and_one_that_nothing_uses_is_told() {
    let plan = plan(need!(find::z3()));
    let one = |wrong| -> Row {
        let rows = table(&[planted(wrong)], &[1, 8, 64], &plan, &|_, _| ());
        rows[0].clone()
    };
    let at_64 = one(|corpus| {
        // Right but for one input of the widest words.
        let x = input(corpus);
        let rare = b::eq(x, Term::bv(corpus.width, 0x0123_4567_89ab_cdef));
        let to = match corpus.width {
            64 => b::ite(rare, b::not(x), x),
            _ => x,
        };
        uses(b::add(x, b::zero(corpus.width)), to)
    });
    assert_eq!(at_64.kind, Kind::Wrong, "{at_64:?}");
    let sign = one(|corpus| {
        let x = input(corpus);
        let wide = 2 * corpus.width;
        uses(b::sext(x, wide), b::zext(x, wide))
    });
    assert_eq!(sign.kind, Kind::Wrong, "{sign:?}");
    assert_eq!(one(|_| Vec::new()).kind, Kind::Unused);
}
