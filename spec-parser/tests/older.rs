//! What older files of the Intrinsics Guide have and newer ones have not, in bodies of our own:
//! enumerations whose numbers no text gives, carries out of lanes, masks behind pointers,
//! operands by number, operands that are overwritten.

use semantics::bits::Bits;
use semantics::eval::{CompiledTerms, Input};
use semantics::instruction::{Instruction, Role};
use semantics::sort::Sort;
use semantics::span::Source;
use semantics::value::{Memory, Value};
use spec_parser::errata::Errata;
use spec_parser::intel::guide;

/// What stands before the name of a parameter: `type name`.
fn parameter(written: &str) -> String {
    let (c_type, name) = written.rsplit_once(' ').expect("a type and a name");
    format!("<parameter type=\"{c_type}\" varname=\"{name}\"/>")
}

/// The one function of a file without element types, as those of old are.
fn function(returns: &str, parameters: &[&str], body: &str) -> Result<Instruction, String> {
    let parameters: String = parameters.iter().map(|p| parameter(p)).collect();
    let text = format!(
        "<list><intrinsic tech=\"T\" name=\"f_epu32\" rettype=\"{returns}\">{parameters}\
         <operation>{body}</operation></intrinsic></list>"
    );
    let source = Source::new("guide.xml", text);
    let mut loaded = guide::load(&source, &Errata::default()).map_err(|d| d.to_string())?;
    match loaded.diagnostics.pop() {
        Some(wrong) => Err(wrong.to_string()),
        None => loaded.instructions.pop().ok_or("no function".to_owned()),
    }
}

/// Every result of a function on values of its operands and a memory of fives.
fn run(function: &Instruction, values: &[Bits], memory: &[(u64, u8)]) -> Vec<Value> {
    let named = function.operands.iter().map(|o| Input {
        name: o.name.clone(),
        sort: o.var().sort(),
    });
    let mut inputs: Vec<Input> = named.collect();
    inputs.push(Input {
        name: "mem".to_owned(),
        sort: Sort::Mem,
    });
    let terms: Vec<_> = function.outputs.iter().map(|o| o.term).collect();
    let program = CompiledTerms::compile(&terms, &inputs).expect("it can be run");
    let mut values: Vec<Value> = values.iter().cloned().map(Value::Bv).collect();
    values.push(Value::Mem(Memory {
        bytes: memory.iter().copied().collect(),
        fill: 5,
    }));
    program.run(&values)
}

fn number(width: u32, value: u64) -> Bits {
    Bits::from_u64(width, value)
}

/// Lanes of 32 bits, the lowest first.
fn lanes(of: impl Fn(u64) -> u64) -> Bits {
    (0..16).fold(Bits::zero(512), |all, lane| {
        all.insert(32 * lane, &number(32, of(u64::from(lane))))
    })
}

fn lane(value: &Value, k: u32) -> u64 {
    value.bits().extract(32 * k, 32).low_u64()
}

/// One element is read and widened as an enumeration says.
const CONVERTED: &str = "CASE conv OF\n\
    _MM_UPCONV_EPI32_SINT16: dst[31:0] := SignExtend32(MEM[at+15:at])\n\
    _MM_UPCONV_EPI32_UINT8: dst[31:0] := ZeroExtend32(MEM[at+7:at])\n\
    _MM_UPCONV_EPI32_NONE: dst[31:0] := MEM[at+31:at]\n\
    _MM_UPCONV_EPI32_UINT16: dst[31:0] := ZeroExtend32(MEM[at+15:at])\n\
    _MM_UPCONV_EPI32_SINT8: dst[31:0] := SignExtend32(MEM[at+7:at])\n\
    ESAC\n";

#[test]
fn an_enumeration_has_the_numbers_of_its_header_in_whatever_order_the_text_names_them() {
    let parameters = ["void const * at", "_MM_UPCONV_EPI32_ENUM conv"];
    let function = function("unsigned int", &parameters, CONVERTED).expect("it has a meaning");
    assert_eq!(function.operands[1].role, Role::Immediate { max: 4 });
    let memory = [(64, 0x90), (65, 0x80)];
    let wanted = [0x0505_8090, 0x90, 0xffff_ff90, 0x8090, 0xffff_8090];
    for (conv, wanted) in wanted.into_iter().enumerate() {
        let values = [number(64, 64), number(8, conv as u64)];
        let found = run(&function, &values, &memory);
        assert_eq!(found[0].bits().to_u64(), Some(wanted), "{conv}");
    }
}

