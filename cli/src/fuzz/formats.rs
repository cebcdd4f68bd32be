//! The kinds of files that are read: seeds, and what is done with a text.
//!
//! In: nothing. Out: [`FORMATS`]. A reader takes a text as far as a command does before it asks
//! a prover or starts another program (what others left in a shared store is proved): kernels to C and LLVM IR, specifications to terms,
//! programs of a machine to some thousand steps.

use crate::cost;
use autoir::dictionary::Dictionary;
use autoir::instructions::{InstructionTable, VERSION};
use autoir::program::text::Given;
use autoir::program::{Argument, Node, file};
use codegen_gen::c;
use codegen_gen::lowering::calls;
use halide::Convention;
use kernel::tree::Kernel;
use lowering::window::Lowered;
use semantics::span::Source;
use sim::memory::Memory;
use sim::program::MachineProgram;
use sim::run::Simulator;
use spec_parser::errata::{self, Errata};
use spec_parser::intel::guide;
use spec_parser::{manifest, matrix, specs};
use std::fs;
use std::path::{Path, PathBuf};
use store::object::{Key, Kind, Store};
use store::pack::Pack;
use synth::cost::Rule;
use synth::operations::TargetOperations;
use target::Targets;

/// Whether a text is understood.
pub(super) type Reader = Box<dyn FnMut(&str) -> bool>;

/// A kind of files.
pub(super) struct Format {
    pub(super) name: &'static str,
    pub(super) seeds: fn() -> Vec<String>,
    /// A reader, with a folder of its own.
    pub(super) reader: fn(&Path) -> Reader,
}

