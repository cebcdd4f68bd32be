//! Instructions that are tried in the guide: what the page computes is what the interpreter says,
//! the form shows it element by element, and the address keeps it.

use super::browser::Browser;
use super::guide::{BUILD, SHOWN, browser};
use autoir::dictionary::{Binding, Dictionary, Member, Operation};
use semantics::bits::Bits;
use semantics::eval::CompiledTerms;
use semantics::instruction::{Operand, Role};
use semantics::random::Random;
use semantics::span::Source;
use semantics::value::{Memory, Value};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use test_support::{need, skip};

/// Members of each operation that are tried, the first, the last and some between.
const OF_EACH: usize = 3;

/// The fewest results that are compared.
const LEAST: usize = 1_000;

/// So many are asked for at a time.
const AT_ONCE: usize = 200;

/// Values for the operands of an instruction and the memory.
struct Given {
    bits: BTreeMap<String, Bits>,
    memory: Memory,
}

fn operand(operand: &Operand, number: u64, random: &mut Random) -> Bits {
    if operand.role.is_pointer() {
        return Bits::from_u64(operand.width, (number + 1) << 16);
    }
    if let Some(all) = operand.role.constants() {
        let value = all
            .nth(random.below(all.count()))
            .expect("a rank below the count");
        return Bits::from_u64(operand.width, u64::from(value));
    }
    // Numbers at the ends and floats that are none come up in random bits too seldom.
    let ends = [
        0,
        1,
        0x7f,
        0x80,
        0xff,
        0x7f80_0000,
        0x7fc0_0000,
        0x7ff0_0000,
        0xffff_ffff,
        0x3f80_0000,
    ];
    let mut bits = random.bits(operand.width);
    for at in (0..operand.width.saturating_sub(31)).step_by(32) {
        if random.below(4) == 0 {
            bits = bits.insert(at, &Bits::from_u64(32, *random.pick(&ends)));
        }
    }
    bits
}

fn given(member: &Member, random: &mut Random) -> Given {
    let mut given = Given {
        bits: BTreeMap::new(),
        memory: Memory::default(),
    };
    let scaled = member.operands.iter().any(|o| o.role == Role::Scale);
    for (number, one) in (0..).zip(&member.operands) {
        let mut bits = operand(one, number, random);
        if scaled && one.role == Role::Register {
            // Small steps from the address, so that what is read was given.
            for at in (0..one.width).step_by(8).filter(|at| at % 32 != 0) {
                bits = bits.insert(at, &Bits::zero(8));
            }
        }
        if one.role.is_pointer() {
            let bytes: Vec<u8> = (0..512).map(|_| random.below(256) as u8).collect();
            given.memory.write(bits.low_u64(), &bytes);
        }
        given.bits.insert(one.name.clone(), bits);
    }
    given
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string grows");
        text
    })
}

/// The bits of a value, or the bytes of a memory that are not as given, one by one.
fn written(value: &Value, before: &Memory) -> String {
    match value {
        Value::Bv(bits) => {
            let mut bytes = bits.to_bytes();
            bytes.reverse();
            hexadecimal(&bytes)
        }
        Value::Mem(after) => {
            let changed = after
                .bytes
                .iter()
                .filter(|&(&at, &byte)| byte != before.byte(at));
            let each = changed.map(|(at, byte)| format!("{at:x}:{byte:02x}"));
            each.collect::<Vec<_>>().join(" ")
        }
        other => panic!("a result is bits or a memory, not {other:?}"),
    }
}

/// What the interpreter says of each result; nothing where there is a function without values.
fn expected(operation: &Operation, member: &Member, given: &Given) -> Option<Vec<String>> {
    let results = (0..member.outputs.len()).map(|k| {
        let term = member.result(operation, k).expect("members have a meaning");
        let inputs: Vec<semantics::eval::Input> = semantics::subst::free_vars(term)
            .into_iter()
            .map(|v| semantics::eval::Input {
                name: v.as_var().expect("a name").to_owned(),
                sort: v.sort(),
            })
            .collect();
        let program = CompiledTerms::compile(&[term], &inputs).ok()?;
        // What is read beside operands and memory is 0 on the page.
        let value = |input: &semantics::eval::Input| match given.bits.get(&input.name) {
            Some(bits) => Value::Bv(bits.clone()),
            None => match input.sort.width() {
                Some(width) => Value::Bv(Bits::zero(width)),
                None => Value::Mem(given.memory.clone()),
            },
        };
        let values = inputs.iter().map(value);
        let values: Vec<Value> = values.collect();
        Some(written(&program.run(&values)[0], &given.memory))
    });
    results.collect()
}

