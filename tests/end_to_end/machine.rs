//! Machines: programs that are run, kernels that are mapped.

use super::{root, run, written};

#[test]
fn a_mapped_kernel_is_a_program_that_runs() {
    let listing = written("mapped.s", "");
    let sizes = ["--size", "m=8", "--size", "n=4", "--size", "k=32"];
    let mut arguments = vec![
        "map",
        "examples/rvm/product.kernel",
        "--run",
        "7",
        "-o",
        &listing,
    ];
    arguments.extend(sizes);
    let (out, err, code) = run(&arguments);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("run: agrees with the evaluator"), "{out}");
    assert!(out.contains("4 mmaqa.b"), "{out}");
    assert!(out.contains("order: no hazard in the "), "{out}");
    let (out, err, code) = run(&["sim", &listing]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("1024  products"), "{out}");
}

/// Loops that run as often as those around say are proved at their own sizes.
#[test]
fn triangles_are_proved() {
    let text = "kernel triangle(m: size, k: size, a: in i8[m, k], c: inout i32[m, m]) {
  for i in 0..m { for j in 0..i + 1 { for p in 0..k { c[i, j] += i32(a[i, p]) * i32(a[j, p]); } } }
}";
    let kernel = written("triangle.kernel", text);
    let map = ["map", &kernel, "--size", "m=100", "--size", "k=7", "--run"];
    let (_, err, code) = run(&map);
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("kernel triangle: proved; mapped in"), "{err}");
    assert!(err.contains("agrees with the evaluator"), "{err}");
}

/// Without a seed it is 1; a kernel's file that is taken for one is told.
#[test]
fn map_runs_without_a_seed() {
    let kernel = "examples/rvm/product.kernel";
    let sizes = ["--size", "m=8", "--size", "n=8", "--size", "k=32"];
    let map = [&["map", kernel], &sizes[..], &["--emit", "c", "--run"]].concat();
    let (plain, err, code) = run(&map);
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("run: agrees with the evaluator"), "{err}");
    let (seeded, _, code) = run(&[&map[..], &["1"]].concat());
    assert_eq!((code, seeded), (Some(0), plain));
    for wrong in [kernel, "-1", "x", "18446744073709551616"] {
        let (_, err, code) = run(&["map", "--run", wrong, kernel]);
        assert_eq!(code, Some(1), "{err}");
        let dashed = wrong.starts_with('-') && err.contains("unexpected argument");
        assert!(dashed || err.contains("name the kernel before"), "{err}");
    }
}

/// Each element is a sum of one more: no formula says what all rounds leave, so each round is executed.
#[test]
fn recurrences_are_proved_at_their_sizes() {
    let text = "kernel prefix(n: size, a: in i32[n + 1], c: inout i32[n + 1]) {
  for i in 0..n { c[i + 1] = c[i] + a[i]; }
}";
    let kernel = written("prefix.kernel", text);
    for isa in ["rvm", "gemmini"] {
        let map = ["map", &kernel, "--isa", isa, "--run", "1"];
        let (_, err, _) = run(&[&map[..], &["--size", "n=100"]].concat());
        for part in ["kernel prefix: proved;", "agrees with the evaluator"] {
            assert!(err.contains(part), "{isa}: {part} in\n{err}");
        }
    }
}

/// Each element is a sum of the two before it, and so of twice as many values as the last but one.
const FIBONACCI: &str = "kernel fibonacci(n: size, c: inout i32[n + 2]) {
  for i in 0..n { c[i + 2] = c[i + 1] + c[i]; }
}";

#[test]
fn what_doubles_with_each_round_is_proved_too() {
    let kernel = written("doubles.kernel", FIBONACCI);
    for isa in ["rvm", "amx", "gemmini"] {
        let map = ["map", &kernel, "--isa", isa, "--run", "1"];
        let (_, err, _) = run(&[&map[..], &["--size", "n=1000"]].concat());
        for part in ["kernel fibonacci: proved;", "agrees with the evaluator"] {
            assert!(err.contains(part), "{isa}: {part} in\n{err}");
        }
    }
}

