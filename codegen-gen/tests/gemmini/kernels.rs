//! Products, convolutions and sums, whole and partial tiles.

use super::bench::{agrees, agrees_with, cycles, gemmini, mapped, proposal_agrees};
use tile::mapped::Verdict;
use tile::systolic::place::Constraints;
use tile::systolic::plan::{LoopOrder, Plan, Stationary};

fn kernel(name: &str) -> String {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels/gemmini");
    std::fs::read_to_string(folder.join(format!("{name}.kernel"))).expect("a kernel")
}

#[test]
fn products_agree() {
    let machine = gemmini();
    let text = kernel("matmul");
    for sizes in [
        [16, 16, 16],
        [1, 1, 1],
        [33, 40, 50],
        [70, 17, 130],
        [128, 64, 64],
    ] {
        agrees(&machine, &text, &sizes, None);
    }
    agrees(&machine, &text, &[100, 70, 40], Some((2, 3)));
    agrees(&machine, &text, &[50, 33, 20], Some((1, 1)));
}

#[test]
fn full_width_products_agree() {
    let machine = gemmini();
    for sizes in [[16, 16, 16], [5, 3, 2], [50, 40, 99]] {
        agrees(&machine, &kernel("matmul_full"), &sizes, None);
    }
}

#[test]
fn convolutions_agree() {
    let machine = gemmini();
    for sizes in [[1, 4, 4, 3, 5], [2, 7, 7, 20, 18], [1, 3, 20, 16, 33]] {
        agrees(&machine, &kernel("conv3x3"), &sizes, None);
    }
}

#[test]
fn pooled_convolutions_agree() {
    let machine = gemmini();
    for sizes in [[1, 2, 2, 3, 5], [2, 4, 9, 20, 18]] {
        agrees(&machine, &kernel("conv1x1_pool"), &sizes, None);
        agrees(&machine, &kernel("conv3x3_pool"), &sizes, None);
    }
}

#[test]
fn sums_agree() {
    let machine = gemmini();
    for sizes in [[16, 16], [1, 1], [37, 50], [200, 64]] {
        agrees(&machine, &kernel("residual_add"), &sizes, None);
    }
}

#[test]
fn an_array_of_eight_is_an_edit() {
    let machine = super::bench::edited(&[("DIM: 16 ", "DIM: 8 ")]);
    agrees(&machine, &kernel("matmul"), &[20, 30, 17], None);
    agrees(&machine, &kernel("conv3x3"), &[1, 5, 9, 10, 12], None);
}

#[test]
fn the_hardware_loop_agrees() {
    let machine = gemmini();
    for sizes in [[16, 16, 16], [37, 50, 21], [200, 100, 40]] {
        let constraints = Constraints {
            hardware_loop: true,
            ..Constraints::default()
        };
        agrees_with(&machine, &kernel("matmul"), &sizes, constraints);
        agrees_with(&machine, &kernel("matmul_full"), &sizes, constraints);
    }
}

/// Every order of blocks, with one buffer and two, and both data flows, on blocks of one tile,
/// of a few, and of as many as there are.
#[test]
fn every_plan_agrees() {
    let machine = gemmini();
    for outer in [LoopOrder::Columns, LoopOrder::Rows] {
        for buffers in [1, 2] {
            for stationary in [Stationary::Weights, Stationary::Outputs] {
                let plan = Plan {
                    outer,
                    buffers,
                    stationary,
                };
                let check = |name: &str, sizes: &[i64], tile| {
                    let constraints = Constraints {
                        tile,
                        plan,
                        ..Constraints::default()
                    };
                    proposal_agrees(&machine, &kernel(name), sizes, constraints);
                };
                check("matmul", &[68, 52, 85], Some((1, 1)));
                check("matmul", &[70, 85, 20], Some((2, 2)));
                check("matmul_full", &[33, 40, 70], Some((1, 2)));
                check("conv3x3", &[2, 3, 7, 20, 34], Some((1, 1)));
                check("conv3x3_pool", &[2, 4, 5, 20, 34], Some((2, 1)));
                let constraints = Constraints {
                    tile: Some((1, 2)),
                    plan,
                    ..Constraints::default()
                };
                for sizes in [[36, 37, 5], [20, 5, 3]] {
                    let proved = mapped(&machine, &kernel("matmul"), &sizes, constraints);
                    assert_eq!(proved.expect("it is proved").1, Verdict::Proved);
                }
            }
        }
    }
}

/// The loop over rows is the one with which least is loaded, not the longest: images that stand, and
/// batches of small ones, take what those take that lie.
#[test]
fn images_may_stand_or_lie() {
    let machine = gemmini();
    for [standing, lying] in [
        [[1, 50, 30, 16, 16], [1, 30, 50, 16, 16]],
        [[2, 40, 16, 20, 34], [2, 16, 40, 20, 34]],
        [[30, 5, 7, 16, 16], [5, 30, 7, 16, 16]],
    ] {
        let [a, b] = [standing, lying].map(|s| cycles(&machine, &kernel("conv3x3"), &s));
        assert!(4 * a <= 5 * b, "{standing:?}: {a} cycles, {lying:?}: {b}");
    }
}