#[test]
fn two_names_of_one_number_are_one_case() {
    let body = "CASE s OF\n_MM_SWIZ_REG_NONE: dst[31:0] := 1\n_MM_SWIZ_REG_DCBA: dst[31:0] := 2\n\
                _MM_SWIZ_REG_CDAB: dst[31:0] := 3\n_MM_SWIZ_REG_DACB: dst[31:0] := 4\nESAC\n";
    let function = function("unsigned int", &["_MM_SWIZZLE_ENUM s"], body);
    let function = function.expect("it has a meaning");
    for (s, wanted) in [(0, 1), (1, 3), (2, 0), (7, 4)] {
        let found = run(&function, &[number(8, s)], &[]);
        assert_eq!(found[0].bits().to_u64(), Some(wanted), "{s}");
    }
}

const ADDED: &str = "FOR j := 0 to 15\n i := j*32\n\
    out[j] := Carry(x[i+31:i] + y[i+31:i] + c[j])\n\
    dst[i+31:i] := x[i+31:i] + y[i+31:i] + c[j]\nENDFOR\n";
const LESS: &str = "FOR j := 0 to 15\n i := j*32\n IF k[j]\n\
    dst[i+31:i] := x[i+31:i] - y[i+31:i] - c[j]\n\
    out[j] := Borrow(x[i+31:i] - y[i+31:i] - c[j])\n\
    ELSE\n dst[i+31:i] := x[i+31:i]\n FI\nENDFOR\n";

#[test]
fn what_a_lane_hands_on_is_written_where_a_pointer_says() {
    let parameters = ["__m512i x", "__mmask16 c", "__m512i y", "__mmask16 * out"];
    let function = function("__m512i", &parameters, ADDED).expect("it has a meaning");
    // Lane 0 just does not, lane 1 just does, lane 2 only by what comes in.
    let x = lanes(|k| [0xffff_fffe, 0xffff_ffff, 0xffff_ffff][k as usize % 3]);
    let y = lanes(|k| [1, 1, 0][k as usize % 3]);
    let carried = 0b0000_0000_0000_0100;
    let values = [x, number(16, carried), y, number(64, 32)];
    let found = run(&function, &values, &[]);
    assert_eq!(found.len(), 2, "the vector and the memory");
    let results: Vec<u64> = (0..3).map(|k| lane(&found[0], k)).collect();
    assert_eq!(results, [0xffff_ffff, 0, 0]);
    let Value::Mem(after) = &found[1] else {
        panic!("a memory")
    };
    let lanes_out = (0..16).filter(|k| k % 3 == 1 || *k == 2);
    let mask = lanes_out.fold(0u16, |mask, k| mask | 1 << k);
    assert_eq!(after.read(32, 2), mask.to_le_bytes());
    assert_eq!((after.byte(31), after.byte(34)), (5, 5));
}

#[test]
fn a_bit_behind_a_pointer_that_no_lane_writes_stays() {
    let parameters = [
        "__m512i x",
        "__mmask16 k",
        "__mmask16 c",
        "__m512i y",
        "__mmask16 * out",
    ];
    let function = function("__m512i", &parameters, LESS).expect("it has a meaning");
    let (x, y) = (lanes(|k| k), lanes(|_| 2));
    for (k, c) in [(0xffff, 0), (0x000f, 0xffff), (0, 0xffff), (0x8006, 4)] {
        let values = [
            x.clone(),
            number(16, k),
            number(16, c),
            y.clone(),
            number(64, 8),
        ];
        let found = run(&function, &values, &[]);
        let mut wanted = 0x0505;
        for j in (0..16u64).filter(|j| k >> j & 1 == 1) {
            let borrows = j < 2 + (c >> j & 1);
            wanted = wanted & !(1 << j) | u64::from(borrows) << j;
            let less = j.wrapping_sub(2).wrapping_sub(c >> j & 1) as u32;
            assert_eq!(lane(&found[0], j as u32), u64::from(less), "{k:x} {j}");
        }
        let Value::Mem(after) = &found[1] else {
            panic!("a memory")
        };
        assert_eq!(after.read(8, 2), (wanted as u16).to_le_bytes(), "{k:x}");
    }
}