/// More rounds than are executed one by one.
#[test]
fn what_is_not_proved_at_its_sizes_is_told_with_an_exit_code_of_its_own() {
    let kernel = written("fibonacci.kernel", FIBONACCI);
    for isa in ["rvm", "gemmini"] {
        let map = ["map", &kernel, "--isa", isa, "--run", "1"];
        let (_, err, code) = run(&[&map[..], &["--size", "n=2200"]].concat());
        assert_eq!(code, Some(3), "{isa}: {err}");
        for part in [
            "at these sizes the program is not proved to be `fibonacci`: ",
            "kernel fibonacci: not proved; mapped in",
            "agrees with the evaluator",
        ] {
            assert!(err.contains(part), "{isa}: {part} in\n{err}");
        }
    }
}

#[test]
fn convolutions_map_and_agree() {
    let sizes = [
        "--size", "oc=16", "--size", "n=8", "--size", "ic=2", "--run", "3",
    ];
    let mut arguments = vec!["map", "examples/rvm/conv1d.kernel", "--emit", "c"];
    arguments.extend(sizes);
    let (out, err, code) = run(&arguments);
    assert_eq!(code, Some(0), "{err}");
    assert!(
        out.contains("void conv1d(const void *data, const void *weights, void *result)"),
        "{out}"
    );
    assert!(out.contains("\\n\" // mld.w m"), "{out}");
    assert!(err.contains("run: agrees with the evaluator"), "{err}");
}

