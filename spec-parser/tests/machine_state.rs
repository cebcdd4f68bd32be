//! What a body says of the machine beside its operands, in bodies of our own: state without an
//! operand, registers by number, bounds of pointers, addresses as numbers, loops that are left under
//! a condition, calls that stand alone.

use semantics::bits::Bits;
use semantics::eval::{CompiledTerms, Input};
use semantics::instruction::Instruction;
use semantics::sort::Sort;
use semantics::span::Source;
use semantics::value::{Memory, Value};
use spec_parser::errata::{self, Errata};
use spec_parser::intel::guide::{self, Loaded};

/// A file with one function.
fn loaded(errata: &Errata, returns: &str, parameters: &[&str], body: &str) -> Loaded {
    let parameters: String = parameters
        .iter()
        .map(|written| {
            let (c_type, name) = written.rsplit_once(' ').expect("a type and a name");
            let name = name
                .split_once(':')
                .map_or((name, ""), |(name, etype)| (name, etype));
            format!(
                "<parameter type=\"{c_type}\" varname=\"{}\" etype=\"{}\"/>",
                name.0, name.1
            )
        })
        .collect();
    let body = body.replace('<', "&lt;").replace('>', "&gt;");
    let text = format!(
        "<list><intrinsic tech=\"T\" name=\"f\"><return type=\"{returns}\" varname=\"dst\"/>\
         {parameters}<operation>{body}</operation></intrinsic></list>"
    );
    guide::load(&Source::new("guide.xml", text), errata).expect("it is XML")
}

/// The function, which the machine's state makes none of its operands alone.
fn system(returns: &str, parameters: &[&str], body: &str) -> Instruction {
    let loaded = loaded(&Errata::default(), returns, parameters, body);
    assert!(loaded.diagnostics.is_empty(), "{}", loaded.diagnostics[0]);
    assert_eq!((loaded.counts.lowered, loaded.counts.system), (1, 1));
    loaded.system.into_iter().next().expect("just counted")
}

/// The function, which is one of its operands and of memory.
fn function(returns: &str, parameters: &[&str], body: &str) -> Instruction {
    let loaded = loaded(&Errata::default(), returns, parameters, body);
    assert!(loaded.diagnostics.is_empty(), "{}", loaded.diagnostics[0]);
    assert_eq!((loaded.counts.lowered, loaded.counts.system), (1, 0));
    loaded
        .instructions
        .into_iter()
        .next()
        .expect("just counted")
}

/// Why it has no meaning.
fn refused(returns: &str, parameters: &[&str], body: &str) -> String {
    let loaded = loaded(&Errata::default(), returns, parameters, body);
    assert_eq!(loaded.counts.lowered, 0);
    loaded.diagnostics[0].message.clone()
}

/// A result on values of operands and state, by name.
fn result(function: &Instruction, name: &str, values: &[(&str, Value)]) -> Value {
    let output = function.outputs.iter().find(|o| o.name == name);
    let term = output.unwrap_or_else(|| panic!("no result `{name}`")).term;
    let inputs: Vec<Input> = values
        .iter()
        .map(|(name, value)| Input {
            name: (*name).to_owned(),
            sort: match value {
                Value::Bv(bits) => Sort::Bv(bits.width()),
                _ => Sort::Mem,
            },
        })
        .collect();
    let program = CompiledTerms::compile(&[term], &inputs).expect("it can be run");
    let values: Vec<Value> = values.iter().map(|(_, v)| v.clone()).collect();
    program.run(&values).remove(0)
}

fn number(width: u32, value: u64) -> Value {
    Value::Bv(Bits::from_u64(width, value))
}

/// A memory of bytes that tell their address, in a way.
fn memory() -> Value {
    Value::Mem(Memory {
        bytes: (0..400).map(|at| (at, byte_at(at))).collect(),
        fill: 7,
    })
}

fn byte_at(at: u64) -> u8 {
    (at * 37 + 11) as u8
}

fn low(value: &Value) -> u64 {
    value.bits().low_u64()
}

