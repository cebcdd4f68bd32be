//! `--schedule auto`: schedules that are searched for, and what is refused.

use super::{run, written};
use test_support::skip;

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
    // Sizes that are no multiples of tiles are tiles in loops, and what is left over.
    let (_, err, code) = run(&[&map[..], &["--size", "m=6", "--size", "k=16"]].concat());
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("tiles in loops"), "{err}");
    // What is decided beside the kernel is kept, and leaves nothing.
    let text = std::fs::read_to_string(super::root().join(kernel)).expect("our example");
    let text = format!("{} schedule {{ split i by 6 into b; }}\n", text.trim_end());
    let decided = written("decided.kernel", &text);
    let sizes = ["--size", "m=8", "--size", "n=8", "--size", "k=16"];
    let auto = ["map", &decided, "--schedule", "auto"];
    let (_, err, code) = run(&[&auto[..], &sizes].concat());
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("this leaves no schedule"), "{err}");
    let sizes = ["--size", "m=8", "--size", "k=16", "--schedule-time", "0"];
    let (_, err, code) = run(&[&map[..], &sizes].concat());
    assert_eq!(code, Some(1), "{err}");
    assert!(
        err.contains("seconds are more than 0 and at most 86400"),
        "{err}"
    );
    let by_hand = ["map", "examples/rvm/conv1d.kernel", "--schedule", "auto"];
    let sizes = ["--size", "oc=16", "--size", "n=8", "--size", "ic=2"];
    let (_, err, code) = run(&[&by_hand[..], &sizes].concat());
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("tiles in loops"), "{err}");
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
    assert!(out.contains("schedule: at h = 16, w = 64"), "{out}");
    assert!(out.contains(" schedules of 1 nests costed"), "{out}");
    let given = "    vectorize x by 16 tail mask;\n    unroll p by 2;\n    jam y by 2;\n";
    assert!(out.contains(given), "{out}");
    assert!(
        out.contains("fastest here: ") || out.contains("not timed"),
        "{out}"
    );
}

#[test]
fn what_is_decided_for_a_systolic_array_is_kept_and_the_rest_is_found() {
    let map = ["map", "kernels/gemmini/matmul.kernel", "--isa", "gemmini"];
    let sizes = ["--size", "m=20", "--size", "n=40", "--size", "k=17"];
    let auto = ["--schedule", "auto", "--run", "3"];
    let decided = ["--outer", "rows", "--stationary", "outputs"];
    let (_, err, code) = run(&[&map[..], &sizes, &auto, &decided].concat());
    assert_eq!(code, Some(0), "{err}");
    for part in [
        "outermost rows, buffers ",
        "stationary outputs",
        "gap: 0: under the model no candidate is better",
        "bound of the best:",
        "kernel matmul: proved; mapped in",
        "result: agrees with the evaluator",
    ] {
        assert!(err.contains(part), "{part} in\n{err}");
    }
    let one_block = ["--tile", "1x3"];
    let (_, err, code) = run(&[&map[..], &sizes, &auto, &decided, &one_block].concat());
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("the search space is empty"), "{err}");
    let rvm = ["map", "examples/rvm/product_plain.kernel", "--buffers", "1"];
    let (_, err, code) = run(&rvm);
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("rvm has no systolic array"), "{err}");
}

/// A product of 16-bit integers as one writes it down; the second time nothing is searched for.
#[test]
fn the_fastest_schedule_for_vectors_is_kept() {
    let text = "kernel matmul(k: size, a: in i16[2, k], b: in i16[k, 32], c: out i32[2, 32]) {
  for y in 0..2 { for x in 0..32 {
    var sum: i32 = 0;
    for p in 0..k { sum += i32(a[y, p]) * i32(b[p, x]); }
    c[y, x] = sum;
  } }
} schedule {
  vectorize x by 16 tail mask;
  unroll p by 2;
  jam y by 2;
}";
    let kernel = written("kept.kernel", &unseen(text));
    let code_file = written("kept.c", "");
    let compile = ["compile", &kernel, "--schedule", "auto", "--size", "k=64"];
    let arguments = [&compile[..], &["-o", &code_file]].concat();
    let (first, err, code) = run(&arguments);
    assert_eq!(code, Some(0), "{first}{err}");
    if !first.contains("fastest here: ") {
        skip!("this machine runs none of the candidates: {first}");
    }
    let (second, err, code) = run(&arguments);
    assert_eq!(code, Some(0), "{second}{err}");
    assert!(
        second.contains("schedule: kept from a search before"),
        "{second}"
    );
    let schedule = |out: &str| {
        let from = out.find("schedule {").expect("a schedule");
        let end = from + out[from..].find('}').expect("its end");
        out[from..end].to_owned()
    };
    assert_eq!(schedule(&first), schedule(&second));
}