#[test]
fn a_broken_rule_names_the_instruction() {
    let program = written("broken.s", "mzero m0\nmmasa.w m1, m0, m0\n");
    let (_, err, code) = run(&["sim", &program]);
    assert_eq!(code, Some(1));
    assert!(
        err.contains("`mmasa.w m1, m0, m0`: the register m1 is read"),
        "{err}"
    );
    let endless = written("endless.s", "loop: beq zero, zero, loop\n");
    let (_, err, code) = run(&["sim", &endless, "--steps", "10"]);
    assert_eq!(code, Some(3), "{err}");
    let (_, err, code) = run(&["sim", &endless, "--isa", "x86"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("not as a machine"), "{err}");
}

#[test]
fn memory_goes_in_and_out() {
    let bytes: String = (0..64).map(|k| char::from(b'0' + k % 10)).collect();
    let (image, copy) = (written("image.txt", &bytes), written("copy.txt", ""));
    let text =
        ".set a0, 0x100\n.set a1, 16\n.set a2, 0x200\nmld.w m1, (a0), a1\nmst.w m1, (a2), a1\n";
    let program = written("copy.s", text);
    let (load, save) = (format!("{image}@0x100"), format!("{copy}@0x200+64"));
    let (out, err, code) = run(&["sim", &program, "--trace", "--load", &load, "--save", &save]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("mld.w m1, (a0), a1"), "{out}");
    assert_eq!(
        std::fs::read_to_string(&copy).expect("it was written"),
        bytes
    );
    let (_, err, code) = run(&["sim", &program, "--load", &load, "--memory-size", "64"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("`--memory-size 0x140` is enough"), "{err}");
}

#[test]
fn products_of_three_widths_are_one_operation() {
    let (out, err, code) = run(&["classes", "--isa", "rvm", "--filter", "mmaqa.b"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.starts_with("dot_product_acc("), "{out}");
    assert!(out.contains(": 3 members: "), "{out}");
    let (_, err, code) = run(&["classes", "--isa", "rvm,rvm"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("name each instruction set once"), "{err}");
}

#[test]
fn instruction_sets_may_have_the_same_names() {
    let sets = ["--isa", "rvm,gemmini"];
    let (out, err, code) = run(&[&["explain", "rvm:add", "gemmini:add"], &sets[..]].concat());
    assert_eq!(code, Some(0), "{err}");
    assert!(out.starts_with("Both are add: "), "{out}");
    let (_, err, code) = run(&[&["explain", "rvm:compute"], &sets[..]].concat());
    assert_eq!(code, Some(1));
    assert!(err.contains("there is no intrinsic `rvm:compute`"), "{err}");
}

#[test]
fn products_of_two_machines_are_one_operation() {
    let set = [
        "classes",
        "--isa",
        "rvm,gemmini",
        "--filter",
        "tile_product",
    ];
    let (out, err, code) = run(&set);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.starts_with("dot_product_acc("), "{out}");
    assert!(out.contains(": 5 members: "), "{out}");
}

#[test]
fn the_case_study_side_by_side() {
    let file = "examples/rvm/case_study.kernel";
    let sizes = ["--size", "oc=16", "--size", "n=8", "--size", "ic=2"];
    let (out, err, code) = run(&[&["map", file, "--table"], &sizes[..]].concat());
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(out.matches("  agrees").count(), 6, "{out}");
    assert_eq!(out.matches(" safe ").count(), 6, "{out}");
    let page = written("case_study.html", "");
    let show = ["schedule", file, "--isa", "rvm", "--show", "--html", &page];
    let (out, err, code) = run(&[&show[..], &sizes[..]].concat());
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("-- remove_loop iy"), "{out}");
    assert!(
        out.contains("+     var acc_0: i32[4, 4];  // in m"),
        "{out}"
    );
    let page = std::fs::read_to_string(page).expect("it was written");
    assert!(page.contains("<span class=\"g\">−"), "lines are marked");
}

#[test]
fn every_instruction_of_a_machine_says_how_it_was_checked() {
    let place = tempfile::tempdir().expect("there is room");
    let sets = ["build", "--isa", "rvm,gemmini", "--output", "built"];
    let output = super::isaforge(&sets, place.path());
    assert_eq!(output.status.code(), Some(0), "{}", super::shown(&output));
    let table = place.path().join("built/tables/instructions.json");
    let table = std::fs::read_to_string(table).expect("it was built");
    let table: serde_json::Value = serde_json::from_str(&table).expect("it is JSON");
    for instruction in table["instructions"].as_array().expect("a list") {
        let checks = instruction["checks"].as_array().expect("a list");
        let (isa, name) = (&instruction["isa"], &instruction["name"]);
        let hint = "is the number in `checked.yaml` that of the instructions?";
        assert!(!checks.is_empty(), "{isa}: {name}: {hint}");
    }
}

#[test]
fn machines_are_linted_without_targets() {
    for isa in ["amx", "gemmini", "rvm"] {
        let (out, err, code) = run(&["check", "--isa", isa, "--lint"]);
        assert_eq!(code, Some(0), "{isa}: {err}");
        assert!(out.starts_with("lint\n"), "{out}");
        assert!(out.contains("  instructions\n"), "{out}");
        assert!(out.contains("        0  with faults\n"), "{out}");
        let (_, err, code) = run(&["check", "--isa", isa]);
        assert_eq!(code, Some(1), "{err}");
        assert!(err.contains("there is `--lint`"), "{err}");
    }
}

#[test]
fn where_nothing_can_be_chosen_a_kernel_is_simply_mapped() {
    let file = "kernels/gemmini/residual_add.kernel";
    let more = ["--size", "m=20", "--size", "n=24", "--run", "3"];
    let auto = [
        &["map", file, "--isa", "gemmini", "--schedule", "auto"],
        &more[..],
    ];
    let (_, err, code) = run(&auto.concat());
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("leaves nothing to choose"), "{err}");
    assert!(err.contains("agrees with the evaluator"), "{err}");
}

/// What a report says of time: commands, cycles, products.
fn times(err: &str) -> Vec<&str> {
    let heads = [
        "  run: ",
        "  instructions of the host",
        "  cycles in the model",
        "  products of the array",
    ];
    let log = |line: &&str| heads.iter().any(|head| line.starts_with(head));
    let lines = err.lines().filter(log);
    lines.filter(|l| !l.contains("the evaluator")).collect()
}

#[test]
fn what_an_array_takes_is_known_without_a_run() {
    let layer = ["batch=2", "h=6", "w=5", "c=20", "d=17"];
    let of: &[(&str, &[&str])] = &[
        ("matmul", &["m=33", "n=50", "k=21"]),
        ("matmul", &["m=64", "n=128", "k=96"]),
        ("matmul_full", &["m=100", "n=7", "k=70"]),
        ("residual_add", &["m=45", "n=83"]),
        ("conv3x3", &layer),
        ("conv1x1_pool", &layer),
        ("conv3x3_pool", &layer),
    ];
    for (kernel, sizes) in of {
        for model in ["commands", "host"] {
            let file = format!("kernels/gemmini/{kernel}.kernel");
            let mut args = vec!["map", &file, "--isa", "gemmini", "--cost-model", model];
            args.extend(sizes.iter().flat_map(|size| ["--size", size]));
            let (_, log, _) = run(&args);
            args.extend(["--run", "1"]);
            let (_, ran, code) = run(&args);
            assert_eq!(code, Some(0), "{ran}");
            assert!(times(&ran).len() >= 3, "{ran}");
            assert_eq!(times(&log), times(&ran), "{kernel} {sizes:?} {model}");
        }
    }
    // Products of 256³ tiles, each of which takes 16 cycles, and a configuration.
    let large = ["m=4096", "n=4096", "k=4096"].map(|size| ["--size", size]);
    let map = ["map", "kernels/gemmini/matmul.kernel", "--isa", "gemmini"];
    let (_, err, code) = run(&[&map[..], &large.concat()].concat());
    assert_eq!(code, Some(0), "{err}");
    let execute = format!("execute {} ", 16 * 256_u64.pow(3) + 1);
    assert!(err.contains(&execute), "{err}");
}

#[test]
fn one_kernel_that_cannot_be_mapped_leaves_the_others() {
    let good = std::fs::read_to_string(super::root().join("examples/rvm/product.kernel"));
    let good = good.expect("our example");
    let bad = "kernel odd(a: in f32[3], c: out f32[3]) { for i in 0..3 { c[i] = a[i] * a[i]; } }\n";
    let file = written("some.kernel", &format!("{bad}{good}"));
    let sizes = [
        "--size", "m=8", "--size", "n=4", "--size", "k=32", "--run", "7",
    ];
    let (out, err, code) = run(&[&["map", &file], &sizes[..]].concat());
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("tile instruction"), "{err}");
    assert!(
        err.contains("no tile instruction computes this either"),
        "{err}"
    );
    assert!(err.contains("kernel product: proved; mapped in"), "{err}");
    assert!(out.contains("mmaqa.b m"), "{out}");
    // Alone it leaves nothing, not even an empty file.
    let alone = written("alone.kernel", bad);
    let (out, _, code) = run(&["map", &alone]);
    assert_eq!((out.as_str(), code), ("", Some(1)));
}

