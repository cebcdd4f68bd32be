//! LLVM IR computes what the kernel's evaluator computes. Needs LLVM's `opt` and `llc`.

mod built;
mod by_hand;

use by_hand::{apply, input, instruction, moves, program, target};
use codegen_gen::llvm::{Unit, emit};
use codegen_gen::lowering::rows as read_rows;
use kernel::data::{Limits, fill, generate, shapes};
use kernel::read;
use kernel::tree::Kernel;
use lowering::lower;
use lowering::window::Lowered;
use semantics::build as b;
use semantics::diagnostic::render;
use semantics::instruction::Element;
use semantics::random::Random;
use semantics::sort::Sort;
use semantics::span::Source;
use semantics::term::Term;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use synth::placement::without_programs;
use test_support::{need, skip_part};
use toolchain::{c, find};

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
    c::compile(name, args, folder).unwrap_or_else(|messages| panic!("{name}: {messages}"));
}

/// LLVM's `opt` and `llc`, or why there are none.
fn llvm() -> Result<[String; 2], String> {
    let found = |name| find::llvm(name).map(|(program, _)| program.display().to_string());
    Ok([found("opt")?, found("llc")?])
}

/// Verifies, compiles and runs a module against the evaluator.
fn check(kernel: &Kernel, unit: &Unit<'_>, [opt, llc]: &[String; 2]) -> String {
    let module = emit(unit, &["a test".to_owned()])
        .unwrap_or_else(|e| panic!("{}: {e}", unit.lowered.kernel.name));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).expect("a folder");
    write("kernel.ll", &module.to_string());
    let verify = ["-passes=verify,default<O1>", "kernel.ll", "-o", "kernel.bc"];
    tool(opt, &verify, folder);
    let object = ["-O2", "-relocation-model=pic", "-filetype=obj"];
    let object = [&object[..], &["kernel.bc", "-o", "kernel.o"]].concat();
    tool(llc, &object, folder);
    built::harnessed(&unit.lowered.kernel, &["-O1", "kernel.o"], folder)
        .unwrap_or_else(|messages| panic!("{messages}"));
    let needed: &[&str] = match unit.features.contains("avx512vnni") {
        true => &["avx512_vnni", "avx512bw"],
        false => &[],
    };
    if let Err(reason) = find::processor(needed) {
        skip_part!("{reason}");
        return module.to_string();
    }
    let edges = shapes(kernel, 16, 1 << 12).into_iter().step_by(3).take(6);
    let edges = edges.map(|sizes| fill(kernel, &sizes, &mut Random::new(3)));
    let limits = Limits {
        size: 70,
        elements: 1 << 13,
    };
    let drawn = (1..=4).filter_map(|seed| generate(kernel, seed, &limits));
    for data in edges.chain(drawn) {
        built::run(kernel, &data, folder).unwrap_or_else(|wrong| panic!("{wrong}"));
    }
    module.to_string()
}

/// A kernel whose windows are all written as their meaning.
fn plain(text: &str, tools: &[String; 2]) -> String {
    let (kernel, lowered) = lowered(text);
    let placement = without_programs(&lowered);
    let unit = Unit {
        features: "+sse4.2",
        ..Unit::plain(&lowered, &placement)
    };
    check(&kernel, &unit, tools)
}

#[test]
fn integers() {
    let tools = need!(llvm());
    plain(
        "kernel integers(n: size, a: in i16[n], b: in i16[n], s: u8, o: out i16[n], p: out u8[n]) {
           for x in 0..n {
             let a = a[x]; let b = b[x];
             o[x] = a / b + a % 7 - (b >> 3) + rounding_mul_shr(a, b, 15) + i16(abs(a)) * clz(b);
             p[x] = u8_sat(avg(a, b)) ^ s + popcount(u8(a)) << u8(absd(a, b) & 7);
           }
         } schedule { vectorize x by 16 tail mask; }",
        &tools,
    );
}

