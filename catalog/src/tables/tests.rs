//! The tables of small dictionaries and of all of x86.

use super::*;
use crate::record::{Cost, Encoding, Field, Known};
use autoir::dictionary::Dictionary;
use semantics::build as b;
use semantics::instruction::{Element, Form, Instruction, Operand, Origin, Output, Role};
use semantics::sort::Sort;
use semantics::term::Term;
use serde_json::Value;
use smt::config::Config;
use smt::prover::Prover;
use std::collections::BTreeMap;

/// Element-wise sums of two widths, one of them with everything that may be known.
fn dictionary() -> Dictionary {
    let sum = |width: u32| {
        let part = |name: &str| {
            let at = b::int_mul(Term::index(), Term::int(i64::from(width)));
            b::extract_at(Term::var(name, Sort::Bv(64)), at, width)
        };
        let operand = |name: &str| Operand {
            name: name.to_owned(),
            c_type: "v, \"w\"".to_owned(),
            element: Element::Unsigned(width),
            width: 64,
            role: Role::Register,
        };
        Instruction {
            name: format!("sum_{width}"),
            isa: "test".to_owned(),
            mnemonic: (width == 8).then(|| "sum".to_owned()),
            operands: vec![operand("a"), operand("b")],
            outputs: vec![Output {
                name: "dst".to_owned(),
                c_type: "v".to_owned(),
                element: Element::Unsigned(width),
                term: b::map(64 / width, b::add(part("a"), part("b"))),
                undefined: Vec::new(),
            }],
            features: vec!["F1".to_owned(), "F2".to_owned()],
            form: Form::Single,
            pseudocode: "x".to_owned(),
            origin: Origin::default(),
        }
    };
    let some = [sum(8), sum(16)];
    let prover = Prover::new(Config::default());
    let found = similarity::classify::classify(&some, &prover, &|_, _, _| {});
    autoir::build::build(&found, &some)
}

fn known() -> BTreeMap<(String, String), Known> {
    let known = Known {
        doc: Some("A sum.".to_owned()),
        pseudocode: Some("dst := a + b".to_owned()),
        origin: Origin {
            file: "test.yaml".to_owned(),
            line: 3,
            family: Some("sum".to_owned()),
            errata: vec!["slip".to_owned()],
        },
        encoding: Some(Encoding {
            text: "sum a, b".to_owned(),
            mask: "0xff".to_owned(),
            bits: "0x2b".to_owned(),
            fields: vec![Field {
                operand: "a".to_owned(),
                at: 8,
                width: 3,
                from: 0,
            }],
        }),
        costs: vec![Cost {
            cpu: "fast".to_owned(),
            latency: 1.0,
            throughput: 0.5,
            resource: Some("adder".to_owned()),
            source: None,
            stands: None,
        }],
        checks: vec!["Agrees, \"always\".".to_owned()],
    };
    [(("test".to_owned(), "sum_8".to_owned()), known)].into()
}

fn text(path: &str) -> String {
    let (dictionary, known) = (dictionary(), known());
    let about = vec!["Made here -- of this.".to_owned()];
    let catalog = Catalog::new(&dictionary, vec!["test".to_owned()], about, &known);
    let files = files(&catalog);
    let file = files
        .iter()
        .find(|f| f.path == path)
        .expect("it is written");
    let mut out = Vec::new();
    (file.write)(&mut out).expect("memory can be written");
    String::from_utf8(out).expect("it is UTF-8")
}

/// What a value breaks of a schema that uses no more than ours does.
fn breaks(value: &Value, schema: &Value, root: &Value, place: &str, found: &mut Vec<String>) {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.strip_prefix("#/$defs/").expect("references are local");
        return breaks(value, &root["$defs"][name], root, place, found);
    }
    let right = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        _ => true,
    };
    let listed = schema["enum"]
        .as_array()
        .is_none_or(|all| all.contains(value));
    let constant = schema["const"].is_null() || schema["const"] == *value;
    if !(right && listed && constant) {
        found.push(format!("{place}: {value}"));
    }
    let (items, letters) = (value.as_array().map(Vec::len), value.as_str().map(str::len));
    for (limit, length) in [("minItems", items), ("minLength", letters)] {
        if let (Some(least), Some(length)) = (schema[limit].as_u64(), length)
            && (length as u64) < least
        {
            found.push(format!("{place}: {length} is less than {limit}"));
        }
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        if value[name.as_str().expect("names are texts")].is_null() {
            found.push(format!("{place}: no {name}"));
        }
    }
    for (name, inner) in value.as_object().into_iter().flatten() {
        match (&schema["properties"][name], &schema["additionalProperties"]) {
            (Value::Null, Value::Bool(false)) => found.push(format!("{place}: {name} is new")),
            (Value::Null, others) => breaks(inner, others, root, name, found),
            (own, _) => breaks(inner, own, root, name, found),
        }
    }
    for inner in value.as_array().into_iter().flatten() {
        breaks(inner, &schema["items"], root, place, found);
    }
}

#[test]
fn the_json_table_keeps_to_its_schema() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    let mut table: Value = serde_json::from_str(&text("tables/instructions.json")).expect("JSON");
    let mut found = Vec::new();
    breaks(&table, &schema, &schema, "table", &mut found);
    assert!(found.is_empty(), "{found:?}");
    assert_eq!(table["instructions"][1]["name"], "sum_8");
    assert_eq!(table["instructions"][1]["parameters"]["count"], 8);
    assert_eq!(
        table["instructions"][1]["formula"],
        "i < 8: dst[i] = a[i] + b[i]"
    );
    assert_eq!(table["instructions"][1]["cost"][0]["throughput"], 0.5);
    assert_eq!(table["operations"][0]["kind"], "integer arithmetic");
    // A command of a machine changes its state and has no result.
    table["instructions"][0]["results"] = Value::Array(Vec::new());
    breaks(&table, &schema, &schema, "table", &mut found);
    assert!(found.is_empty(), "{found:?}");
    // The check sees what is wrong.
    table["instructions"][0]["operands"][0]["role"] = "wheel".into();
    table["instructions"][0]["evidence"].take();
    table["instructions"][0]["name"] = "".into();
    table["isas"] = Value::Array(Vec::new());
    breaks(&table, &schema, &schema, "table", &mut found);
    assert_eq!(found.len(), 5, "{found:?}");
}

#[test]
fn the_csv_table_quotes_what_needs_it() {
    let text = text("tables/instructions.csv");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "# Made here -- of this.");
    assert!(lines[1].starts_with("name,isa,mnemonic,"));
    assert!(
        lines[3].starts_with(
            "sum_8,test,sum,instruction,integer arithmetic,F1; F2,\
         \"v, \"\"w\"\" a: u8; v, \"\"w\"\" b: u8\",v dst: u8,add,width=8; count=8,a=a; b=b,"
        ),
        "{}",
        lines[3]
    );
    assert!(
        lines[3].contains(",0x2b mask 0xff,fast: 1/0.5,"),
        "{}",
        lines[3]
    );
}

#[test]
fn a_markdown_page_has_a_table_for_each_operation() {
    let page = text("tables/integer-arithmetic.md");
    assert!(
        page.contains("| `sum_8` | test | sum | F1, F2 | 8 | 8 | fast 1/0.5 |"),
        "{page}"
    );
    assert!(
        page.contains("Made here - - of this."),
        "a comment ends where it should"
    );
    assert!(text("tables/README.md").contains("- [add](integer-arithmetic.md#add) (2)"));
}