#[test]
fn a_source_of_random_numbers_is_read_when_it_is_ready() {
    let body = "IF HW_RND_GEN.ready == 1\n out[31:0] := HW_RND_GEN.data\n dst := 1\n\
                ELSE\n out[31:0] := 0\n dst := 0\nFI\n";
    let f = system("int", &["unsigned int* out:UI32"], body);
    for ready in [0, 1] {
        let values = [
            ("out", number(64, 40)),
            ("HW_RND_GEN_ready", number(1, ready)),
            ("HW_RND_GEN_data", number(64, 0x1122_3344_5566_7788)),
            ("mem", memory()),
        ];
        assert_eq!(low(&result(&f, "dst", &values)), ready);
        let Value::Mem(after) = result(&f, "mem", &values) else {
            panic!("a memory")
        };
        let wanted = if ready == 1 { 0x5566_7788u32 } else { 0 };
        assert_eq!(after.read(40, 4), wanted.to_le_bytes());
        assert_eq!((after.byte(39), after.byte(44)), (byte_at(39), byte_at(44)));
    }
}

#[test]
fn registers_by_number_are_read_and_written() {
    let word = |at: u64| u64::from_le_bytes(std::array::from_fn(|k| byte_at(8 * at + k as u64)));
    let read = system(
        "unsigned __int64",
        &["unsigned int n:UI32"],
        "dst[63:0] := XCR[n]\n",
    );
    let counter = system("__int64", &["int n:UI32"], "dst[63:0] := ReadPMC(n)\n");
    for n in [0, 1, 5] {
        let values = [("n", number(32, n)), ("XCR", memory())];
        assert_eq!(low(&result(&read, "dst", &values)), word(n));
        let values = [("n", number(32, n)), ("PMC", memory())];
        assert_eq!(low(&result(&counter, "dst", &values)), word(n));
    }
    // Only where the condition holds, and the second write is the one that stays.
    let body = "IF v[0]\n MSR[n] := v[63:0]\nFI\nMSR[2] := MSR[n] + 1\n";
    let write = system(
        "void",
        &["unsigned __int64 n:UI64", "unsigned __int64 v:UI64"],
        body,
    );
    for (n, v) in [(3, 9), (3, 8), (2, 5)] {
        let values = [
            ("n", number(64, n)),
            ("v", number(64, v)),
            ("MSR", memory()),
        ];
        let Value::Mem(after) = result(&write, "MSR", &values) else {
            panic!("registers")
        };
        let now = |at: u64| u64::from_le_bytes(after.read(8 * at, 8).try_into().expect("eight"));
        let third = if v & 1 == 1 { v } else { word(n) };
        assert_eq!(now(2), third.wrapping_add(1), "{n} {v}");
        assert_eq!(now(3), if n == 3 { third } else { word(3) }, "{n} {v}");
    }
}

#[test]
fn what_a_pointer_may_touch_belongs_to_it() {
    let body = "dst := p\ndst.LB := p\nIF q.UB < p + size - 1\n dst.UB := q.UB\n\
                ELSE\n dst.UB := p + size - 1\nFI\n";
    let parameters = ["const void * p", "const void * q", "size_t size"];
    let f = system("void *", &parameters, body);
    let values = [
        ("p", number(64, 1000)),
        ("q", number(64, 1)),
        ("size", number(64, 16)),
        ("q_UB", number(64, 1010)),
    ];
    assert_eq!(low(&result(&f, "dst", &values)), 1000);
    assert_eq!(low(&result(&f, "dst_LB", &values)), 1000);
    assert_eq!(low(&result(&f, "dst_UB", &values)), 1010);
    let checked = system("void", &["const void * q"], "IF q > q.UB\n #BR\nFI\n");
    assert!(checked.outputs.is_empty(), "it raises, or does nothing");
}

#[test]
fn a_mode_is_that_of_pointers_and_registers_are_cleared_in_part() {
    let body = "YMM3[MAX:128] := 0\nIF _64_BIT_MODE\n YMM12[MAX:0] := 0\nFI\n";
    let f = system("void", &[], body);
    let names: Vec<&str> = f.outputs.iter().map(|o| o.name.as_str()).collect();
    assert_eq!(names, ["YMM3", "YMM12"]);
    let ones = Value::Bv(Bits::from_u64(1, 1).sext(512));
    let kept = result(&f, "YMM3", &[("YMM3", ones.clone())]);
    assert_eq!(kept.bits(), &Bits::from_u64(1, 1).sext(128).zext(512));
    assert!(result(&f, "YMM12", &[("YMM12", ones)]).bits().is_zero());
}

