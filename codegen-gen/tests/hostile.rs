//! Text that means harm where free text is allowed: no writer lets it out of its line, its
//! comment or its quotes.

use autoir::dictionary::{Binding, Dictionary, Evidence, Member, Operation, Returned};
use codegen_gen::artefact::{Artefact, Input, Set};
use codegen_gen::back_end::Code;
use codegen_gen::{c, exo, header, llvm, mlir, tablegen};
use lowering::window::Lowered;
use semantics::instruction::{Element, Form, Operand, Role};
use semantics::span::Source;
use smt::verdict::{Step, Steps};
use std::collections::BTreeMap;

/// What ends a line, a comment, a string or a block in one of the formats, before a word.
const HOSTILE: &[&str] = &[
    "\nHARM(1);",
    "\rHARM",
    "\r\nHARM",
    "*/ HARM /*",
    "\\\nHARM",
    "x\\",
    "\"; HARM; \"",
    "}];\nHARM [{",
    "'''\nHARM\n'''",
    "\"\"\"\nHARM\n\"\"\"",
    "```\nHARM\n```",
    "\u{2028}HARM",
    "\u{202e}HARM",
    "x ??/\nHARM",
    "</script><script>HARM</script>",
    "--> HARM <!--",
    "\0HARM",
    "\u{b}HARM\u{c}HARM",
];

fn dictionary(text: &str) -> Dictionary {
    let operand = |name: &str| Operand {
        name: name.to_owned(),
        c_type: "__m512i".to_owned(),
        element: Element::Unsigned(8),
        width: 512,
        role: Role::Register,
    };
    let member = Member {
        name: "_mm512_add_epi8".to_owned(),
        isa: "x86".to_owned(),
        mnemonic: Some(text.to_owned()),
        form: Form::Single,
        features: vec!["AVX512BW".to_owned()],
        operands: vec![operand("a"), operand("b")],
        outputs: vec![Returned {
            name: "dst".to_owned(),
            c_type: "__m512i".to_owned(),
            element: Element::Unsigned(8),
            undefined: Vec::new(),
        }],
        values: vec![8],
        bindings: ["a", "b"].map(|n| Binding::Operand(n.to_owned())).to_vec(),
        evidence: Evidence(vec![Steps([(Step::Solver(text.to_owned()), 1)].into())]),
    };
    Dictionary {
        operations: vec![Operation {
            name: "add".to_owned(),
            parameters: vec!["width".to_owned()],
            arguments: vec!["a".to_owned(), "b".to_owned()],
            results: Vec::new(),
            formula: text.to_owned(),
            swizzle: false,
            members: vec![member],
        }],
    }
}

/// What all writers make of a dictionary with such texts.
fn written(text: &str) -> Vec<(String, String)> {
    let dictionary = dictionary(text);
    let rows = "_mm512_add_epi8|<8 x i64>|<8 x i64>;<8 x i64>|ret <8 x i64> %0";
    let input = Input {
        dictionary: &dictionary,
        instructions: BTreeMap::new(),
        isas: vec!["x86".to_owned()],
        sets: vec![Set {
            isa: "x86".to_owned(),
            types: BTreeMap::from([("__m512i".to_owned(), 512)]),
            conditions: BTreeMap::from([(
                "AVX512BW".to_owned(),
                "defined(__AVX512BW__)".to_owned(),
            )]),
            memories: BTreeMap::from([(
                "Vector512".to_owned(),
                BTreeMap::from([("uint8_t".to_owned(), "__m512i".to_owned())]),
            )]),
            rows: codegen_gen::lowering::rows(rows).expect("the row is right"),
            ..Set::default()
        }],
        about: vec![text.to_owned()],
    };
    let mut files: Vec<Artefact<'_>> = tablegen::artefacts(&input);
    files.extend(mlir::artefacts(&input));
    files.extend(codegen_gen::lowering::artefacts(&input, &input.sets[0]));
    files.extend([
        header::artefact(&input, &input.sets[0]),
        exo::artefact(&input, &input.sets[0]),
    ]);
    let text_of = |file: &Artefact<'_>| {
        let mut out = Vec::new();
        (file.write)(&mut out).expect("memory has room");
        let text = String::from_utf8(out).expect("it is text");
        (file.path.clone(), text)
    };
    files.iter().map(text_of).collect()
}