#[test]
fn what_no_tile_instruction_does_is_left_to_the_host_and_told() {
    let text = "kernel blur(a: in i8[9, 9], c: out i16[8, 8]) { for i in 0..8 { for j in 0..8 { \
                c[i, j] = i16(a[i, j]) + i16(a[i + 1, j + 1]); } } }\n";
    let file = written("blur.kernel", text);
    for isa in ["rvm", "amx"] {
        let (out, err, code) = run(&["map", &file, "--isa", isa, "--run", "2"]);
        assert_eq!(code, Some(3), "{isa}: {err}");
        assert!(
            err.contains("warning: the host computes `blur` without tiles"),
            "{err}"
        );
        assert!(err.contains("run: agrees with the evaluator"), "{err}");
        assert!(out.contains("\nlb "), "{out}");
    }
}

#[test]
fn products_of_any_size_are_tiles_and_what_is_left_over() {
    let file = "examples/rvm/product_plain.kernel";
    let sizes = ["--size", "m=17", "--size", "n=5", "--size", "k=33"];
    let (_, err, code) = run(&[&["map", file, "--run", "3"], &sizes[..]].concat());
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("run: agrees with the evaluator"), "{err}");
    assert!(err.contains(" mmaqa.b"), "{err}");
    assert!(!err.contains(", 0 bytes"), "{err}");
    // The same above the size up to which tiles are written out, and searched for.
    let sizes = ["--size", "m=40", "--size", "n=36", "--size", "k=64"];
    let auto = ["--schedule", "auto", "--loops", "--schedule-time", "5"];
    let (_, err, code) = run(&[&["map", file, "--run", "3"], &sizes[..], &auto[..]].concat());
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("tiles in loops"), "{err}");
    assert!(err.contains("run: agrees with the evaluator"), "{err}");
}