#[test]
fn calls_that_stand_alone_are_known_or_refused() {
    let set = system(
        "void",
        &["unsigned __int64 r:UI64"],
        "SetPerfMonMask(r[63:0])\n",
    );
    assert_eq!(
        low(&result(&set, "PerfMonMask", &[("r", number(64, 77))])),
        77
    );
    for body in ["BlockThread(r)\n", "CacheLineEvict(r, r)\n"] {
        let f = system("void", &["unsigned int r:UI32"], body);
        assert!(f.outputs.is_empty(), "{body}");
    }
    for body in [
        "BlockThread(r, r)\n",
        "Evaporate(r)\n",
        "CacheLineEvict(nothing, r)\n",
    ] {
        refused("void", &["unsigned int r:UI32"], body);
    }
    let nothing = refused("void", &["unsigned int r:UI32"], "tmp := r\n");
    assert!(nothing.contains("returns nothing"), "{nothing}");
}

/// A loop that is left in the round that operands say.
fn left(body: &str, wanted: impl Fn(u64, u64) -> u64) {
    let f = function(
        "unsigned int",
        &["unsigned int a:UI32", "unsigned int b:UI32"],
        body,
    );
    for (a, b) in [
        (0, 0),
        (1, 0),
        (8, 3),
        (0x55, 200),
        (0x80, 1),
        (0xff, 7),
        (6, 0xffff),
    ] {
        let values = [("a", number(32, a)), ("b", number(32, b))];
        assert_eq!(
            low(&result(&f, "dst", &values)),
            wanted(a, b),
            "{a:x} {b:x}\n{body}"
        );
    }
}

#[test]
fn loops_are_left_under_conditions() {
    // The first bit that is set.
    let first = |a: u64, _: u64| u64::from((a as u8).trailing_zeros().min(8));
    left(
        "n := 0\nFOR j := 0 to 7\n IF a[j]\n  BREAK\n FI\n n := n + 1\nENDFOR\ndst[31:0] := n\n",
        first,
    );
    left(
        "n := 0\nFOR j := 0 to 7\n IF NOT a[j]\n  n := n + 1\n ELSE\n  BREAK\n FI\nENDFOR\ndst[31:0] := n\n",
        first,
    );
    // What stands before the end of a round counts, and what stands behind it does not.
    left(
        "dst[31:0] := 0\nFOR j := 0 to 7\n dst[j] := 1\n IF a[j]\n  dst[8+j] := 1\n  IF b[j]\n   dst[16+j] := 1\n   BREAK\n  FI\n FI\n dst[24+j] := b[j]\nENDFOR\n",
        |a, b| {
            let mut dst = 0;
            for j in 0..8 {
                dst |= 1 << j;
                if a >> j & 1 == 1 {
                    dst |= 1 << (8 + j);
                    if b >> j & 1 == 1 {
                        return dst | 1 << (16 + j);
                    }
                }
                dst |= (b >> j & 1) << (24 + j);
            }
            dst
        },
    );
    // Two ways out in one round, the first of which counts; and a loop inside another.
    left(
        "n := 100\nFOR j := 0 to 7\n IF a[j]\n  n := j\n  BREAK\n FI\n IF b[j]\n  n := 50 + j\n  BREAK\n FI\nENDFOR\ndst[31:0] := n\n",
        |a, b| {
            (0..8)
                .find_map(|j| match (a >> j & 1, b >> j & 1) {
                    (1, _) => Some(j),
                    (_, 1) => Some(50 + j),
                    _ => None,
                })
                .unwrap_or(100)
        },
    );
    left(
        "n := 0\nFOR j := 0 to 3\n FOR i := 0 to 3\n  IF a[i]\n   BREAK\n  FI\n  n := n + 1\n ENDFOR\n IF b[j]\n  BREAK\n FI\nENDFOR\ndst[31:0] := n\n",
        |a, b| {
            let one = u64::from((a as u8 & 15).trailing_zeros().min(4));
            one * (u64::from((b as u8 & 15).trailing_zeros()) + 1).min(4)
        },
    );
    left(
        "n := 0\nDO WHILE n < 8\n IF a[n]\n  BREAK\n FI\n n := n + 1\nOD\ndst[31:0] := n\n",
        first,
    );
    left(
        "n := 0\nFOR j := 0 to 7\n CASE a[1:0] OF\n 0: n := n + 1\n 1:\n  n := n + b[0]\n  BREAK\n DEFAULT: BREAK\n ESAC\nENDFOR\ndst[31:0] := n\n",
        |a, b| match a & 3 {
            0 => 8,
            1 => b & 1,
            _ => 0,
        },
    );
    let outside = refused(
        "int",
        &["int a:SI32"],
        "IF a[0]\n BREAK\nFI\ndst[31:0] := a[31:0]\n",
    );
    assert!(outside.contains("outside a loop"), "{outside}");
}

