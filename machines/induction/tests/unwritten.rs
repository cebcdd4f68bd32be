//! What is read must have been written, and what is only to be read must not be.
//!
//! In: loops that write and read cells. Out: which are refused.

use induction::Array;
use induction::engine::Engine;
use induction::linear::Linear;
use induction::space::Space;
use induction::stop::Stop;
use induction::value::{Leaves, Value};
use semantics::term::Term;

const CELLS: Space = Space::Cells(0);
const WIDTH: u32 = 8;

/// Runs it on a byte array that is only to be read, and one that may be written.
fn run(program: &mut dyn FnMut(&mut Engine<'_>) -> Result<(), Stop>) -> Result<(), Stop> {
    let mut leaves = Leaves::default();
    let array = |written| Array {
        bits: WIDTH,
        elements: 1 << 20,
        given: true,
        written,
        holds: None,
    };
    let arrays = vec![array(false), array(true)];
    program(&mut Engine::new(&mut leaves, arrays, 0, 1 << 20))
}

fn bits(at: &Linear) -> Result<Linear, Stop> {
    at.times(i64::from(WIDTH))
}

fn write(engine: &mut Engine<'_>, space: Space, at: &Linear) -> Result<(), Stop> {
    let value = Value::Term(Term::bv(WIDTH, 7));
    engine.write(space, &bits(at)?, WIDTH, value)
}

fn read(engine: &mut Engine<'_>, at: &Linear) -> Result<(), Stop> {
    engine.read(CELLS, &bits(at)?, WIDTH).map(|_| ())
}

/// Cells of a loop from one on, each written.
fn filled(engine: &mut Engine<'_>, first: i64, count: i64) -> Result<(), Stop> {
    engine.repeat(count, &mut |engine, k| {
        write(engine, CELLS, &k.offset(first)?)
    })
}

#[test]
fn cells_that_no_round_wrote_are_refused() {
    for count in [1, 2, 3, 17, 1000, 1 << 40] {
        let all = |engine: &mut Engine<'_>| engine.repeat(count, &mut |engine, k| read(engine, k));
        assert!(run(&mut |engine| all(engine)).is_err(), "{count}");
        let some = run(&mut |engine| {
            filled(engine, 0, count)?;
            all(engine)
        });
        assert_eq!(some, Ok(()), "{count}");
        let short = run(&mut |engine| {
            filled(engine, 0, count - 1)?;
            all(engine)
        });
        assert!(short.is_err(), "{count}");
        let late = run(&mut |engine| {
            filled(engine, 1, count)?;
            all(engine)
        });
        assert!(late.is_err(), "{count}");
    }
}

#[test]
fn cells_that_several_loops_wrote_are_read_in_one() {
    let parts = |second: i64| {
        run(&mut |engine| {
            filled(engine, 0, 300)?;
            filled(engine, second, 700)?;
            engine.repeat(10, &mut |engine, i| {
                engine.repeat(100, &mut |engine, j| read(engine, &i.times(100)?.plus(j)?))
            })
        })
    };
    assert_eq!(parts(300), Ok(()));
    assert!(parts(301).is_err());
}

#[test]
fn a_round_may_read_what_the_one_before_it_wrote() {
    let chain = |first: bool, back: i64| {
        run(&mut |engine| {
            if first {
                write(engine, CELLS, &Linear::default())?;
            }
            engine.repeat(1000, &mut |engine, k| {
                read(engine, &k.offset(1 - back)?)?;
                write(engine, CELLS, &k.offset(1)?)
            })
        })
    };
    assert_eq!(chain(true, 1), Ok(()));
    assert!(chain(false, 1).is_err());
    assert!(chain(true, 0).is_err());
}

#[test]
fn arrays_that_are_only_to_be_read_are_not_written() {
    for (array, right) in [(0, false), (1, true)] {
        let space = Space::Array(array);
        let once = run(&mut |engine| write(engine, space, &Linear::constant(5)));
        assert_eq!(once.is_ok(), right, "{once:?}");
        let all = run(&mut |engine| engine.repeat(1000, &mut |engine, k| write(engine, space, k)));
        assert_eq!(all.is_ok(), right, "{all:?}");
    }
}