/// What is asked of the page.
fn question(member: &Member, given: &Given) -> Json {
    let bits = given.bits.iter().map(|(name, bits)| {
        let mut bytes = bits.to_bytes();
        bytes.reverse();
        (name.clone(), json!(format!("0x{}", hexadecimal(&bytes))))
    });
    let memory = given
        .memory
        .bytes
        .iter()
        .map(|(at, byte)| json!([format!("0x{at:x}"), [byte]]));
    json!({
        "key": format!("{}:{}", member.isa, member.name),
        "bits": bits.collect::<serde_json::Map<_, _>>(),
        "memory": memory.collect::<Vec<_>>(),
    })
}

const ASK: &str = "(async (list) => { const answers = []; for (const q of list) { \
    const entry = guide.data.byKey.get(q.key); const page = await guide.load(entry.operation); \
    const m = page.operations[entry.operation.id].members.find((x) => x.name === entry.name && x.isa === entry.isa); \
    const values = Object.fromEntries(Object.entries(q.bits).map(([n, b]) => [n, BigInt(b)])); \
    values.mem = q.memory.map(([at, bytes]) => [BigInt(at), bytes]); \
    const found = await guide.interpret(entry, m, values); \
    answers.push(found && found.map((r) => (r.memory \
      ? r.memory.flatMap(([at, bytes]) => bytes.map((b, k) => `${(at + BigInt(k)).toString(16)}:${b.toString(16).padStart(2, '0')}`)).join(' ') \
      : r.bits.toString(16).padStart(Math.ceil(r.width / 8) * 2, '0')))); } return answers; })";

/// Members of an operation, apart from each other.
fn tried(operation: &Operation) -> impl Iterator<Item = &Member> {
    let step = operation.members.len().div_ceil(OF_EACH).max(1);
    operation.members.iter().step_by(step)
}

/// Whether this binary has the interpreter that pages compute with.
fn has_interpreter() -> bool {
    let path = BUILD.join("guide/data/interpreter.js");
    std::fs::metadata(path).is_ok_and(|m| m.len() > 1000)
}