#[test]
fn a_count_from_a_place_that_is_not_below_zero() {
    let body = "at := from\nIF at < 0\n at := 0\nFI\ndst := 0\nIF at > 31\n dst := 32\nELSE\n\
                DO WHILE ((at < 32) AND x[at] == 0)\n  at := at + 1\n  dst := dst + 1\n OD\nFI\n";
    let f = function("int", &["int from:SI32", "unsigned int x:UI32"], body);
    for (from, x) in [
        (0i32, 8u32),
        (-5, 8),
        (2, 8),
        (3, 8),
        (4, 8),
        (31, 0),
        (32, 1),
        (i32::MAX, 1),
        (i32::MIN, 0),
    ] {
        let start = from.clamp(0, 32) as u32;
        let wanted = if from > 31 {
            32
        } else {
            (start..32).take_while(|k| x >> k & 1 == 0).count() as u64
        };
        let values = [
            ("from", number(32, u64::from(from as u32))),
            ("x", number(32, u64::from(x))),
        ];
        assert_eq!(low(&result(&f, "dst", &values)), wanted, "{from} {x}");
    }
    let below = refused(
        "int",
        &["int from:SI32", "unsigned int x:UI32"],
        "dst[0] := x[from]\n",
    );
    assert!(below.contains("may be negative"), "{below}");
}

/// Elements that lie side by side up to the end of a line of 16 bytes, counted in bytes.
const GATHERED: &str = "DEFINE SIZE(how) {\n CASE how OF\n 0: RETURN 4\n DEFAULT: RETURN 1\n ESAC\n}\n\
    DEFINE FETCH(at, n, how) {\n CASE how OF\n 0: RETURN MEM[at + 4*n]\n\
    DEFAULT: RETURN SignExtend32(MEM[at + n])\n ESAC\n}\n\
    dst[127:0] := src[127:0]\nn := 0\nsize := SIZE(how)\nFOR j := 0 to 3\n IF k[j]\n\
    dst[32*j+31:32*j] := FETCH(p, n, how)\n n := n + 1\n\
    IF ((p + n*size) % 16) == 0\n  BREAK\n FI\n FI\nENDFOR\n";
/// The same the other way, from the line before on.
const SCATTERED: &str = "n := 0\nfound := false\nbase := p - 16\nFOR j := 0 to 3\n IF k[j]\n\
    IF found == false\n IF ((base + (n + 1)*2) % 16) == 0\n  found := true\n FI\n ELSE\n\
    there := base + n*2\n MEM[there] := v[32*j+15:32*j]\n FI\n n := n + 1\n FI\nENDFOR\n";