/// A text that no run before has kept a schedule for.
fn unseen(text: &str) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    format!("// {:?}\n{text}", now.expect("it is after 1970"))
}

/// Kernels that are more than one nest of loops around one sum; nothing is written beside them.
const PLAIN: &str = "kernel blur(h: size, w: size, img: in u8[h, w], o: out u8[h, w]) {
  var rows: u16[h, w];
  for y in 0..h { for x in 0..w {
    rows[y, x] = u16(img.clamped[y, x - 1]) + 2 * u16(img.clamped[y, x]) + u16(img.clamped[y, x + 1]);
  } }
  for y in 0..h { for x in 0..w {
    o[y, x] = u8((rows.clamped[y - 1, x] + 2 * rows.clamped[y, x] + rows.clamped[y + 1, x] + 8) >> 4);
  } }
}
kernel centred(h: size, w: size, a: in i16[h, w], o: out i16[h, w], sums: out i32[h]) {
  for y in 0..h {
    var sum: i32 = 0;
    var m: i16 = 0;
    for x in 0..w { sum += i32(a[y, x]); m = max(m, a[y, x]); }
    sums[y] = sum;
    for x in 0..w { o[y, x] = sat_sub(a[y, x], m); }
  }
}
kernel counted(n: size, a: in u8[n], counts: out u32[256]) {
  for z in 0..256 { counts[z] = 0; }
  for x in 0..n { for i in 0..256 at a[x] { counts[i] += 1; } }
}
kernel running(n: size, a: in i32[n], o: out i32[n]) {
  var s: i32 = 0;
  for x in 0..n { s += a[x] * a[x]; o[x] = s; }
}
";

#[test]
fn kernels_of_every_kind_get_a_schedule() {
    let kernel = written("plain.kernel", &unseen(PLAIN));
    let code_file = written("plain.c", "");
    let arguments = ["compile", &kernel, "--schedule", "auto", "-o", &code_file];
    let (out, err, code) = run(&[&arguments[..], &["--target", "x86-64-v3", "--run"]].concat());
    assert!(matches!(code, Some(0 | 3)), "{out}{err}");
    assert!(
        !out.contains("differs") && !err.contains("error"),
        "{out}{err}"
    );
    for part in [
        "another loop `y` is called `y2`",
        " schedules of 2 nests costed",
    ] {
        assert!(out.contains(part), "{part} in {out}");
    }
    // Which of the cheapest is the fastest here is for the machine to say: a short loop may do without
    // lanes. Sums along the way have none, and what has none is told.
    let kernels: Vec<&str> = out.split("\nkernel ").skip(1).collect();
    let vectors = |text: &&str| text.matches("    vectorize ").count();
    let found: Vec<usize> = kernels.iter().map(vectors).collect();
    let lanes = matches!(found[..], [blur, centred, _, 0] if blur > 0 && centred > 0);
    assert!(lanes, "{found:?}: {out}");
    let plain = "warning: no iterations of these loops became lanes";
    assert!(err.matches(plain).count() >= 2, "{err}");
}

#[test]
fn transpositions_are_turned_in_blocks() {
    let text = "kernel transposed(m: size, n: size, a: in u8[m, n], o: out u8[n, m]) {
  for i in 0..n { for j in 0..m { o[i, j] = a[j, i]; } }
}
kernel written_by_columns(m: size, n: size, a: in f32[m, n], o: out f32[n, m]) {
  for j in 0..m { for i in 0..n { o[i, j] = 2.0 * a[j, i]; } }
}
";
    let kernel = written("transposed.kernel", &unseen(text));
    let code_file = written("transposed.c", "");
    let arguments = ["compile", &kernel, "--schedule", "auto", "-o", &code_file];
    let (out, err, code) = run(&[&arguments[..], &["--target", "x86-64-v3", "--run"]].concat());
    // What is left over at the edges may be computed element by element.
    assert!(matches!(code, Some(0 | 3)), "{out}{err}");
    assert!(
        !out.contains("differs") && !err.contains("error"),
        "{out}{err}"
    );
    for text in out.split("\nkernel ").skip(1) {
        for part in ["    jam i by ", "    vectorize j by "] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