#[test]
fn an_operand_is_named_by_its_number() {
    let body = "dst[511:0] := src[511:0]\nFOR m := 0 to 3\n FOR j := 0 to 15\n i := j*32\n\
                dst[i+31:i] := dst[i+31:i] + a{m}[i+15:i] * a{3-m}[i+31:i+16]\n ENDFOR\nENDFOR\n";
    let parameters = ["src", "a0", "a1", "a2", "a3"].map(|name| format!("__m512i {name}"));
    let parameters = parameters.each_ref().map(String::as_str);
    let function = function("__m512i", &parameters, body).expect("it has a meaning");
    let of = |m: u64| lanes(|k| (m + 1) << 16 | (k + 10 * m));
    let found = run(&function, &[lanes(|k| k), of(0), of(1), of(2), of(3)], &[]);
    for k in 0..16 {
        let wanted: u64 = (0..4).map(|m| (k + 10 * m) * (4 - m)).sum();
        assert_eq!(lane(&found[0], k as u32), k + wanted);
    }
    let beyond = body.replace("a{m}", "a{m+1}");
    let wrong = self::function("__m512i", &parameters, &beyond).expect_err("there is no a4");
    assert!(wrong.contains("`a4` has no value"), "{wrong}");
}

#[test]
fn an_operand_that_is_overwritten_is_the_result_where_no_other_is() {
    let parameters = ["__mmask16 k1", "__mmask16 k2"];
    let function = function("__mmask16", &parameters, "k1[15:8] := k2[7:0]\n");
    let function = function.expect("it has a meaning");
    let found = run(&function, &[number(16, 0x1234), number(16, 0x5678)], &[]);
    assert_eq!(found[0].bits().to_u64(), Some(0x7834));
    let other = self::function("__m512i", &parameters, "k1[15:8] := k2[7:0]\n");
    let told = other.expect_err("a mask is no vector");
    assert!(told.contains("assigns no result"), "{told}");
}

#[test]
fn a_carry_is_of_a_sum() {
    let parameters = ["unsigned int a", "unsigned int b"];
    let of = |text: &str| {
        function(
            "unsigned int",
            &parameters,
            &format!("dst[31:0] := {text}\n"),
        )
    };
    assert!(of("Carry(a[31:0] * b[31:0])").is_err());
    let narrow = of("Carry(a[7:0] + b[3:0])").expect("it has a meaning");
    for (a, b, carry) in [(0xff, 1, 1), (0xf0, 15, 0), (0xf1, 15, 1)] {
        let found = run(&narrow, &[number(32, a), number(32, b)], &[]);
        assert_eq!(found[0].bits().to_u64(), Some(carry), "{a} {b}");
    }
}

/// Elements behind a pointer, the memory that is there having a name: one, four or all of them are
/// read, and widened.
const LOADED: &str = "there := MEM[at]\n\
    FOR j := 0 to 15\n i := j*32\n IF k[j]\n\
    CASE bc OF\n\
    _MM_BROADCAST32_NONE:\n CASE conv OF\n\
     _MM_UPCONV_EPI32_NONE:\n n := j*32\n dst[i+31:i] := there[n+31:n]\n\
     _MM_UPCONV_EPI32_SINT8:\n n := j*8\n dst[i+31:i] := SignExtend32(there[n+7:n])\n\
     _MM_UPCONV_EPI32_UINT16:\n n := j*16\n dst[i+31:i] := ZeroExtend32(there[n+15:n])\n ESAC\n\
    _MM_BROADCAST_1X16:\n CASE conv OF\n\
     _MM_UPCONV_EPI32_NONE:\n dst[i+31:i] := there[31:0]\n\
     _MM_UPCONV_EPI32_SINT8:\n dst[i+31:i] := SignExtend32(there[7:0])\n ESAC\n\
    _MM_BROADCAST_4X16:\n mod := j%4\n CASE conv OF\n\
     _MM_UPCONV_EPI32_SINT8:\n n := mod*8\n dst[i+31:i] := SignExtend32(there[n+7:n])\n ESAC\n\
    ESAC\n ELSE\n dst[i+31:i] := src[i+31:i]\n FI\nENDFOR\n";