#[test]
fn every_operation_is_computed_as_the_interpreter_says() {
    if !has_interpreter() {
        skip!("`rustup target add wasm32-unknown-unknown`, and this binary built again");
    }
    let mut page = need!(browser());
    let text = std::fs::read_to_string(BUILD.join("x86,rvm.dictionary")).expect("it was made");
    let dictionary = Dictionary::read(&Source::new("dictionary", text)).expect("a dictionary");
    let mut random = Random::new(19);
    let cases: Vec<(&Operation, &Member, Given)> = dictionary
        .operations
        .iter()
        .flat_map(|operation| tried(operation).map(move |member| (operation, member)))
        .map(|(operation, member)| (operation, member, given(member, &mut random)))
        .collect();
    let (mut compared, mut without, mut wrong) = (0, 0, Vec::new());
    for some in cases.chunks(AT_ONCE) {
        let asked: Vec<Json> = some
            .iter()
            .map(|(_, m, given)| question(m, given))
            .collect();
        let answers = page.value(&format!("{ASK}({})", json!(asked)));
        for ((operation, member, given), answer) in
            some.iter().zip(answers.as_array().expect("answers"))
        {
            let wanted = expected(operation, member, given);
            if json!(wanted) != *answer {
                wrong.push(format!("{}: {answer} and not {wanted:?}", member.name));
            }
            match wanted {
                Some(results) => compared += results.len(),
                None => without += 1,
            }
        }
    }
    let operations = dictionary.operations.len();
    println!("{compared} results of {operations} operations compared, {without} without values");
    assert!(
        wrong.is_empty(),
        "{} wrong: {}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(compared >= LEAST, "{compared} results");
    // Zeros among the arguments of an operation are none of its operands: some are tried.
    let zeros = cases
        .iter()
        .any(|(_, m, _)| m.bindings.contains(&Binding::Zero));
    assert!(zeros && without * 10 < compared, "{without} without values");
    assert!(page.mistakes.is_empty(), "{:?}", page.mistakes);
}

/// The texts of the elements of the first result.
const RESULT: &str =
    "[...document.querySelectorAll('#try .results output')].map((o) => o.textContent)";

fn open(page: &mut Browser, name: &str) {
    page.value(&format!("location.hash = '#/i/{name}'"));
    page.wait(&format!(
        "{SHOWN} === '{name}' && document.querySelector('#try .results output')"
    ));
}

/// Puts a text into the field of that name, as if typed.
fn fill(page: &mut Browser, label: &str, text: &str) {
    page.value(&format!(
        "(() => {{ const f = document.querySelector('#try :is(input, select, textarea)[aria-label={label:?}]'); f.value = {text:?}; \
         f.dispatchEvent(new Event(f.tagName === 'SELECT' ? 'change' : 'input', {{bubbles: true}})); }})()"
    ));
}

#[test]
fn an_instruction_is_tried_element_by_element() {
    if !has_interpreter() {
        skip!("`rustup target add wasm32-unknown-unknown`, and this binary built again");
    }
    let mut page = need!(browser());
    let began = std::time::Instant::now();
    open(&mut page, "_mm_adds_epu8");
    println!("first result after {} ms", began.elapsed().as_millis());
    // Saturates, and what is no value is marked and not computed with.
    fill(&mut page, "a element 0", "250");
    fill(&mut page, "b element 0", "0x10");
    page.wait(&format!("{RESULT}[0] === '255'"));
    fill(&mut page, "a element 1", "256");
    page.wait("document.querySelector('#try [aria-invalid=true]') && document.querySelector('#try .results .note')");
    fill(&mut page, "a element 1", "7");
    fill(&mut page, "b element 1", "5");
    page.wait(&format!("{RESULT}[1] === '12'"));

    // The address brings the same back.
    let address = page.value("location.href");
    let before = page.value(RESULT);
    page.call("Page.navigate", json!({"url": "about:blank"}));
    page.open(address.as_str().expect("an address"), "guide.first > 0");
    page.wait(&format!(
        "{SHOWN} === '_mm_adds_epu8' && {RESULT}[0] === '255'"
    ));
    assert_eq!(page.value(RESULT), before);
    // Of another instruction it keeps nothing.
    open(&mut page, "_mm_add_ps");
    assert_eq!(page.value("location.hash.includes('try=')"), json!(false));
    fill(&mut page, "a element 0", "0.1");
    fill(&mut page, "b element 0", "0.2");
    page.wait(&format!("{RESULT}[0] === '0.3'"));
    fill(&mut page, "b element 0", "-inf");
    page.wait(&format!("{RESULT}[0] === '-inf'"));

    // A constant, a rounding, and memory.
    open(&mut page, "_mm_shuffle_epi32");
    for (k, value) in ["10", "20", "30", "40"].iter().enumerate() {
        fill(&mut page, &format!("a element {k}"), value);
    }
    fill(&mut page, "imm8", "0b00011011");
    page.wait(&format!("{RESULT}.join() === '40,30,20,10'"));
    open(&mut page, "_mm512_add_round_ps");
    fill(&mut page, "a element 0", "1");
    fill(&mut page, "b element 0", "1e-20");
    fill(&mut page, "rounding", "10");
    page.wait(&format!("{RESULT}[0] === '1.0000001'"));
    open(&mut page, "_mm_storeu_epi32");
    fill(&mut page, "a element 2", "123456");
    page.wait(&format!("{RESULT}.includes('123456')"));
    // At random: other values, each a number that the field takes.
    open(&mut page, "_mm256_mullo_epi16");
    let before = page.value(RESULT);
    page.click("#try .acts button");
    page.wait(&format!(
        "JSON.stringify({RESULT}) !== JSON.stringify({before})"
    ));
    assert_eq!(
        page.value("document.querySelectorAll('#try [aria-invalid=true]').length"),
        json!(0)
    );
    assert!(page.mistakes.is_empty(), "{:?}", page.mistakes);
}

#[test]
fn numbers_are_read_as_they_are_shown() {
    let mut page = need!(browser());
    let wrong = page.value(
        "(() => { const wrong = []; \
         for (const [kind, width] of [['i8', 8], ['u8', 8], ['i32', 32], ['u64', 64], ['f16', 16], ['bf16', 16], ['f32', 32], ['f64', 64], ['mask', 1]]) \
           for (let k = 0; k < 2000; k += 1) { \
             let bits = guide.lot(kind, width); \
             if (k < 1000) { bits = 0n; for (let n = 0; n < width; n += 16) bits = (bits << 16n) | BigInt(Math.floor(Math.random() * 65536)); bits &= (1n << BigInt(width)) - 1n; } \
             const text = guide.show(kind, width, bits); \
             if (guide.read(kind, width, text) !== bits) wrong.push(`${kind} ${bits.toString(16)} ${text}`); } \
         const one = (kind, width, text, bits) => { const got = guide.read(kind, width, text); if (got !== bits) wrong.push(`${kind} ${text}: ${got}`); }; \
         one('f16', 16, '65504', 0x7bffn); one('f16', 16, '65520', 0x7c00n); one('f16', 16, '6e-8', 1n); one('f16', 16, '2049', 0x6800n); \
         one('bf16', 16, '1.00390625', 0x3f80n); one('f32', 32, '16777217', 0x4b800000n); one('f32', 32, '1e-45', 1n); one('f32', 32, '3.5e38', 0x7f800000n); \
         one('i8', 8, '-128', 0x80n); one('i8', 8, '128', null); one('u8', 8, '256', null); one('u8', 8, 'x', null); one('u8', 8, '', null); one('mask', 1, '2', null); \
         return wrong; })()",
    );
    assert_eq!(wrong, json!([]));
}