/// Batches of products with a bias, one or both of whose factors lie the other way round.
fn turned(left: bool, right: bool) -> String {
    let (a, at) = if left {
        ("k, m", "p, i")
    } else {
        ("m, k", "i, p")
    };
    let (b, bt) = if right {
        ("n, k", "j, p")
    } else {
        ("k, n", "p, j")
    };
    format!(
        "kernel turned(
  e: size, m: size, n: size, k: size,
  a: in i8[e, {a}], b: in i8[e, {b}], bias: in i32[n], out: out i32[e, m, n],
) {{
  for z in 0..e {{ for i in 0..m {{ for j in 0..n {{
    var sum: i32 = bias[j];
    for p in 0..k {{ sum += i32(a[z, {at}]) * i32(b[z, {bt}]); }}
    out[z, i, j] = sum;
  }} }} }}
}}"
    )
}

/// Factors that lie the other way round are transposed by the array, in every order of blocks, where
/// it can do that while it keeps what it is asked to; the host does nothing.
#[test]
fn the_array_transposes_factors() {
    let machines = [gemmini(), super::bench::edited(&[("DIM: 16 ", "DIM: 8 ")])];
    for (left, right) in [(false, true), (true, false), (true, true)] {
        let text = turned(left, right);
        for (outer, buffers) in [
            (LoopOrder::Columns, 2),
            (LoopOrder::Rows, 1),
            (LoopOrder::Rows, 2),
        ] {
            for stationary in [Stationary::Weights, Stationary::Outputs] {
                let constraints = Constraints {
                    tile: Some((2, 3)),
                    plan: Plan {
                        outer,
                        buffers,
                        stationary,
                    },
                    keeps: true,
                    ..Constraints::default()
                };
                let possible = match stationary {
                    Stationary::Weights => !(left && right),
                    Stationary::Outputs => left || !right,
                };
                for machine in &machines {
                    let mapped = mapped(machine, &text, &[2, 35, 50, 21], constraints);
                    match mapped {
                        Ok((_, verdict)) => assert_eq!(verdict, Verdict::Proved),
                        Err(log) => {
                            assert!(log.contains("cannot transpose"), "{log}")
                        }
                    }
                    if possible {
                        let sizes = [1, 70, 33, 90];
                        proposal_agrees(machine, &text, &sizes, constraints);
                        proposal_agrees(machine, &text, &[2, 1, 17, 5], constraints);
                    }
                }
                let proved = mapped(&machines[0], &text, &[1, 20, 18, 17], constraints);
                assert_eq!(proved.is_ok(), possible, "{left} {right} {stationary:?}");
            }
        }
        // What the array keeps is chosen where nothing is demanded.
        agrees(&machines[0], &text, &[2, 18, 20, 33], None);
    }
}

/// A machine whose array has no transposers says so as before: the host lays factors out.
#[test]
fn an_array_without_transposers_is_data() {
    let fields = " | left_transposed << 8 | right_transposed << 9";
    let machine = super::bench::edited(&[(fields, "")]);
    let log = mapped(
        &machine,
        &turned(false, true),
        &[1, 20, 18, 17],
        Constraints::default(),
    );
    let log = log.expect_err("it lies the other way round");
    assert!(log.contains("no loop walks neighbours"), "{log}");
    let program = super::bench::beside_host(&machine, &turned(false, true), &[1, 20, 18, 17]);
    assert_eq!(program.host.len(), 1, "the host lays out the right factor");
}

/// A product of floats.
const FLOATS: &str = "kernel product(
  m: size, n: size, k: size, a: in f32[m, k], b: in f32[k, n], out: out f32[m, n],
) {
  for i in 0..m { for j in 0..n {
    var sum: f32 = 0;
    for p in 0..k { sum += a[i, p] * b[p, j]; }
    out[i, j] = sum;
  } }
}";

/// Floats are summed in the kernel's order, bit by bit, or not at all: stationary outputs do,
/// stationary weights only what one tile sums.
#[test]
fn floats_are_summed_in_order() {
    let machine = super::bench::edited(&[
        ("elem: s8", "elem: f32"),
        ("acc: s32", "acc: f32"),
        ("BLOCKS: 64 / DIM ", "BLOCKS: 1 "),
    ]);
    let constraints = |stationary| Constraints {
        plan: Plan {
            stationary,
            ..Plan::default()
        },
        ..Constraints::default()
    };
    agrees_with(
        &machine,
        FLOATS,
        &[20, 19, 37],
        constraints(Stationary::Outputs),
    );
    agrees_with(
        &machine,
        FLOATS,
        &[20, 19, 16],
        constraints(Stationary::Weights),
    );
    let wrong = mapped(
        &machine,
        FLOATS,
        &[20, 19, 37],
        constraints(Stationary::Weights),
    );
    let wrong = wrong.expect_err("other sums");
    assert!(wrong.contains("before they are added"), "{wrong}");
    assert!(wrong.contains("--stationary outputs"), "{wrong}");
    let begun = FLOATS.replace("n], out:", "n], bias: in f32[n], out:");
    let begun = begun.replace("= 0;", "= bias[j];");
    let wrong = mapped(
        &machine,
        &begun,
        &[4, 5, 6],
        constraints(Stationary::Outputs),
    );
    let wrong = wrong.expect_err("other sums");
    assert!(wrong.contains("would be added last"), "{wrong}");
}
