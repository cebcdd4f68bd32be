//! Where configuration is written: inside loops, before them, not at all.

use super::super::plan::Stationary;
use super::super::program::{Amount, Command, CommandNode, Work};
use super::super::units::{FACTORS, Units};
use super::place;
use semantics::machine::Machine;
use std::path::Path;

fn gemmini() -> Machine {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../isa-specs/gemmini/manifest.yaml");
    let (machine, wrong) = spec_parser::matrix::load::load(&path).expect("our specification");
    assert!(wrong.is_empty(), "our specification is right");
    machine
}

fn load(units: &Units, id: usize, at: i64, stride: Amount) -> CommandNode<Work> {
    let local = units.local(&Amount::of(at), FACTORS, 4, 4);
    CommandNode::Do(Work {
        command: units.load(id, Amount::of(0x1000), local),
        needs: vec![units.loading(id as i64, stride, 16, (false, 1.0))],
    })
}

fn in_loop<C>(var: usize, body: Vec<CommandNode<C>>) -> CommandNode<C> {
    CommandNode::Loop {
        var,
        count: 5,
        body,
    }
}

/// How deep each configuration stands, in order.
fn depths(machine: &Machine, body: &[CommandNode]) -> Vec<usize> {
    fn walk(machine: &Machine, body: &[CommandNode], depth: usize, out: &mut Vec<usize>) {
        for node in body {
            match node {
                CommandNode::Loop { body, .. } => walk(machine, body, depth + 1, out),
                CommandNode::Do(Command { instruction, .. }) => {
                    let found = &machine.instructions[*instruction];
                    if found.instruction.name == "config" {
                        out.push(depth);
                    }
                }
            }
        }
    }
    let mut out = Vec::new();
    walk(machine, body, 0, &mut out);
    out
}

fn placed(body: impl FnOnce(&Units) -> Vec<CommandNode<Work>>) -> Vec<usize> {
    let machine = gemmini();
    let units = Units::new(&machine).expect("an array");
    let body = place(&machine, body(&units));
    depths(&machine, &body)
}

#[test]
fn what_does_not_change_is_written_once_before_all_loops() {
    let depths = placed(|u| {
        let inner = in_loop(
            1,
            vec![load(u, 0, 0, Amount::of(64)), load(u, 1, 8, Amount::of(32))],
        );
        vec![in_loop(0, vec![inner, load(u, 0, 4, Amount::of(64))])]
    });
    assert_eq!(depths, [0, 0]);
}

#[test]
fn a_stride_that_changes_in_a_loop_stays_in_it() {
    // Two loads of one kind with two strides: each write is needed in every round.
    let depths = placed(|u| {
        let both = vec![load(u, 0, 0, Amount::of(64)), load(u, 0, 4, Amount::of(32))];
        vec![in_loop(0, vec![in_loop(1, both)])]
    });
    assert_eq!(depths, [2, 2]);
    // The other kind of loads is not touched by that.
    let depths = placed(|u| {
        let three = vec![
            load(u, 0, 0, Amount::of(64)),
            load(u, 1, 8, Amount::of(16)),
            load(u, 0, 4, Amount::of(32)),
        ];
        vec![in_loop(0, vec![in_loop(1, three)])]
    });
    assert_eq!(depths, [0, 2, 2]);
}

#[test]
fn a_stride_of_a_loop_variable_leaves_the_loops_inside_it_only() {
    let depths = placed(|u| {
        let stride = Amount::var(0).times(16).add(64);
        vec![in_loop(0, vec![in_loop(1, vec![load(u, 0, 0, stride)])])]
    });
    assert_eq!(depths, [1]);
}

#[test]
fn a_write_does_not_pass_a_read_of_the_old_value() {
    // The first load of the loop needs 64 in its first round only because it stands before.
    let depths = placed(|u| {
        vec![
            load(u, 0, 0, Amount::of(64)),
            in_loop(
                0,
                vec![
                    in_loop(1, vec![load(u, 0, 0, Amount::of(64))]),
                    in_loop(2, vec![load(u, 0, 4, Amount::of(32))]),
                ],
            ),
            load(u, 0, 8, Amount::of(32)),
        ]
    });
    // Before all; before each of the two inner loops, in every round of the outer one; what
    // the last round leaves serves what follows.
    assert_eq!(depths, [0, 1, 1]);
}

#[test]
fn configuration_of_the_array_does_not_come_between_preload_and_compute() {
    let machine = gemmini();
    let units = Units::new(&machine).expect("an array");
    let product = |stride: i64| {
        let local = units.local(&Amount::default(), FACTORS, 4, 4);
        vec![
            CommandNode::Do(Work {
                command: units.preload(local.clone(), local.clone()),
                needs: vec![units.execute(stride, Stationary::Weights, [false, false])],
            }),
            CommandNode::Do(Work {
                command: units.multiply(local, units.nothing(), false),
                needs: Vec::new(),
            }),
        ]
    };
    let one = place(&machine, vec![in_loop(0, product(1))]);
    assert_eq!(depths(&machine, &one), [0]);
    let two = [product(1), product(2)].concat();
    let two = place(&machine, vec![in_loop(0, two)]);
    assert_eq!(depths(&machine, &two), [1, 1]);
}
