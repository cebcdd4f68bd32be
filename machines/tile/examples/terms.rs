//! scratch
use std::path::Path;
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../isa-specs/{}/manifest.yaml", args[0]));
    let (machine, _) = spec_parser::matrix::load::load(&folder).unwrap();
    for i in &machine.instructions {
        if args.len() > 1 && !args[1..].contains(&i.instruction.name) { continue }
        println!("== {} {:?} implicit {:?}", i.instruction.name, i.operands, i.implicit);
        for o in &i.instruction.outputs { let t = format!("{}", o.term); println!("  {} := {} ({} chars)", o.name, &t[..t.len().min(1500)], t.len()); }
        for r in &i.requires { println!("  require {}", r.condition) }
    }
}
