//! The vendor's data file, where it is at hand: counts of what parses.

use semantics::span::Source;
use spec_parser::intel::{parser, vendor};

#[test]
fn bodies_parse() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/vendor/intel/intrinsics-guide-3.6.9.xml");
    let Ok(text) = std::fs::read_to_string(path) else {
        println!("skipped: {path} is not there");
        return;
    };
    let source = Source::new("intrinsics-guide-3.6.9.xml", text);
    let t = std::time::Instant::now();
    let (entries, problems) = vendor::read(&source).expect("the file is XML");
    println!("xml {:?}", t.elapsed());
    assert!(problems.is_empty());
    let mut bodies = 0;
    let mut bad = Vec::new();
    for entry in &entries {
        let Some(span) = entry.operation else { continue };
        bodies += 1;
        if let Err(e) = parser::parse(&source, span, true) {
            bad.push((entry.name.clone(), e));
        }
    }
    println!("{} entries, {bodies} bodies, {} not parsed {:?}", entries.len(), bad.len(), t.elapsed());
    for (name, e) in &bad {
        println!("{name}: {}", e[0]);
    }
    assert!(bodies - bad.len() >= 6990);
}
