//! Prints the meaning of intrinsics of a data file: `lowered FILE [ERRATA|-] [NAME…]`; with no
//! name all of them; with `--why` what kept the others from having one, by reason, and with
//! `--left` each of those on a line.

use semantics::span::Source;
use spec_parser::errata::{self, Errata};
use spec_parser::intel::guide;
use std::collections::BTreeMap;
use std::path::Path;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, errata_file, names @ ..] = args.as_slice() else {
        eprintln!("usage: lowered FILE ERRATA|- [--why|--left] [NAME...]");
        std::process::exit(1);
    };
    let text = std::fs::read_to_string(file).expect("the data file is readable");
    let errata = if errata_file == "-" {
        Errata::default()
    } else {
        errata::load(Path::new(errata_file)).expect("the errata are right")
    };
    let start = std::time::Instant::now();
    let source = Source::new(file.clone(), text);
    let loaded = guide::load(&source, &errata).expect("the data file is XML");
    eprintln!("{:?} in {:?}", loaded.counts, start.elapsed());
    for (erratum, intrinsics) in &loaded.errata {
        eprintln!("erratum {erratum}: {}", intrinsics.join(" "));
    }
    if names.first().is_some_and(|n| n == "--why") {
        let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for d in &loaded.diagnostics {
            let note = d.notes.first().map_or("", String::as_str);
            reasons.entry(&d.message).or_default().push(note);
        }
        let mut sorted: Vec<_> = reasons.iter().collect();
        sorted.sort_by_key(|(_, v)| std::cmp::Reverse(v.len()));
        for (reason, notes) in sorted {
            println!(
                "{:5} {reason}   {}",
                notes.len(),
                notes[..notes.len().min(4)].join(" ")
            );
        }
        return;
    }
    if names.first().is_some_and(|n| n == "--left") {
        for d in &loaded.diagnostics {
            println!("{}: {}", d.notes.join("; "), d.message);
        }
        return;
    }
    for i in &loaded.instructions {
        if names.is_empty() || names.contains(&i.name) {
            println!("{} -> {}", i.name, i.term());
        }
    }
}
