//! LLVM IR computes what the kernel's evaluator computes. Needs LLVM's `opt` and `llc`.

mod by_hand;

use autoir::instructions::Selection;
use autoir::program::Program;
use by_hand::{apply, input, instruction, program, selection};
use codegen_gen::c::harness;
use codegen_gen::llvm::{Form, FormText, Names, emit};
use kernel::data::{Limits, fill, generate, shapes};
use kernel::tree::Kernel;
use kernel::{eval, read};
use lowering::lower;
use lowering::window::Lowered;
use semantics::build as b;
use semantics::diagnostic::render;
use semantics::instruction::Element;
use semantics::random::Random;
use semantics::sort::Sort;
use semantics::span::Source;
use semantics::term::Term;
use std::fs;
use std::path::Path;
use std::process::Command;
use test_support::{need, skip_part};
use toolchain::find;

fn lowered(text: &str) -> (Kernel, Lowered) {
    let (kernels, diagnostics) = read(&Source::new("test.kernel", text));
    assert!(diagnostics.is_empty(), "{}", render(&diagnostics));
    let lowered = schedule::apply(&kernels[0])
        .and_then(|s| lower(&s))
        .unwrap_or_else(|d| panic!("{}", render(&d)));
    (kernels[0].clone(), lowered)
}