/// All of them.
pub(super) const FORMATS: &[Format] = &[
    Format {
        name: "kernel",
        seeds: kernels,
        reader: |_| Box::new(kernel),
    },
    Format {
        name: "halide",
        seeds: statements,
        reader: |_| Box::new(statement),
    },
    Format {
        name: "family",
        seeds: families,
        reader: family,
    },
    Format {
        name: "arm",
        seeds: families_of_arm,
        reader: |folder| family_of("arm", folder),
    },
    Format {
        name: "hvx",
        seeds: families_of_hvx,
        reader: |folder| family_of("hvx", folder),
    },
    Format {
        name: "vendor",
        seeds: vendors,
        reader: |_| Box::new(vendor),
    },
    Format {
        name: "errata",
        seeds: all_errata,
        reader: |_| Box::new(one_errata),
    },
    Format {
        name: "machine",
        seeds: machines,
        reader: machine,
    },
    Format {
        name: "assembly",
        seeds: programs,
        reader: |_| assembly(),
    },
    Format {
        name: "dictionary",
        seeds: dictionaries,
        reader: |_| Box::new(dictionary),
    },
    Format {
        name: "instructions",
        seeds: tables,
        reader: |_| Box::new(table),
    },
    Format {
        name: "autoir",
        seeds: window_programs,
        reader: window_program,
    },
    Format {
        name: "object",
        seeds: objects,
        reader: object,
    },
    Format {
        name: "shared",
        seeds: super::shared::seeds,
        reader: super::shared::reader,
    },
    Format {
        name: "cost",
        seeds: costs,
        reader: cost_table,
    },
    Format {
        name: "targets",
        seeds: targets,
        reader: |_| Box::new(target),
    },
    Format {
        name: "llvm",
        seeds: rows,
        reader: |_| Box::new(row),
    },
    Format {
        name: "module",
        seeds: modules,
        reader: |_| module(),
    },
    Format {
        name: "constants",
        seeds: constants,
        reader: |_| Box::new(constant),
    },
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The texts of some files of the project.
pub(super) fn texts(paths: &[&str]) -> Vec<String> {
    let read = |path: &&str| fs::read_to_string(root().join(path)).expect("it is in the project");
    paths.iter().map(read).collect()
}

/// The first items of a list in YAML.
pub(super) fn items(path: &str, count: usize) -> Vec<String> {
    let text = texts(&[path]).remove(0);
    let starts: Vec<usize> = text.match_indices("\n- ").map(|(at, _)| at + 1).collect();
    let cut = starts.windows(2).map(|w| text[w[0]..w[1]].to_owned());
    cut.step_by((starts.len() / count).max(1)).collect()
}

fn kernels() -> Vec<String> {
    let chain: String = (1..20)
        .map(|n| format!("    let t{n}: i32 = t{} * t{};\n", n - 1, n - 1))
        .collect();
    let mut all = texts(&[
        "kernels/blur3x3.kernel",
        "kernels/softmax.kernel",
        "kernels/matmul_b1.kernel",
        "examples/conv2d.kernel",
        "examples/sgemm.kernel",
        "examples/fixed_point.kernel",
        "examples/deinterleave.kernel",
        "examples/narrow.kernel",
    ]);
    all.push(format!(
        "fn f(a: i32, i: index) -> i32 = a + i32(i);\nkernel k(n: size, a: in i32[n], o: out i32[n]) {{\n  \
         for x in 0..n {{\n    let t0: i32 = f(a[x], x);\n{chain}    o[x] = f(t19, min(x, n));\n  }}\n}}\n"
    ));
    all
}

/// All that is made of a kernel without a prover.
fn emitted(kernel: &Kernel, with: impl Fn(&Lowered)) -> bool {
    let _ = kernel::show::body(kernel);
    let Ok(lowered) = schedule::apply(kernel).and_then(|s| lowering::lower(&s)) else {
        return false;
    };
    with(&lowered);
    let _ = c::harness::harness(kernel);
    let placement = synth::placement::without_programs(&lowered);
    let unit = codegen_gen::llvm::Unit::plain(&lowered, &placement);
    let _ = codegen_gen::llvm::emit(&unit, &[]);
    true
}

fn kernel(text: &str) -> bool {
    let (kernels, diagnostics) = kernel::read(&Source::new("k.kernel", text));
    let _ = semantics::diagnostic::render(&diagnostics);
    let made = kernels.iter().take(4).map(|k| {
        let _ = schedule::stages(k);
        emitted(k, |lowered| {
            drop(c::emit(&c::Unit::plain(lowered), &[], None))
        })
    });
    made.fold(false, |any, one| any | one)
}

fn statements() -> Vec<String> {
    let named = |name: &&str| format!("tests/end_to_end/halide/{name}.stmt");
    let paths: Vec<String> = ["dot", "near", "scaled"].iter().map(named).collect();
    texts(&paths.iter().map(String::as_str).collect::<Vec<_>>())
}

fn statement(text: &str) -> bool {
    let source = Source::new("p.stmt", text);
    let each = [Convention::Pointers, Convention::Buffers].map(|convention| {
        match halide::read(
            &source,
            &halide::Options::new(convention, &halide::Constants::default()),
        ) {
            Ok(import) => emitted(&import.kernel, |lowered| {
                drop(c::emit(&c::Unit::plain(lowered), &[], Some(&import)));
            }),
            Err(diagnostics) => {
                let _ = semantics::diagnostic::render(&diagnostics);
                false
            }
        }
    });
    each.contains(&true)
}

fn families() -> Vec<String> {
    let files = [
        "arithmetic",
        "convert",
        "permute",
        "mask",
        "store",
        "float_arithmetic",
    ];
    some_of("x86", &files)
}

fn families_of_arm() -> Vec<String> {
    some_of("arm", &["arithmetic", "narrow", "dot", "load", "table"])
}

fn families_of_hvx() -> Vec<String> {
    some_of("hvx", &["arithmetic", "narrow", "permute", "memory"])
}

/// Some families of each of these files.
fn some_of(isa: &str, files: &[&str]) -> Vec<String> {
    let of = |file: &&str| items(&format!("isa-specs/{isa}/{file}.yaml"), 4);
    files.iter().flat_map(of).collect()
}

pub(super) fn family(folder: &Path) -> Reader {
    family_of("x86", folder)
}

/// Reads a family in the notation of a set, with the axes of its manifest.
fn family_of(isa: &str, folder: &Path) -> Reader {
    let isa = root().join("isa-specs").join(isa);
    for name in ["manifest.yaml", "targets.yaml"] {
        let text = fs::read_to_string(isa.join(name)).expect("it is in the project");
        let list = text.find("files:").map(|at| {
            let rest = &text[at..];
            let end = rest
                .match_indices('\n')
                .map(|(n, _)| n + 1)
                .find(|&n| !rest[n..].starts_with([' ', '-']));
            at..at + end.unwrap_or(rest.len())
        });
        let text = match list {
            Some(range) => [
                &text[..range.start],
                "files: [family.yaml]\n",
                &text[range.end..],
            ]
            .concat(),
            None => text,
        };
        fs::write(folder.join(name), text).expect("there is room");
    }
    let folder = folder.to_owned();
    Box::new(move |text| {
        fs::write(folder.join("family.yaml"), text).expect("there is room");
        match specs::load(&folder.join("manifest.yaml")) {
            Ok(specs) => {
                let _ = semantics::diagnostic::render(&specs.diagnostics);
                let mut all = specs.instructions.iter();
                assert!(all.all(|i| semantics::spelling::instruction(i).is_ok()));
                !specs.instructions.is_empty()
            }
            Err(_) => false,
        }
    })
}

fn vendors() -> Vec<String> {
    let entry = |name: &str, body: &str| {
        format!(
            "<list version=\"3.6.9\"><intrinsic tech=\"T\" name=\"{name}\"><CPUID>AVX2</CPUID>\
             <category>Arithmetic</category><return type=\"__m128i\" varname=\"dst\" etype=\"SI16\"/>\
             <parameter type=\"__m128i\" varname=\"a\" etype=\"UI8\"/>\
             <parameter type=\"const int\" varname=\"imm8\" etype=\"IMM\" immwidth=\"3\"/>\
             <instruction name=\"F\" form=\"xmm, imm8\"/><operation>{body}</operation></intrinsic></list>"
        )
    };
    vec![
        entry(
            "_mm_f",
            "FOR j := 0 to 15\n  i := j*8\n  dst[i+7:i] := a[i+7:i] &gt;&gt; imm8[2:0]\nENDFOR",
        ),
        entry(
            "_mm_g",
            "<![CDATA[IF imm8[0] == 1\n dst := a\nELSE\n dst := 0\nFI]]>",
        ),
    ]
}

fn vendor(text: &str) -> bool {
    match guide::load(&Source::new("guide.xml", text), &Errata::default()) {
        Ok(loaded) => {
            let mut all = loaded.instructions.iter();
            assert!(all.all(|i| semantics::spelling::instruction(i).is_ok()));
            !loaded.instructions.is_empty()
        }
        Err(_) => false,
    }
}

fn all_errata() -> Vec<String> {
    let all = items("isa-specs/x86/errata.yaml", 12);
    // Some refer to words of others.
    let whole = all
        .into_iter()
        .filter(|t| !t.contains(": *") && !t.contains(": &"));
    whole.collect()
}

fn one_errata(text: &str) -> bool {
    errata::parse(&Source::new("errata.yaml", text)).is_ok_and(|e| e.intrinsics().next().is_some())
}

/// Between the files of a machine that are one text here.
const NEXT: &str = "\n#### next file\n";

/// Manifests with some instructions, as one text each.
fn machines() -> Vec<String> {
    let of = |isa: &str, files: &[(&str, usize)]| {
        let mut text = texts(&[&format!("isa-specs/{isa}/manifest.yaml")]).remove(0);
        for (file, count) in files {
            text += NEXT;
            text += &items(&format!("isa-specs/{isa}/{file}.yaml"), *count).concat();
        }
        text
    };
    vec![
        of("rvm", &[("host", 4), ("matrix", 4)]),
        of(
            "gemmini",
            &[
                ("host", 3),
                ("config", 3),
                ("move", 2),
                ("compute", 2),
                ("loop", 1),
            ],
        ),
    ]
}

fn machine(folder: &Path) -> Reader {
    let folder = folder.to_owned();
    Box::new(move |text| {
        let mut parts = text.split(NEXT);
        let manifest = parts.next().unwrap_or_default();
        fs::write(folder.join("manifest.yaml"), manifest).expect("there is room");
        let parts: Vec<&str> = parts.collect();
        let names = [
            "host", "matrix", "config", "move", "compute", "loop", "blocks", "views",
        ];
        for (k, name) in names.iter().enumerate() {
            // A machine of two files has them under its own two names.
            let part = match (parts.len(), *name) {
                (2, "host") | (_, "host") => parts.first(),
                (2, "matrix") => parts.get(1),
                (_, "matrix") => None,
                _ => parts.get(k - 1),
            };
            let path = folder.join(format!("{name}.yaml"));
            fs::write(path, part.copied().unwrap_or_default()).expect("there is room");
        }
        match matrix::load::load(&folder.join("manifest.yaml")) {
            Ok((machine, diagnostics)) => {
                let _ = semantics::diagnostic::render(&diagnostics);
                !machine.instructions.is_empty()
            }
            Err(_) => false,
        }
    })
}

fn programs() -> Vec<String> {
    vec![
        ".set x10, 4096\nstart: addi x5, x0, 12\nloop: addi x5, x5, -1\nadd x6, x6, x5\n\
         sw x6, 0(x10)\nlw x7, 0(x10)\nbne x5, x0, loop\n.word 0x00000013\n"
            .to_owned(),
        "lui x5, 0x10\nslli x5, x5, 3\nend: beq x0, x0, end2\nend2: addi x1, x0, 1 # done\n"
            .to_owned(),
    ]
}

fn assembly() -> Reader {
    let path = root().join("isa-specs/rvm/manifest.yaml");
    let (machine, _) = matrix::load::load(&path).expect("our machine is right");
    Box::new(
        move |text| match MachineProgram::assemble(&machine, &Source::new("p.s", text)) {
            Ok(program) => {
                let mut simulator = Simulator::new(&machine, Memory::new(1 << 16));
                let _ = simulator.run_quietly(&program, 2000);
                true
            }
            Err(diagnostics) => {
                let _ = semantics::diagnostic::render(&diagnostics);
                false
            }
        },
    )
}

/// A dictionary of a few families, made once.
fn dictionaries() -> Vec<String> {
    let folder = tempfile::tempdir().expect("there is room");
    let mut load = family(folder.path());
    let manifest = folder.path().join("manifest.yaml");
    let mut out = Vec::new();
    for text in items("isa-specs/x86/arithmetic.yaml", 3) {
        assert!(load(&text), "a family of ours");
        let loaded = specs::load(&manifest).expect("our manifest is right");
        let some: Vec<_> = loaded.instructions.into_iter().take(4).collect();
        let prover = smt::prover::Prover::new(smt::config::Config::default());
        let found = similarity::classify::classify(&some, &prover, &|_, _, _| {});
        out.push(autoir::build::build(&found, &some).to_string());
    }
    out
}

fn dictionary(text: &str) -> bool {
    match Dictionary::read(&Source::new("d", text)) {
        Ok(dictionary) => {
            let _ = dictionary.to_string();
            let _ = InstructionTable::of_dictionary(&dictionary);
            true
        }
        Err(diagnostics) => {
            let _ = semantics::diagnostic::render(&diagnostics);
            false
        }
    }
}

/// Tables of instructions without their first line, which has a digest.
fn tables() -> Vec<String> {
    let of = |text: &String| {
        let read = Dictionary::read(&Source::new("d", text.as_str())).expect("it was written");
        InstructionTable::of_dictionary(&read)
            .text()
            .split_once('\n')
            .map_or(String::new(), |(first, body)| {
                let counts: Vec<&str> = first.rsplit(' ').skip(1).take(2).collect();
                format!("{} {}\n{body}", counts[1], counts[0])
            })
    };
    dictionaries().iter().map(of).collect()
}

fn table(text: &str) -> bool {
    use sha2::{Digest, Sha256};
    let (counts, body) = text.split_once('\n').unwrap_or((text, ""));
    // What a stranger who can compute a digest may leave.
    let digest = format!("{:x}", Sha256::digest(body.as_bytes()));
    let whole = format!("{VERSION} {counts} {digest}\n{body}");
    InstructionTable::read(whole).is_some_and(|table| !table.instructions().is_empty())
}

/// The instructions of the dictionaries whose operands are registers, as programs.
fn window_programs() -> Vec<String> {
    let mut items = Vec::new();
    for (k, (instance, _)) in tabled().instructions().into_iter().enumerate() {
        let formals = instance.formals.clone();
        if formals.iter().any(|f| f.role.is_constant()) {
            continue;
        }
        let mut program = autoir::program::Program::over([std::sync::Arc::new(instance)].into());
        let inputs = formals.iter().map(|f| Node::Input {
            name: f.name.clone(),
            lo: 0,
            width: f.width,
        });
        let inputs: Vec<usize> = inputs.map(|node| program.add(node)).collect();
        let args = inputs.into_iter().map(Argument::Value).collect();
        let value = program.add(Node::Apply { operation: 0, args });
        let width = 2 * program.width(value);
        let constant = program.add(Node::Constant(semantics::bits::Bits::ones(width)));
        let wide = program.add(Node::Cast { value, width });
        program.outputs = vec![wide, constant];
        items.push(file::item(&format!("k.{k}"), &program));
    }
    let origin = file::Origin {
        language: "kernels".to_owned(),
        name: "k.kernel".to_owned(),
        text: "kernel k(n: size, a: in u8[n]) { }".to_owned(),
    };
    vec![file::write(&items, &origin)]
}

/// The instructions of the first dictionary.
fn tabled() -> InstructionTable {
    let dictionaries = dictionaries();
    let first = Dictionary::read(&Source::new("d", dictionaries[0].as_str()));
    InstructionTable::of_dictionary(&first.expect("it was written"))
}

fn window_program(_: &Path) -> Reader {
    let table = tabled();
    let features = table
        .rows()
        .flat_map(|row| row.features().collect::<Vec<_>>());
    let features = features.map(str::to_owned).collect();
    let costs = synth::cost::CostTable::uniform("none", 0, 0);
    let operations = TargetOperations::new(table, features, costs, Vec::new());
    Box::new(move |text| {
        let resolve = |operation: &str, values: &[i64], given: &[Given]| {
            operations.resolve(operation, values, given)
        };
        match file::read(&Source::new("p", text), &resolve) {
            Ok((programs, _)) => {
                for (name, program) in &programs {
                    drop(file::item(name, program));
                }
                true
            }
            Err(diagnostics) => {
                let _ = semantics::diagnostic::render(&diagnostics);
                false
            }
        }
    })
}

/// The kind of the objects that are mutated.
const OBJECTS: Kind = Kind {
    name: "objects",
    version: 1,
    most: None,
};

/// Bytes of an object of the store as Latin letters.
fn objects() -> Vec<String> {
    let folder = tempfile::tempdir().expect("there is room");
    let (store, key) = (Store::at(folder.path()), Key::of(["key"]));
    assert!(store.put(OBJECTS, &key, "some text\n"));
    let bytes = fs::read(folder.path().join("objects").join(key.to_string()));
    let bytes = bytes.expect("it was written");
    vec![bytes.iter().map(|&b| char::from(b)).collect()]
}

/// Reads a mutant of an object both as a text and as a pack of answers.
fn object(folder: &Path) -> Reader {
    let folder = folder.to_owned();
    Box::new(move |text| {
        let bytes: Vec<u8> = text.chars().map(|c| c as u32 as u8).collect();
        let key = Key::of(["key"]);
        fs::create_dir_all(folder.join("objects")).expect("there is room");
        let path = folder.join("objects").join(key.to_string());
        fs::write(&path, &bytes).expect("there is room");
        let found = Store::at(&folder).get(OBJECTS, &key);
        fs::write(&path, bytes).expect("there is room");
        let pack = Pack::open(Store::at(&folder), OBJECTS);
        drop(pack.get(&Key::of(["question"])));
        found.is_some()
    })
}

fn costs() -> Vec<String> {
    let text = texts(&["isa-specs/x86/cost/generic.yaml"]).remove(0);
    vec![
        text.chars()
            .take(6000)
            .collect::<String>()
            .rsplit_once('\n')
            .map_or(text.clone(), |(t, _)| t.to_owned()),
    ]
}

fn cost_table(folder: &Path) -> Reader {
    fs::create_dir_all(folder.join("cost")).expect("there is room");
    let folder = folder.to_owned();
    Box::new(move |text| {
        fs::write(folder.join("cost/generic.yaml"), text).expect("there is room");
        match cost::table(&folder, "generic", Rule::default()) {
            Ok(table) => {
                for name in ["vpaddb", "vpmaddubsw", "", "*"] {
                    let weight = table.weight(name, 512);
                    let _ = table.share(&weight);
                }
                true
            }
            Err(_) => false,
        }
    })
}

fn targets() -> Vec<String> {
    texts(&["isa-specs/x86/targets.yaml"])
}

fn target(text: &str) -> bool {
    match Targets::parse(text) {
        Ok(targets) => {
            for name in ["znver4", "avx2,fma", "x86-64-v4", "host"] {
                if let Ok(found) = targets.find(name) {
                    let _ = targets.flags(&targets.closure(&found.features));
                }
            }
            true
        }
        Err(_) => false,
    }
}

fn rows() -> Vec<String> {
    let rows = texts(&["isa-specs/x86/llvm_members.yaml"]).remove(0);
    let lines = rows.lines().filter(|l| l.starts_with("  ")).step_by(400);
    vec![lines.map(|l| format!("{}\n", l.trim())).collect()]
}

fn row(text: &str) -> bool {
    codegen_gen::lowering::rows(text).is_ok_and(|rows| !rows.is_empty())
}

/// A call of each variant of the first dictionary, and a declaration of none.
fn modules() -> Vec<String> {
    let dictionary = Dictionary::read(&Source::new("d", dictionaries()[0].as_str()));
    let dictionary = dictionary.expect("it was written");
    let mut text = "; calls\ndefine <16 x i8> @f(<16 x i8> %a, <16 x i8> %b) {\n".to_owned();
    for (k, variant) in codegen_gen::variant::variants(&dictionary)
        .iter()
        .enumerate()
    {
        let name = variant.name.replace('_', ".");
        let arguments = ["<16 x i8> %a", "<16 x i8> %b"].into_iter().cycle();
        let member = variant.members[0];
        let arguments: Vec<&str> = arguments.take(member.operands.len()).collect();
        let arguments = arguments.join(", ");
        text += &format!("  %{k} = call <16 x i8> @autoir.{name}({arguments}) ; {k}\n");
    }
    vec![text + "  ret <16 x i8> %a\n}\ndeclare <16 x i8> @autoir.none(<16 x i8>)\n"]
}

/// Lowers calls as far as a compiler of C is asked.
fn module() -> Reader {
    let dictionary = dictionaries().remove(0);
    let dictionary = Dictionary::read(&Source::new("d", dictionary)).expect("it was written");
    let set = crate::build::set("x86", None).expect("our set is right");
    Box::new(move |text| {
        let source = Source::new("m.ll", text);
        match calls::plan(&source, &dictionary, &set) {
            Ok(plan) => {
                drop(plan.c(&Default::default()));
                drop(plan.module(text));
                true
            }
            Err(diagnostics) => {
                let _ = semantics::diagnostic::render(&diagnostics);
                false
            }
        }
    })
}

/// Halide's C of a pipeline, and its constants as LLVM's text has them.
fn constants() -> Vec<String> {
    let c = texts(&["front-ends/halide/tests/pipelines/fast_log.c"]).remove(0);
    let single = |part: &str| {
        let digits = part.split(|c: char| !c.is_ascii_digit()).next();
        let bits = digits.and_then(|d| d.parse().ok());
        let value = f64::from(f32::from_bits(bits.expect("a pattern")));
        format!(
            "%1 = fmul <2 x float> %0, <float 0x{:016X}, float %x>\n",
            value.to_bits()
        )
    };
    let llvm = c.split("float_from_bits(").skip(1).map(single).collect();
    vec![c, llvm]
}

/// Whether a pipeline whose constants are from there is understood.
fn constant(text: &str) -> bool {
    let statement = texts(&["front-ends/halide/tests/pipelines/fast_log.stmt"]).remove(0);
    let source = Source::new("p.stmt", statement);
    let constants = halide::Constants::of(text);
    match halide::read(
        &source,
        &halide::Options::new(Convention::Pointers, &constants),
    ) {
        Ok(_) => true,
        Err(diagnostics) => {
            let _ = semantics::diagnostic::render(&diagnostics);
            false
        }
    }
}

/// What every member of a manifest's families is: the reader above asks for no more.
#[test]
fn the_manifest_of_the_family_reader_is_ours() {
    let folder = tempfile::tempdir().expect("there is room");
    let _ = family(folder.path());
    let manifest = manifest::load(&folder.path().join("manifest.yaml")).expect("it is right");
    assert_eq!(manifest.files, ["family.yaml"]);
}
