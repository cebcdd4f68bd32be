//! Prints the meaning of intrinsics of the vendor's file, by name; without names, what could
//! not be lowered, by reason.
//!
//! `cargo run --release --example dump -- guide.xml [name…]`

use rayon::prelude::*;
use semantics::diagnostic::Diagnostic;
use semantics::instruction::Instruction;
use semantics::span::Source;
use spec_parser::intel::{lower, vendor};
use std::collections::BTreeMap;

fn main() {
    let mut args = std::env::args().skip(1);
    let Some(path) = args.next() else {
        eprintln!("usage: dump guide.xml [name…]");
        std::process::exit(2);
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{path}: {error}");
            std::process::exit(1);
        }
    };
    let names: Vec<String> = args.collect();
    let source = Source::new(path, text);
    let start = std::time::Instant::now();
    let entries = match vendor::read(&source) {
        Ok((entries, _)) => entries,
        Err(problem) => {
            eprint!("{problem}");
            std::process::exit(1);
        }
    };
    eprintln!("read {:?}", start.elapsed());
    let results: Vec<(&vendor::Entry, Result<Instruction, Vec<Diagnostic>>)> = entries
        .par_iter()
        .filter(|e| names.is_empty() || names.contains(&e.name))
        .filter_map(|e| {
            let span = e.operation?;
            let t = std::time::Instant::now();
            let r = lower::lower_body(&e.signature(), &source, span, true);
            if t.elapsed().as_millis() > 50 {
                eprintln!("slow {} {:?}", e.name, t.elapsed());
            }
            Some((e, r))
        })
        .collect();
    eprintln!("{} bodies in {:?}", results.len(), start.elapsed());
    let mut reasons: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut lowered = 0;
    for (entry, result) in &results {
        match result {
            Ok(i) if !names.is_empty() => {
                println!("{}\n{}\n    {}\n", i.name, i.pseudocode.trim(), i.term());
            }
            Ok(_) => lowered += 1,
            Err(d) if !names.is_empty() => print!("{}", semantics::diagnostic::render(d)),
            Err(d) => reasons
                .entry(d[0].message.clone())
                .or_default()
                .push(&entry.name),
        }
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    for (reason, names) in &reasons {
        let some = names.iter().take(5).copied().collect::<Vec<_>>().join(" ");
        println!("{:5} {reason}: {some}", names.len());
    }
    println!("{lowered} lowered");
}