#[test]
fn free_text_stays_in_its_place_in_every_file_of_a_build() {
    let tame: BTreeMap<String, usize> = written("tame")
        .into_iter()
        .map(|(path, text)| (path, text.lines().count()))
        .collect();
    assert_eq!(tame.len(), 8, "{tame:?}");
    for hostile in HOSTILE {
        for (path, text) in written(hostile) {
            let lines = text.lines().count();
            assert_eq!(lines, tame[&path], "{path} with {hostile:?}:\n{text}");
            for line in text.lines() {
                assert!(
                    !line.ends_with('\\') || line.starts_with("#define"),
                    "{path}: {line}"
                );
                let odd = |c: char| c.is_control() || "\u{2028}\u{202e}".contains(c);
                assert!(!line.contains(odd), "{path}: {line:?}");
            }
            if path.ends_with(".td") {
                let quotes = |line: &str| line.replace("\\\"", "").matches('"').count();
                let whole = text.lines().filter(|l| !l.trim_start().starts_with("//"));
                let mut whole = whole.filter(|l| !l.contains("```"));
                assert!(whole.all(|l| quotes(l) % 2 == 0), "{path}:\n{text}");
            }
        }
    }
}

#[test]
fn the_name_of_a_kernels_file_stays_in_its_comment() {
    let kernel = "kernel k(o: out u8[64]) { o[0 ..+ 64] = 1; }";
    for hostile in HOSTILE {
        let (kernels, wrong) = kernel::read(&Source::new(*hostile, kernel));
        assert!(wrong.is_empty());
        let lowered = schedule::apply(&kernels[0])
            .and_then(|s| lowering::lower(&s))
            .expect("the kernel is right");
        let about = [format!("Made from {hostile} for x86.")];
        let c = c::emit(&c::Unit::plain(&lowered), &about, None).to_string();
        let ll = module(&lowered, &about);
        for text in [c, ll.expect("it has a form").to_string()] {
            let mut rest = text.lines().skip(1);
            let first = text.lines().next().expect("it has lines");
            assert!(
                first.starts_with("// Made") || first.starts_with("; Made"),
                "{first}"
            );
            assert!(!first.ends_with('\\') && !first.contains(char::is_control));
            assert!(rest.all(|line| !line.contains("HARM")), "{text}");
        }
    }
}

/// A kernel in LLVM IR, none of whose windows has a program.
fn module(lowered: &Lowered, about: &[String]) -> Result<Code, String> {
    let placement = synth::placement::without_programs(lowered);
    llvm::emit(&llvm::Unit::plain(lowered, &placement), about)
}

/// Sixty names of which each is the one before, multiplied with itself: a few nodes, and more ways
/// through them than can be gone.
#[test]
fn values_that_are_shared_are_looked_at_once() {
    let chain = |name: &str, stated: &str| -> String {
        let each = |n: usize| format!("let {name}{n}{stated} = {name}{0} * {name}{0};\n", n - 1);
        (1..60).map(each).collect()
    };
    let statements = format!(
        "kernel k(n: size, a: in i32[n], o: out i32[n]) {{ for x in 0..n {{\n\
         let t0: i32 = a[x];\n{} o[x] = t59; }} }}",
        chain("t", ": i32")
    );
    let function = format!(
        "fn f(a: i32) -> i32 {{ let t0 = a + a;\n{} t59 }}\n\
         kernel k(n: size, a: in i32[n], o: out i32[n]) {{ for x in 0..n {{ o[x] = f(a[x]); }} }}\n\
         schedule {{ vectorize x by 16; }}",
        chain("t", "")
    );
    for text in [statements, function] {
        let start = std::time::Instant::now();
        let (kernels, wrong) = kernel::read(&Source::new("k.kernel", text.as_str()));
        assert!(
            wrong.is_empty(),
            "{}",
            semantics::diagnostic::render(&wrong)
        );
        let lowered = schedule::apply(&kernels[0])
            .and_then(|s| lowering::lower(&s))
            .expect("the kernel is right");
        let c = c::emit(&c::Unit::plain(&lowered), &[], None).to_string();
        assert!(c.len() < 60_000, "{}", c.len());
        let ll = module(&lowered, &[]);
        assert!(ll.is_ok_and(|ll| ll.to_string().len() < 200_000));
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    }
}