#[test]
fn an_address_is_a_number_where_a_text_counts_bytes() {
    let parameters = [
        "__m128i src:UI32",
        "__mmask8 k:MASK",
        "void const * p:UI32",
        "int how:IMM",
    ];
    let f = function("__m128i", &parameters, GATHERED);
    let src = Bits::from_u64(128, 0x1_0000_0002);
    for (p, k, how) in [
        (32, 15, 0),
        (36, 15, 0),
        (44, 15, 0),
        (40, 13, 0),
        (47, 15, 1),
        (46, 11, 1),
        (30, 0, 0),
    ] {
        let values = [
            ("src", Value::Bv(src.clone())),
            ("k", number(8, k)),
            ("p", number(64, p)),
            ("how", number(8, how)),
            ("mem", memory()),
        ];
        let found = result(&f, "dst", &values);
        let (size, mut n, mut open) = ([4, 1][how as usize], 0, true);
        for j in 0..4u32 {
            let mut wanted = src.extract(32 * j, 32).low_u64() as u32;
            if k >> j & 1 == 1 && open {
                let at = p + size * n;
                wanted = match size {
                    4 => u32::from_le_bytes(std::array::from_fn(|b| byte_at(at + b as u64))),
                    _ => byte_at(at) as i8 as u32,
                };
                n += 1;
                open = (p + size * n) % 16 != 0;
            }
            let lane = found.bits().extract(32 * j, 32).low_u64();
            assert_eq!(lane, u64::from(wanted), "{p} {k:x} {how} {j}");
        }
    }
    let parameters = ["void * p:UI32", "__mmask8 k:MASK", "__m128i v:UI32"];
    let f = function("void", &parameters, SCATTERED);
    let v = (0..4u32).fold(Bits::zero(128), |v, j| {
        v.insert(32 * j, &Bits::from_u64(32, 0x7101 + u64::from(j)))
    });
    for (p, k) in [(32, 15), (28, 15), (26, 13), (30, 15), (42, 15), (44, 7)] {
        let values = [
            ("p", number(64, p)),
            ("k", number(8, k)),
            ("v", Value::Bv(v.clone())),
            ("mem", memory()),
        ];
        let Value::Mem(after) = result(&f, "mem", &values) else {
            panic!("a memory")
        };
        let mut bytes: Vec<u8> = (0..64).map(byte_at).collect();
        let (mut n, mut found) = (0, false);
        for j in (0..4u64).filter(|j| k >> j & 1 == 1) {
            let at = p - 16 + 2 * n;
            if found {
                let new = (0x7101 + j) as u16;
                bytes[at as usize..][..2].copy_from_slice(&new.to_le_bytes());
            }
            n += 1;
            found |= (p - 16 + 2 * n) % 16 == 0;
        }
        assert_eq!(after.read(0, 64), bytes, "{p} {k:x}");
    }
}

#[test]
fn an_address_that_is_compared_with_a_known_number_is_a_slip_of_the_text() {
    let slip = GATHERED.replace("((p + n*size) % 16) == 0", "(p + n*size % 16) == 0");
    assert_ne!(slip, GATHERED);
    let parameters = [
        "__m128i src:UI32",
        "__mmask8 k:MASK",
        "void const * p:UI32",
        "int how:IMM",
    ];
    let why = refused("__m128i", &parameters, &slip);
    assert_eq!(why, "an address is no number that is known");

    // An erratum names the line, whatever stands around it, and its blanks do not matter.
    let mark = "if(p+n*size%16)==0"
        .to_uppercase()
        .replace("P+N*SIZE", "p+n*size");
    let mark = mark.bytes().fold(0x811c_9dc5u32, |mark, byte| {
        (mark ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    let text = format!(
        "- erratum: line\n  intrinsics: [f]\n  wrong: A bracket.\n  established: By thought.\n  \
         right:\n    lines: {{\"{mark:08x}\": \"IF ((p + size*n) % 16) == 0\"}}\n"
    );
    let errata = errata::parse(&Source::new("errata.yaml", text)).expect("it is right");
    let mended = loaded(&errata, "__m128i", &parameters, &slip);
    let right = loaded(&errata, "__m128i", &parameters, GATHERED);
    assert_eq!(
        mended.instructions[0].outputs[0].term,
        right.instructions[0].outputs[0].term
    );
    assert_eq!(mended.instructions[0].origin.errata, ["line"]);
    assert!(right.instructions[0].origin.errata.is_empty());
    for wrong in ["\"12345\": x := 1", "\"0123abcd\": \"IF a < b\""] {
        let text = format!(
            "- erratum: line\n  intrinsics: [f]\n  wrong: w\n  established: e\n  right:\n    lines: {{{wrong}}}\n"
        );
        errata::parse(&Source::new("errata.yaml", text)).expect_err(wrong);
    }
}
