//! `--schedule auto`: schedules that are searched for, and what is refused.

use super::{run, written};

#[test]
fn a_schedule_for_tiles_is_found_and_its_program_runs() {
    let (out, err, code) = run(&[
        "map",
        "examples/rvm/product_plain.kernel",
        "--schedule",
        "auto",
        "--size",
        "m=8",
        "--size",
        "n=8",
        "--size",
        "k=48",
        "--run",
        "5",
    ]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("mmaqa.b"), "{out}");
    for part in [
        "space: about",
        "depth 3:",
        "gap: 0: under the model no candidate is better",
        "bound of the best:",
        "schedule {",
        "run: agrees with the evaluator",
    ] {
        assert!(err.contains(part), "{part} in\n{err}");
    }
}

#[test]
fn empty_spaces_and_no_time_are_refused() {
    let kernel = "examples/rvm/product_plain.kernel";
    let map = ["map", kernel, "--schedule", "auto", "--size", "n=8"];
    let (_, err, code) = run(&[&map[..], &["--size", "m=6", "--size", "k=16"]].concat());
    assert_eq!(code, Some(1), "{err}");
    let why = "the search space is empty: no value of `row loop` is left by: the loop down the \
               rows of a tile runs a multiple of 4 times";
    assert!(err.contains(why), "{err}");
    let sizes = ["--size", "m=8", "--size", "k=16", "--schedule-time", "0"];
    let (_, err, code) = run(&[&map[..], &sizes].concat());
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("seconds lie between 0 and 86400"), "{err}");
    let by_hand = ["map", "examples/rvm/conv1d.kernel", "--schedule", "auto"];
    let sizes = ["--size", "oc=16", "--size", "n=8", "--size", "ic=2"];
    let (_, err, code) = run(&[&by_hand[..], &sizes].concat());
    assert_eq!(code, Some(1), "{err}");
    assert!(
        err.contains("`--schedule auto` cannot choose here"),
        "{err}"
    );
}

#[test]
fn the_best_schedules_for_vectors_are_timed() {
    let text =
        "kernel scale(h: size, w: size, a: in f32[h, 4], b: in f32[4, w], o: out f32[h, w]) {
  for y in 0..h { for x in 0..w {
    var sum: f32 = 0;
    for p in 0..4 { sum = fma(a[y, p], b[p, x], sum); }
    o[y, x] = sum;
  } }
} schedule {
  vectorize x by 16 tail mask;
  unroll p by 2;
  jam y by 2;
}";
    let kernel = written("scale.kernel", text);
    let code_file = written("scale.c", "");
    let arguments = [
        "compile",
        &kernel,
        "--schedule",
        "auto",
        "--no-memo",
        "--target",
        "znver4",
    ];
    let sizes = ["--size", "h=16", "--size", "w=64", "-o", &code_file];
    let (out, err, code) = run(&[&arguments[..], &sizes].concat());
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.contains("code found for 1 statements"), "{out}");
    assert!(out.contains("vectorize x by 16 tail mask;"), "{out}");
    assert!(out.contains("gap: 0"), "{out}");
    assert!(
        out.contains("fastest here: ") || out.contains("not timed"),
        "{out}"
    );
}
