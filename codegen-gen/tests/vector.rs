//! Programs become one statement for each instruction, and run as the evaluator says.
//!
//! The programs are written by hand here, so that lowering is tested without a search.

mod built;
mod by_hand;

use autoir::instructions::Implementation;
use autoir::program::{Instance, Node, Program};
use by_hand::{apply, input, instruction, moves, program, target};
use codegen_gen::c::{Unit, emit};
use expect_test::expect;
use kernel::data::{Limits, generate};
use lowering::window::Lowered;
use semantics::bits::Bits;
use semantics::instruction::Element;
use semantics::sort::Sort;
use semantics::span::Source;
use semantics::term::Term;
use test_support::skip_part;
use toolchain::find;

fn lowered(text: &str) -> Lowered {
    let (kernels, diagnostics) = kernel::read(&Source::new("test.kernel", text));
    assert!(
        diagnostics.is_empty(),
        "{}",
        semantics::diagnostic::render(&diagnostics)
    );
    schedule::apply(&kernels[0])
        .and_then(|s| lowering::lower(&s))
        .expect("it can be lowered")
}

/// The C of programs over these instructions and those that move data.
fn code(
    lowered: &Lowered,
    programs: &[Option<Program>],
    instructions: &[(Instance, Implementation)],
) -> String {
    let target = target(&[instructions, &moves()].concat());
    let placement = synth::placement::place(lowered, programs, &target);
    assert!(placement.refused.is_empty(), "{:?}", placement.refused);
    let unit = Unit {
        lowered,
        placement: &placement,
        registers: target.registers(),
        headers: &["immintrin.h".to_owned()],
        align: target.processor().line,
    };
    emit(&unit, &["What it is.".to_owned()], None).to_string()
}

/// Compiles with warnings as errors; runs and compares when the processor has AVX-512 VNNI.
fn check(lowered: &Lowered, code: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let machine = ["-mavx512bw", "-mavx512vnni"];
    let flags = [&["-O2", "-Wall", "-Wextra", "-Werror"][..], &machine].concat();
    built::build(&lowered.kernel, code, &flags, folder.path());
    if let Err(reason) = find::processor(&["avx512_vnni", "avx512bw"]) {
        skip_part!("{reason}");
        return;
    }
    for seed in 1..=6 {
        let kernel = &lowered.kernel;
        let data = generate(kernel, seed, &Limits::default()).expect("sizes are found");
        built::run(kernel, &data, folder.path())
            .unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
    }
}

/// Two sources of 16-bit pairs and a 32-bit accumulator.
const DOT: &str =
    "kernel dot(n: size, a: in i16[n], b: in i16[n], r: out i32[16]) requires n % 32 == 0 {
  var sum: i32x16 = 0;
  for x in 0..n step 32 {
    sum += reduce_add(i32(a[x..+32]) * i32(b[x..+32]), 2);
  }
  r[0..+16] = sum;
}";