/// What cannot be counted in the time there is is mapped as usual, and that is told.
#[test]
fn a_search_is_no_longer_than_its_time() {
    let file = "examples/rvm/product_plain.kernel";
    let sizes = ["--size", "m=300", "--size", "n=200", "--size", "k=100"];
    let auto = ["--schedule", "auto", "--schedule-time", "0.001"];
    let (_, err, code) = run(&[&["map", file], &sizes[..], &auto[..]].concat());
    assert_eq!(code, Some(0), "{err}");
    let why = "it takes more time to count it than there is";
    assert!(err.contains("the usual groups of tiles, after 0."), "{err}");
    assert!(err.contains(why), "{err}");
    assert!(err.contains("kernel product: proved"), "{err}");
}

#[test]
fn schedules_name_the_machine() {
    let file = "examples/rvm/product_rows.kernel";
    let sizes = ["--size", "m=18", "--size", "n=9", "--size", "k=16"];
    let (out, err, code) = run(&[&["schedule", file, "--isa", "rvm"], &sizes[..]].concat());
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("in m"), "{out}");
    assert!(out.contains("for i_left in 16..18"), "{out}");
    let (_, err, code) = run(&["schedule", file]);
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("`ROWS`"), "{err}");
    let specs = tempfile::tempdir().expect("there is room");
    let folder = specs.path().join("rvm");
    std::fs::create_dir(&folder).expect("there is room");
    for entry in std::fs::read_dir(super::root().join("isa-specs/rvm")).expect("our data") {
        let entry = entry.expect("a file");
        let text = std::fs::read_to_string(entry.path()).expect("text");
        let text = text.replacen("ROWS: 4 ", "ROWS: 8 ", 1);
        std::fs::write(folder.join(entry.file_name()), text).expect("there is room");
    }
    let specs = specs.path().to_str().expect("a name").to_owned();
    let eight = ["--isa-specs", &specs, "--run", "2"];
    let sizes = ["--size", "m=16", "--size", "n=32", "--size", "k=16"];
    for file in [file, "examples/rvm/product.kernel"] {
        let (_, err, code) = run(&[&["map", file], &eight[..], &sizes[..]].concat());
        assert_eq!(code, Some(0), "{err}");
        assert!(err.contains("run: agrees with the evaluator"), "{err}");
    }
    let study = ["map", "examples/rvm/case_study.kernel"];
    for sizes in [
        ["--size", "oc=32", "--size", "n=16", "--size", "ic=4"],
        ["--size", "oc=37", "--size", "n=19", "--size", "ic=5"],
    ] {
        let (_, err, code) = run(&[&study[..], &eight[..], &sizes[..]].concat());
        assert_eq!(code, Some(0), "{err}");
        assert!(!err.contains("left out"), "{err}");
        assert_eq!(err.matches("run: agrees").count(), 6, "{err}");
    }
}