#[test]
fn memory_with_a_name_is_as_large_as_what_is_looked_at() {
    let parameters = [
        "__m512i src",
        "__mmask16 k",
        "void const * at",
        "_MM_UPCONV_EPI32_ENUM conv",
        "_MM_BROADCAST32_ENUM bc",
    ];
    let function = function("__m512i", &parameters, LOADED).expect("it has a meaning");
    let memory: Vec<(u64, u8)> = (0..64).map(|k| (96 + k, (200 + k) as u8)).collect();
    let byte = |k: u64| (200 + k) & 0xff;
    let signed = |k: u64| u64::from((byte(k) as u8 as i8) as u32);
    let word = |k: u64| byte(2 * k) | byte(2 * k + 1) << 8;
    let quarter = |k: u64| word(2 * k) | word(2 * k + 1) << 16;
    let mask = 0xfff3;
    for (conv, bc, wanted) in [
        (0, 0, &quarter as &dyn Fn(u64) -> u64),
        (2, 0, &signed),
        (3, 0, &word),
        (0, 1, &|_| quarter(0)),
        (2, 1, &|_| signed(0)),
        (2, 2, &|k| signed(k % 4)),
    ] {
        let values = [
            lanes(|k| 1000 + k),
            number(16, mask),
            number(64, 96),
            number(8, conv),
            number(8, bc),
        ];
        let found = run(&function, &values, &memory);
        for k in 0..16 {
            let wanted = if mask >> k & 1 == 1 {
                wanted(k)
            } else {
                1000 + k
            };
            assert_eq!(lane(&found[0], k as u32), wanted, "{conv} {bc} {k}");
        }
    }
}

/// The same the other way: narrowed, and written there.
const STORED: &str = "there := MEM[at]\nFOR j := 0 to 15\n i := j*32\n IF k[j]\n\
    CASE conv OF\n\
    _MM_DOWNCONV_EPI32_NONE:\n there[i+31:i] := v[i+31:i]\n\
    _MM_DOWNCONV_EPI32_SINT8:\n n := j*8\n there[n+7:n] := Saturate8(v[i+31:i])\n\
    _MM_DOWNCONV_EPI32_UINT16:\n n := j*16\n there[n+15:n] := Truncate16(v[i+31:i])\n\
    ESAC\n FI\nENDFOR\n";

#[test]
fn memory_with_a_name_is_written() {
    let parameters = [
        "void * at",
        "__mmask16 k",
        "__m512i v",
        "_MM_DOWNCONV_EPI32_ENUM conv",
    ];
    let function = function("void", &parameters, STORED).expect("it has a meaning");
    let mask = 0x8005u64;
    for (conv, size) in [(0, 4), (2, 1), (3, 2), (4, 0)] {
        let v = lanes(|k| 0x0001_0203 + k);
        let values = [number(64, 40), number(16, mask), v, number(8, conv)];
        let found = run(&function, &values, &[]);
        let Value::Mem(after) = &found[0] else {
            panic!("a memory")
        };
        for at in 0..64u64 {
            let (k, byte) = (
                at.checked_div(size).unwrap_or(99),
                at.checked_rem(size).unwrap_or(0),
            );
            let number = match size {
                1 => 0x7f,
                _ => (0x0001_0203 + k) >> (8 * byte) & 0xff,
            };
            let written = k < 16 && mask >> k & 1 == 1;
            let wanted = if written { number } else { 5 };
            assert_eq!(u64::from(after.byte(40 + at)), wanted, "{conv} at {at}");
        }
    }
}