#[test]
fn a_dot_product_is_one_intrinsic() {
    let lowered = lowered(DOT);
    let result = Term::var("result", Sort::Bv(512));
    let operands = [("src", 512), ("a", 512), ("b", 512)];
    let dot = instruction(
        "_mm512_dpwssd_epi32",
        &operands,
        Element::Signed(32),
        result,
    );
    let instructions = [dot];
    let mut program = program(&instructions);
    let values = ["sum", "a", "b"].map(|name| program.add(input(name, 0, 512)));
    let sum = program.add(apply(0, &values));
    program.outputs = vec![sum];
    let programs = [None, Some(program), None];
    let code = code(&lowered, &programs, &instructions);
    expect![[r#"
        // What it is.
        #if defined(__GNUC__) && !defined(__clang__)
        #pragma GCC optimize("schedule-insns", "sched-pressure")
        #endif
        #include <immintrin.h>
        #include <stdbool.h>
        #include <stdint.h>
        #include <stdlib.h>
        #include <string.h>

        void dot(int64_t n, const int16_t *restrict a, const int16_t *restrict b, int32_t *restrict r) {
            _Alignas(64) int32_t sum[16];
            // dot.0: line 2
            for (int l = 0; l < 16; l++) {
                sum[l] = 0;
            }
            for (int64_t x = 0; x < n; x += 32) {
                // dot.1: line 4
                const __m512i v_sum = _mm512_loadu_si512(sum);
                const __m512i v_a = _mm512_loadu_si512(&a[x]);
                const __m512i v_b = _mm512_loadu_si512(&b[x]);
                const __m512i t = _mm512_dpwssd_epi32(v_sum, v_a, v_b);
                _mm512_storeu_si512(sum, t);
            }
            // dot.2: line 6
            for (int l = 0; l < 16; l++) {
                r[l] = sum[l];
            }
        }
    "#]]
    .assert_eq(&code);
    check(&lowered, &code);
}

#[test]
fn tables_strides_broadcasts_and_several_registers() {
    let lowered = lowered(
        "kernel mixed(n: size, a: in i16[n, 64], s: i16, t: in i16[n], m: in i16[32, n], r: out i16[n, 64], u: out i16[32, n]) {
           for i in 0..n {
             r[i, 0..+64] = shuffle(a[i, 0..+64], [
               32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63,
               31,30,29,28,27,26,25,24,23,22,21,20,19,18,17,16,15,14,13,12,11,10,9,8,7,6,5,4,3,2,1,0]) + s;
             u[0..+32, i] = m[0..+32, i] + t[i] + 77;
           }
         }",
    );
    let result = Term::var("result", Sort::Bv(512));
    let make = |name: &str, operands: &[(&str, u32)]| {
        instruction(name, operands, Element::Unsigned(16), result)
    };
    let instructions = [
        make("_mm512_add_epi16", &[("a", 512), ("b", 512)]),
        make("_mm512_permutexvar_epi16", &[("idx", 512), ("a", 512)]),
    ];
    let constant = |elements: &mut dyn Iterator<Item = u16>| {
        let bytes: Vec<u8> = elements.flat_map(u16::to_le_bytes).collect();
        Node::Constant(Bits::from_bytes(512, &bytes))
    };
    let mut first = program(&instructions);
    let high = first.add(input("a", 512, 512));
    let low = first.add(input("a", 0, 512));
    // One number in every lane: whichever of them are meant, it is one register.
    let s = [512, 0].map(|lo| first.add(input("s", lo, 512)));
    let reversed = first.add(constant(&mut (0..32u16).rev()));
    let turned = first.add(apply(1, &[reversed, low]));
    first.outputs = [[high, s[0]], [turned, s[1]]]
        .map(|values| first.add(apply(0, &values)))
        .to_vec();
    let mut second = program(&instructions);
    let m = second.add(input("m", 0, 512));
    let t = second.add(input("t", 0, 512));
    let seventy_seven = second.add(constant(&mut [77u16; 32].into_iter()));
    let sum = second.add(apply(0, &[m, t]));
    second.outputs = vec![second.add(apply(0, &[sum, seventy_seven]))];
    let programs = [Some(first), Some(second)];
    check(&lowered, &code(&lowered, &programs, &instructions));
}

/// The C of `r = v + b` and `u = v + b` in rounds of 32 lanes; `v` is written between them, or after.
fn two_sums(rounds: u32, is_between: bool) -> String {
    let mut statements = [
        "r[x..+32] = v[x..+32] + b[x..+32];",
        "u[x..+32] = v[x..+32] + b[x..+32];",
    ]
    .to_vec();
    statements.insert(if is_between { 1 } else { 2 }, "v[x..+32] = b[x..+32];");
    let lowered = lowered(&format!(
        "kernel sums(b: in i16[{0}], r: out i16[{0}], u: out i16[{0}], v: inout i16[{0}]) {{
           for x in 0..{0} step 32 {{ {1} }}
         }}",
        rounds * 32,
        statements.concat(),
    ));
    let result = Term::var("result", Sort::Bv(512));
    let operands = [("a", 512), ("b", 512)];
    let element = Element::Unsigned(16);
    let instructions = [instruction("_mm512_add_epi16", &operands, element, result)];
    let sum = |window: &lowering::window::Window| {
        let mut sum = program(&instructions);
        let names = window.inputs.iter().map(|i| i.name.as_str());
        let values: Vec<_> = names.map(|name| input(name, 0, 512)).collect();
        let values: Vec<_> = values.into_iter().map(|node| sum.add(node)).collect();
        sum.outputs = match values.as_slice() {
            &[a, b] => vec![sum.add(apply(0, &[a, b]))],
            other => other.to_vec(),
        };
        Some(sum)
    };
    let programs: Vec<_> = lowered.windows.iter().map(sum).collect();
    let code = code(&lowered, &programs, &instructions);
    check(&lowered, &code);
    code
}

#[test]
fn what_two_windows_read_is_loaded_once_and_held() {
    let count = |code: &str| {
        (
            code.matches("loadu").count(),
            code.matches("__asm__").count(),
        )
    };
    assert_eq!(count(&two_sums(100, false)), (2, 2));
    // What is written in between is loaded again.
    assert_eq!(count(&two_sums(100, true)), (3, 1));
    // Loops that compilers write out are theirs.
    assert_eq!(count(&two_sums(8, false)), (2, 0));
}
