//! The vendor's data file, where it is at hand: what parses, what has a meaning, and that the
//! loader is deterministic.

use semantics::span::Source;
use spec_parser::errata::{self, Errata, VendorText};
use spec_parser::intel::{guide, parser, vendor};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use test_support::need;

const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../shared/vendor/intel/intrinsics-guide-3.6.9.xml"
);

fn source() -> Result<Source, String> {
    match std::fs::read_to_string(FILE) {
        Ok(text) => Ok(Source::new("intrinsics-guide-3.6.9.xml", text)),
        Err(error) => Err(format!(
            "../shared/vendor/intel/intrinsics-guide-3.6.9.xml: {error}"
        )),
    }
}

fn errata() -> Errata {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../isa-specs/x86/errata.yaml");
    errata::load(Path::new(path)).expect("our own errata are right")
}

#[test]
fn bodies_parse() {
    let source = need!(source());
    let (entries, problems) = vendor::read(&source).expect("the file is XML");
    assert!(problems.is_empty());
    let mut bodies = 0;
    let mut refused = Vec::new();
    for entry in &entries {
        let Some(span) = entry.operation else {
            continue;
        };
        bodies += 1;
        if let Err(diagnostics) = parser::parse(&source, span, true) {
            refused.push((entry.name.clone(), diagnostics));
        }
    }
    println!("{} of {bodies} bodies parse", bodies - refused.len());
    for (name, diagnostics) in &refused {
        println!("{name}: {}", diagnostics[0]);
    }
    assert_eq!(bodies, 7007);
    assert!(refused.len() <= 3);
}

#[test]
fn bodies_have_meanings() {
    let source = need!(source());
    let errata = errata();
    let loaded = guide::load(&source, &errata).expect("the file is XML");
    println!("{:?}", loaded.counts);
    for (erratum, intrinsics) in &loaded.errata {
        println!("erratum {erratum}: {} intrinsics", intrinsics.len());
    }
    let counts = loaded.counts;
    assert!(counts.lowered >= 6939, "{counts:?}");
    assert_eq!(counts.called, 575);
    // Whatever has no meaning is accounted for.
    assert_eq!(loaded.diagnostics.len(), counts.bodies - counts.lowered);
    for diagnostic in &loaded.diagnostics {
        let place = diagnostic.place.as_ref().expect("a place");
        let ours = place.0.name().ends_with("errata.yaml");
        assert!(!ours, "what replaces a body is wrong itself: {diagnostic}");
        println!("{}: {}", diagnostic.notes.join("; "), diagnostic.message);
    }
    let (entries, _) = vendor::read(&source).expect("the file is XML");
    let mut in_file = BTreeMap::new();
    for entry in entries.iter().filter(|e| e.tech == "AVX-512") {
        in_file.insert(entry.name.as_str(), entry.operation.is_some());
    }
    let all = loaded.instructions.iter().chain(&loaded.system);
    let wide = all
        .filter(|i| in_file.contains_key(i.name.as_str()))
        .count();
    let bodies = in_file.values().filter(|body| **body).count();
    println!("AVX-512: {wide} of {bodies} bodies have meanings");
    assert!(wide >= 5060);
    println!("{} entries have no body", loaded.silent.len());
    // What names lines may be about another version.
    let here = |name: &&str| !errata.of(name).iter().all(|e| e.names_lines());
    for name in errata.intrinsics().filter(here) {
        assert!(
            entries.iter().any(|e| e.name == name),
            "an erratum is about `{name}`, which is not in the file"
        );
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let source = need!(source());
    let errata = Errata::default();
    let load = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads can be started");
        pool.install(|| guide::load(&source, &errata).expect("the file is XML"))
    };
    let (one, four) = (load(1), load(4));
    assert_eq!(one.counts, four.counts);
    assert!(one.instructions == four.instructions);
    assert!(one.diagnostics == four.diagnostics);
}

/// Errata name the texts that they mend; `UPDATE_EXPECT=1` writes what they are in this file.
#[test]
fn errata_name_the_texts_of_this_version() {
    let source = need!(source());
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../isa-specs/x86/errata.yaml");
    let (entries, _) = vendor::read(&source).expect("the file is XML");
    let errata = errata();
    let mut marks: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut other = Vec::new();
    for entry in &entries {
        let Some(span) = entry.operation else {
            continue;
        };
        let found = VendorText::of(source.slice(span), &entry.signature());
        for erratum in errata.of(&entry.name) {
            let list = marks.entry(erratum.name.clone()).or_default();
            list.insert(format!("{:08x}", erratum.mark(found)));
            if !erratum.is_about(found) {
                other.push(format!("{}: {}", erratum.name, entry.name));
            }
        }
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let text = std::fs::read_to_string(path).expect("it is ours");
        std::fs::write(path, with_marks(&text, &marks)).expect("it is ours");
        return;
    }
    assert!(other.is_empty(), "errata of other texts: {other:?}");
}

/// The errata with these marks in place of those that were there.
fn with_marks(text: &str, marks: &BTreeMap<String, BTreeSet<String>>) -> String {
    let mut out = String::new();
    let (mut name, mut inside) = ("", false);
    for line in text.lines() {
        name = line.strip_prefix("- erratum: ").unwrap_or(name);
        inside = line.starts_with("  texts:") || inside && line.starts_with("    ");
        if inside {
            continue;
        }
        if line.starts_with("  wrong:")
            && let Some(list) = marks.get(name)
        {
            let list: Vec<&str> = list.iter().map(String::as_str).collect();
            let lines: Vec<String> = list
                .chunks(10)
                .map(|c| format!("    {}", c.join(" ")))
                .collect();
            out += &format!("  texts: >-\n{}\n", lines.join("\n"));
        }
        out += line;
        out.push('\n');
    }
    out
}