#[test]
fn tiles_of_a_schedule_need_not_be_filled() {
    let of = |file: &str, sizes: &[&str]| {
        let sizes = sizes.iter().flat_map(|s| ["--size", *s]);
        let arguments: Vec<&str> = ["map", file, "--run", "3"]
            .into_iter()
            .chain(sizes)
            .collect();
        let (_, err, code) = run(&arguments);
        assert_eq!(code, Some(0), "{err}");
        err
    };
    let study = "examples/rvm/case_study.kernel";
    for (oc, n, ic) in [(37, 21, 3), (17, 4, 1), (16, 7, 2), (1, 1, 1), (5, 30, 2)] {
        let sizes = [format!("oc={oc}"), format!("n={n}"), format!("ic={ic}")];
        let err = of(study, &sizes.each_ref().map(String::as_str));
        assert_eq!(err.matches(": proved;").count(), 6, "{err}");
        assert_eq!(err.matches("run: agrees").count(), 6, "{err}");
        let log = err.matches("iterations of `").count() > 0;
        assert_eq!(log, (oc, n) != (16, 4), "{err}");
    }
    // What is left over is tiles, too, and it is told.
    let rows = "examples/rvm/product_rows.kernel";
    let err = of(rows, &["m=37", "n=22", "k=19"]);
    assert!(
        err.contains("for 36 of 37 iterations of `i`, which fill its tiles"),
        "{err}"
    );
    assert!(err.contains("kernel product: proved;"), "{err}");
    let err = of(rows, &["m=3", "n=22", "k=19"]);
    assert!(
        err.contains("left out: 3 iterations of `i` fill no tile of 4"),
        "{err}"
    );
}

/// What is searched for is what is mapped: a sum that is added to its target is no choice of the array.
#[test]
fn a_sum_added_to_its_target_is_mapped_with_a_search_too() {
    let text = "\
kernel added(m: size, n: size, k: size, a: in i8[m, k], b: in i8[k, n], c: inout i32[m, n]) {
  for i in 0..m {
    for j in 0..n {
      var s: i32 = 0;
      for p in 0..k { s += i32(a[i, p]) * i32(b[p, j]); }
      c[i, j] += s;
    }
  }
}
";
    let file = written("added.kernel", text);
    let sizes = ["--size", "m=20", "--size", "n=33", "--size", "k=17"];
    for schedule in ["written", "auto"] {
        let map = [
            "map",
            &file,
            "--isa",
            "gemmini",
            "--run",
            "1",
            "--schedule",
            schedule,
        ];
        let (_, err, code) = run(&[&map[..], &sizes[..]].concat());
        assert_eq!(code, Some(0), "{err}");
        assert!(err.contains("kernel added: proved;"), "{err}");
        assert!(err.contains("agrees with the evaluator"), "{err}");
    }
}

/// Both factors of what is summed are shifted by a zero point: tiles multiply bytes with a sign.
#[test]
fn products_of_two_zero_points_are_proved() {
    let text = "\
kernel zeros(m: size, n: size, k: size, a: in u8[m, k], b: in u8[k, n], c: out i32[m, n]) {
  for i in 0..m {
    for j in 0..n {
      var s: i32 = 0;
      for p in 0..k { s += (i32(a[i, p]) - 128) * (i32(b[p, j]) - 128); }
      c[i, j] = s;
    }
  }
}
";
    let file = written("zeros.kernel", text);
    let sizes = ["--size", "m=5", "--size", "n=31", "--size", "k=18"];
    let (_, err, code) = run(&[&["map", &file, "--run", "1"], &sizes[..]].concat());
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("kernel zeros: proved;"), "{err}");
    assert!(err.contains("agrees with the evaluator"), "{err}");
}

/// Blocks that are written out are not all that a search looks at: loops take less here.
#[test]
fn a_search_takes_loops_where_they_take_less() {
    let file = "examples/rvm/product_plain.kernel";
    let sizes = ["--size", "m=16", "--size", "n=16", "--size", "k=64"];
    let cycles = |more: &[&str]| {
        let (_, err, code) = run(&[&["map", file, "--run", "1"], &sizes[..], more].concat());
        assert_eq!(code, Some(0), "{err}");
        assert!(err.contains("run: agrees with the evaluator"), "{err}");
        let (_, log) = err
            .split_once("cycles in the model `described`: ")
            .expect("cycles");
        let number = log.split(' ').next().expect("a number");
        number.parse::<u64>().expect("a number")
    };
    let (best, loops) = (
        cycles(&["--schedule", "auto"]),
        cycles(&["--schedule", "auto", "--loops"]),
    );
    let plain = cycles(&[]);
    assert!(best <= loops.min(plain), "{best} {loops} {plain}");
}

