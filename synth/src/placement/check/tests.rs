//! Placed programs that are right, and the same with one thing wrong.

use super::super::unplaced;
use super::{check, places};
use autoir::program::placed::{Copied, Ends, Placed, Residence};
use autoir::program::{Node, Program};
use lowering::window::Lowered;
use semantics::span::Source;
use std::collections::BTreeMap;

/// Where a window of four bytes that are copied has its ends.
struct Moved {
    lowered: Lowered,
    active: bool,
    input: Residence,
    result: Residence,
}

impl Moved {
    fn of(from: &str, to: &str, active: bool, input: Residence, result: Residence) -> Moved {
        let text = format!(
            "kernel k(n: size, a: in u8[n, n], b: out u8[n, n]) requires n >= 8 {{ \
             for i in 0..n {{ {to} = {from}; }} }}"
        );
        let (kernels, wrong) = kernel::read(&Source::new("test.kernel", &text));
        assert!(wrong.is_empty(), "{text}");
        let scheduled = schedule::apply(&kernels[0]).expect("no schedule");
        Moved {
            lowered: lowering::lower(&scheduled).expect("a window"),
            active,
            input,
            result,
        }
    }

    /// Whether a program that reads and stores these bits of the input is right.
    fn moves(&self, pieces: &[(u32, u32)]) -> bool {
        let mut old = Program::default();
        let whole = Node::Input {
            name: "a".to_owned(),
            lo: 0,
            width: 32,
        };
        let mut program = Program::default();
        old.outputs = vec![old.add(whole.clone())];
        let image = program.add(whole);
        for &(lo, width) in pieces {
            let value = program.add(Node::Input {
                name: "a".to_owned(),
                lo,
                width,
            });
            program.add(Node::Store {
                value,
                byte: lo / 8,
            });
        }
        let placed = Placed {
            program,
            ends: Ends {
                inputs: BTreeMap::from([("a".to_owned(), self.input)]),
                result: self.result,
            },
            tables: BTreeMap::new(),
        };
        let window = (&self.lowered.windows[0], self.active);
        check(&self.lowered, window, &old, &[image], &placed).is_ok()
    }

    fn is_right(&self) -> bool {
        self.moves(&[(0, 32)])
    }
}

const DENSE: [&str; 2] = ["a[i, 0..+4]", "b[i, 0..+4]"];
const APART: [&str; 2] = ["a[0..+4, i]", "b[0..+4, i]"];

fn buffer(lanes: u32, period: u32, active: Option<u32>) -> Residence {
    Residence::Buffer(Copied {
        element: 8,
        lanes,
        period,
        active,
    })
}

#[test]
fn elements_that_lie_apart_are_copied_one_by_one() {
    let all = buffer(4, 4, None);
    let [input, result] = APART;
    assert!(Moved::of(input, result, false, all, all).is_right());
    for wrong in [
        Residence::Memory,
        Residence::Number,
        Residence::Variables(32),
        buffer(4, 2, None),
        buffer(4, 0, None),
        buffer(3, 4, None),
        buffer(8, 4, None),
        buffer(4, 4, Some(4)),
        Residence::Buffer(Copied {
            element: 16,
            lanes: 2,
            period: 2,
            active: None,
        }),
    ] {
        assert!(!Moved::of(input, result, false, wrong, all).is_right());
        assert!(!Moved::of(input, result, false, all, wrong).is_right());
    }
}

#[test]
fn only_active_elements_are_copied() {
    let ([input, result], leading) = (DENSE, buffer(4, 4, Some(4)));
    assert!(Moved::of(input, result, true, leading, leading).is_right());
    // In a larger part there are elements that must not be touched, in a smaller one some are missing.
    for wrong in [
        Residence::Memory,
        buffer(4, 4, None),
        buffer(4, 4, Some(2)),
        buffer(4, 4, Some(8)),
    ] {
        assert!(!Moved::of(input, result, true, wrong, leading).is_right());
        assert!(!Moved::of(input, result, true, leading, wrong).is_right());
    }
}

#[test]
fn numbers_are_read_and_written_whole() {
    let (input, result) = (Residence::Memory, Residence::Memory);
    let ends = Moved::of(DENSE[0], DENSE[1], false, input, result);
    assert!(ends.is_right());
    assert!(ends.moves(&[(0, 8), (8, 16), (24, 8)]));
    // There is no number of three bytes.
    assert!(!ends.moves(&[(0, 24), (24, 8)]));
    // A byte is missing, or is written twice.
    assert!(!ends.moves(&[(0, 16), (24, 8)]));
    assert!(!ends.moves(&[(0, 16), (8, 16), (24, 8)]));
}

/// What has no program has its ends where one would be right.
#[test]
fn windows_without_programs_are_read_and_written_where_they_lie() {
    let (all, leading) = (buffer(4, 4, None), buffer(4, 4, Some(4)));
    let ends = |[from, to]: [&str; 2], active| {
        let moved = Moved::of(from, to, active, all, all);
        let window = &moved.lowered.windows[0];
        let ends = unplaced::of(&moved.lowered, window, active);
        let right = |ends: &Ends| places::ends(&moved.lowered, window, active, ends).is_ok();
        assert!(right(&ends));
        for wrong in [
            buffer(4, 2, None),
            buffer(8, 4, None),
            buffer(4, 4, Some(2)),
        ] {
            let result = wrong;
            assert!(!right(&Ends {
                result,
                ..ends.clone()
            }));
        }
        (ends.inputs["a"], ends.result)
    };
    assert_eq!(ends(DENSE, false), (Residence::Memory, Residence::Memory));
    assert_eq!(ends(DENSE, true), (leading, leading));
    assert_eq!(ends(APART, false), (all, all));
    assert_eq!(ends(["a[i, 0]", DENSE[1]], false).0, buffer(4, 1, None));
}