/// Runs a tool in a folder.
fn tool(name: &str, args: &[&str], folder: &Path) {
    let output = Command::new(name).args(args).current_dir(folder).output();
    let output = output.unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(
        output.status.success(),
        "{name}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The flags that the installed LLVM needs, or why there is none.
fn llvm() -> Result<Vec<&'static str>, String> {
    find::on_path("opt")?;
    let output = Command::new(find::on_path("llc")?)
        .arg("--version")
        .output();
    let output = output.map_err(|error| format!("`llc` does not run: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let version = text.split("LLVM version ").nth(1);
    let version = version.and_then(|v| v.split('.').next());
    let version = version.ok_or("`llc` does not say its version")?;
    let old = version.trim().parse::<u32>().is_ok_and(|v| v < 15);
    Ok(if old {
        vec!["-opaque-pointers"]
    } else {
        Vec::new()
    })
}

/// Verifies, compiles and runs a module against the evaluator.
fn check(
    (kernel, lowered): &(Kernel, Lowered),
    programs: &[Option<Program>],
    selection: &Selection,
    names: &Names,
    (attributes, flags): (&str, &[&'static str]),
) -> String {
    let module = emit(lowered, programs, selection, names, &["a test".to_owned()])
        .unwrap_or_else(|e| panic!("{}: {e}", lowered.kernel.name));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).expect("a folder");
    write("kernel.ll", &module.text);
    write("main.c", &harness::harness(&lowered.kernel));
    let all = |rest: &[&'static str]| [flags, rest].concat();
    tool(
        "opt",
        &all(&["-verify", "-S", "kernel.ll", "-o", "verified.ll"]),
        folder,
    );
    let attributes = format!("-mattr={attributes}");
    let mut args: Vec<&str> = all(&["-O2", "-relocation-model=pic", "-filetype=obj"]);
    args.extend([attributes.as_str(), "verified.ll", "-o", "kernel.o"]);
    tool("llc", &args, folder);
    tool(
        "gcc",
        &["-O1", "kernel.o", "main.c", "-o", "program", "-lm"],
        folder,
    );
    let needed: &[&str] = match attributes.contains("avx512vnni") {
        true => &["avx512_vnni", "avx512bw"],
        false => &[],
    };
    if let Err(reason) = find::processor(needed) {
        skip_part!("{reason}");
        return module.text;
    }
    let edges = shapes(kernel, 16, 1 << 12).into_iter().step_by(3).take(6);
    let edges = edges.map(|sizes| fill(kernel, &sizes, &mut Random::new(3)));
    let limits = Limits {
        size: 70,
        elements: 1 << 13,
    };
    let drawn = (1..=4).filter_map(|seed| generate(kernel, seed, &limits));
    for data in edges.chain(drawn) {
        fs::write(folder.join("in"), harness::arguments(kernel, &data)).expect("a folder");
        tool("./program", &["in", "out"], folder);
        let bytes = fs::read(folder.join("out")).expect("the program wrote it");
        let expected = eval::run(kernel, &data).unwrap_or_else(|e| panic!("{e}"));
        for (name, values) in harness::results(kernel, &data, &bytes).expect("the right size") {
            assert_eq!(
                values, expected.arrays[&name],
                "{} on {:?}",
                kernel.name, data.sizes
            );
        }
    }
    module.text
}

/// A kernel whose windows are all written as their meaning.
fn plain(text: &str, flags: &[&'static str]) {
    let lowered = lowered(text);
    check(
        &lowered,
        &vec![None; lowered.1.windows.len()],
        &Selection::default(),
        &Names::new(),
        ("+sse4.2", flags),
    );
}

#[test]
fn integers() {
    let flags = need!(llvm());
    plain(
        "kernel integers(n: size, a: in i16[n], b: in i16[n], s: u8, o: out i16[n], p: out u8[n]) {
           for x in 0..n {
             let a = a[x]; let b = b[x];
             o[x] = a / b + a % 7 - (b >> 3) + rounding_mul_shr(a, b, 15) + i16(abs(a)) * clz(b);
             p[x] = u8_sat(avg(a, b)) ^ s + popcount(u8(a)) << u8(absd(a, b) & 7);
           }
         } schedule { vectorize x by 16 tail mask; }",
        &flags,
    );
}

#[test]
fn indices_and_local_arrays() {
    let flags = need!(llvm());
    plain(
        "kernel indices(h: size, w: size, a: in u8[h, w pad 8], o: out i64[h, w]) {
           var t: i32[w];
           for y in 0..h {
             for x in 0..w { t[x] = i32(a.clamped[y - 1, x + 1]) - i32(a[y, clamp(x * 5 - y, 0, w - 1)]); }
             for z in 0..w { o[y, w - 1 - z] = i64(t[z]) * (i64(z) - i64(h / 2)); }
           }
         } schedule { vectorize z by 4; }",
        &flags,
    );
}

#[test]
fn floats() {
    let flags = need!(llvm());
    plain(
        "kernel floats(n: size, s: f64, a: in f32[n], i: in i32[n], o: out f32[n], p: out f64[n], q: inout f32[1]) {
           for x in 0..n {
             let a = a[x];
             o[x] = fma(a, 0.1, sqrt(abs(a))) / floor(a) - select(a < 1, min(a, -a), round_even(a));
             p[x] = f64(a) * s + f64(i[x]);
             reassociate q[0] += f32(i[x] & 3);
           }
         } schedule { vectorize x by 8; }",
        &flags,
    );
}

#[test]
fn floats_of_16_bits_are_refused() {
    let lowered = lowered(
        "kernel small(n: size, a: in bf16[n], o: out bf16[n]) { for x in 0..n { o[x] = a[x] + 1; } }",
    );
    let error = emit(
        &lowered.1,
        &[None],
        &Selection::default(),
        &Names::new(),
        &[],
    )
    .map(|m| m.text);
    assert_eq!(
        error,
        Err("`fadd` of bf16 is not written in LLVM IR".to_owned())
    );
}

#[test]
fn instructions_by_name_and_by_meaning() {
    let flags = need!(llvm());
    let lowered = lowered(
        "kernel dot(n: size, a: in i16[n], b: in i16[n], r: out i32[16]) requires n % 32 == 0 {
           var sum: i32x16 = 0;
           for x in 0..n step 32 { sum += reduce_add(i32(a[x..+32]) * i32(b[x..+32]), 2); }
           r[0..+16] = sum;
         }",
    );
    let var = |name: &str| Term::var(name, Sort::Bv(512));
    let lane = |of: &str, w: u32, at: Term| {
        b::sext(
            b::extract_at(var(of), b::int_mul(at, Term::int(i64::from(w))), w),
            32,
        )
    };
    let twice = |k: i64| b::int_add(b::int_mul(Term::index(), Term::int(2)), Term::int(k));
    let product = |k: i64| b::mul(lane("a", 16, twice(k)), lane("b", 16, twice(k)));
    let old = b::extract_at(var("src"), b::int_mul(Term::index(), Term::int(32)), 32);
    let term = b::map(16, b::add(old, b::add(product(0), product(1))));
    let operands = [("src", 512), ("a", 512), ("b", 512)];
    let element = Element::Signed(32);
    let instructions = [instruction("_mm512_dpwssd_epi32", &operands, element, term)];
    let mut program = program(&instructions);
    let values = ["sum", "a", "b"].map(|name| program.add(input(name, 0, 512)));
    program.outputs = vec![program.add(apply(0, &values))];
    let selection = selection(&instructions);
    let programs = [None, Some(program), None];
    let sixteen = "<16 x i32>".to_owned();
    let form = Form {
        result: sixteen.clone(),
        operands: vec![sixteen; 3],
        text: FormText::Call("llvm.x86.avx512.vpdpwssd.512".to_owned()),
    };
    let names = Names::from([("_mm512_dpwssd_epi32".to_owned(), form)]);
    let features = "+avx512bw,+avx512vnni";
    let named = check(&lowered, &programs, &selection, &names, (features, &flags));
    let meant = check(
        &lowered,
        &programs,
        &selection,
        &Names::new(),
        ("+sse4.2", &flags),
    );
    assert!(named.contains("call <16 x i32> @llvm.x86.avx512.vpdpwssd.512"));
    assert!(meant.contains("_mm512_dpwssd_epi32 has no name in LLVM here"));
}