#[test]
fn indices_and_local_arrays() {
    let tools = need!(llvm());
    plain(
        "kernel indices(h: size, w: size, a: in u8[h, w pad 8], o: out i64[h, w]) {
           var t: i32[w];
           for y in 0..h {
             for x in 0..w { t[x] = i32(a.clamped[y - 1, x + 1]) - i32(a[y, clamp(x * 5 - y, 0, w - 1)]); }
             for z in 0..w { o[y, w - 1 - z] = i64(t[z]) * (i64(z) - i64(h / 2)); }
           }
         } schedule { vectorize z by 4; }",
        &tools,
    );
}

#[test]
fn floats() {
    let tools = need!(llvm());
    plain(
        "kernel floats(n: size, s: f64, a: in f32[n], i: in i32[n], o: out f32[n], p: out f64[n], q: inout f32[1]) {
           for x in 0..n {
             let a = a[x];
             o[x] = fma(a, 0.1, sqrt(abs(a))) / floor(a) - select(a < 1, min(a, -a), round_even(a));
             p[x] = f64(a) * s + f64(i[x]);
             reassociate q[0] += f32(i[x] & 3);
           }
         } schedule { vectorize x by 8; }",
        &tools,
    );
}

#[test]
fn floats_of_16_bits_are_refused() {
    let lowered = lowered(
        "kernel small(n: size, a: in bf16[n], o: out bf16[n]) { for x in 0..n { o[x] = a[x] + 1; } }",
    );
    let error =
        emit(&Unit::plain(&lowered.1, &without_programs(&lowered.1)), &[]).map(|m| m.to_string());
    assert_eq!(
        error,
        Err("`fadd` of bf16 is not written in LLVM IR".to_owned())
    );
}

#[test]
fn instructions_by_name_and_by_meaning() {
    let tools = need!(llvm());
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
    let programs = [None, Some(program), None];
    let (kernel, lowered) = &lowered;
    let target = target(&[&instructions, moves().as_slice()].concat());
    let placement = synth::placement::place(lowered, &programs, &target);
    assert!(placement.refused.is_empty(), "{:?}", placement.refused);
    let rows = "_mm512_dpwssd_epi32|<16 x i32>|<16 x i32>;<16 x i32>;<16 x i32>|\
        %4 = call <16 x i32> @llvm.x86.avx512.vpdpwssd.512(<16 x i32> %0, <16 x i32> %1, \
        <16 x i32> %2);ret <16 x i32> %4";
    let (rows, none) = (read_rows(rows).expect("a row"), BTreeMap::new());
    let unit = |rows, features| Unit {
        rows,
        features,
        ..Unit::plain(lowered, &placement)
    };
    let named = check(kernel, &unit(&rows, "+avx512bw,+avx512vnni"), &tools);
    let meant = check(kernel, &unit(&none, "+sse4.2"), &tools);
    assert!(named.contains("call <16 x i32> @llvm.x86.avx512.vpdpwssd.512"));
    assert!(meant.contains("_mm512_dpwssd_epi32 has no name in LLVM here"));
    // The meaning is one of vectors, and loads are LLVM's own.
    assert!(meant.contains("mul <16 x i32>"), "{meant}");
    assert!(meant.contains("load <16 x i32>, ptr"), "{meant}");
    assert!(!meant.contains("loadu_si512"), "{meant}");
}

/// Loops of all lanes, of which some become shuffles and some are put together.
#[test]
fn meanings_are_vectors() {
    let tools = need!(llvm());
    let text = plain(
        "kernel mixed(n: size, a: in i16[n, 16], b: in u8[n, 8], o: out i16[n, 16], p: out u8[n, 8]) {
           for i in 0..n {
             o[i, 0..+16] = shuffle(a[i, 0..+16], [15,14,13,12,11,10,9,8,0,0,1,1,2,2,3,3]) + 1000;
             p[i, 0..+8] = u8_sat(i16(b[i, 0..+8]) - 77) / select(b[i, 0..+8] < 3, 0, 3);
           }
         }",
        &tools,
    );
    for part in [
        "add <16 x i16>",
        "icmp slt <8 x i17>",
        "udiv <8 x i8>",
        "i32 15, i32 14",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("insertelement"), "{text}");
}