/// More values at once than a host has registers: all of them are needed twice, the first with the last.
#[test]
fn values_without_a_register_are_in_memory() {
    use std::fmt::Write as _;
    for (count, isa) in [(24_usize, "rvm"), (70, "rvm"), (40, "gemmini")] {
        let mut text = format!("kernel many(n: size, x: in i32[n + {count}], y: out i32[n]) {{\n");
        text += "  for i in 0..n {\n";
        for k in 0..count {
            let _ = writeln!(text, "    let t{k} = x[i + {k}] * x[i + {k}] + {k};");
        }
        let pairs: Vec<String> = (0..count)
            .map(|k| format!("t{k} * t{}", count - 1 - k))
            .collect();
        let _ = writeln!(text, "    y[i] = {};\n  }}\n}}", pairs.join(" + "));
        let file = written(&format!("many_{count}_{isa}.kernel"), &text);
        let (_, err, code) = run(&["map", &file, "--isa", isa, "--size", "n=13", "--run", "1"]);
        assert_eq!(code, Some(3), "{err}");
        assert!(err.contains("kernel many: proved;"), "{err}");
        assert!(err.contains("agrees with the evaluator"), "{err}");
    }
}

/// A report begins with what it is about: nothing else is printed.
#[test]
fn nothing_is_printed_but_the_report() {
    let file = "examples/rvm/conv1d_plain.kernel";
    let sizes = ["--size", "oc=37", "--size", "n=37", "--size", "ic=3"];
    let (_, err, code) = run(&[&["map", file], &sizes[..]].concat());
    assert_eq!(code, Some(0), "{err}");
    assert!(
        err.starts_with("kernel conv1d: proved; mapped in "),
        "{err}"
    );
}

/// What keeps programs from a machine is found without a kernel.
#[test]
fn what_cannot_be_mapped_to_is_found_by_the_lint() {
    let slips = [
        (
            "amx",
            "manifest.yaml",
            "value: ROWS, times: TILES",
            "value: ROWS, times: TILES - 1",
            "fewer bytes than are loaded",
        ),
        (
            "amx",
            "manifest.yaml",
            "{value: RLEN / 8,",
            "{value: 48,",
            "`tdpbssd` requires something else than is loaded",
        ),
        (
            "gemmini",
            "manifest.yaml",
            "1 | shrunk << 2",
            "1 | shrinked << 2",
            "its packing `load.first` has a field `shrinked`",
        ),
        (
            "rvm",
            "matrix.yaml",
            "mem.u32[rs1 + i*rs2 + 4*j] =",
            "mem.u32[rs1 + i*rs2 + j] =",
            "no instruction stores a tile",
        ),
    ];
    for (isa, file, from, to, message) in slips {
        let folder = tempfile::tempdir().expect("there is room");
        let set = folder.path().join(isa);
        std::fs::create_dir(&set).expect("there is room");
        for entry in std::fs::read_dir(root().join("isa-specs").join(isa)).expect("it is there") {
            let path = entry.expect("it can be read").path();
            std::fs::copy(&path, set.join(path.file_name().expect("a file")))
                .expect("there is room");
        }
        let specs = folder.path().to_str().expect("it is text");
        let check = ["check", "--isa", isa, "--isa-specs", specs, "--lint"];
        let (_, err, code) = run(&check);
        assert_eq!(code, Some(0), "{err}");
        let text = std::fs::read_to_string(set.join(file)).expect("it is there");
        assert!(text.contains(from), "{file}: {from}");
        std::fs::write(set.join(file), text.replacen(from, to, 1)).expect("there is room");
        let (_, err, code) = run(&check);
        assert_eq!(code, Some(1), "{isa}: {to}\n{err}");
        assert!(
            err.contains(message) && err.contains("manifest.yaml:"),
            "{err}"
        );
    }
}
