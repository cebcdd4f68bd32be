//! The scripts and data of a guide.

use crate::File;
use crate::record::Catalog;
use crate::sense::Fact;
use autoir::dictionary::Dictionary;
use semantics::span::Source;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A dictionary of one operation that interleaves, written by hand.
const DICTIONARY: &str = "isaforge-dictionary 1
(operation pair
  (parameters width)
  (arguments a b)
  (formula |dst = {b, a}|)
  (swizzle)
  (result
    (argument 0 p0)
    (argument 1 p0)
    (apply concat () %1 %0))
  (member pair_8 one single
    (operand a v u8 8 register)
    (operand b v u8 8 register)
    (returns dst v u8)
    (values 8)
    (bind a b)
    (evidence |identical (1)|)))
(end 1)
";

fn written(files: &[File<'_>], path: &str) -> String {
    let file = files.iter().find(|f| f.path == path);
    let mut out = Vec::new();
    (file.unwrap_or_else(|| panic!("no {path}")).write)(&mut out).expect("memory can be written");
    String::from_utf8(out).expect("it is UTF-8")
}

/// The JSON of a call that hands packed data over.
fn unpacked(script: &str, call: &str) -> Value {
    let text = script
        .strip_prefix(call)
        .and_then(|t| t.strip_prefix('"')?.strip_suffix("\");\n"));
    let digit = |c: u8| match c {
        b'A'..=b'Z' => u32::from(c - b'A'),
        b'a'..=b'z' => u32::from(c - b'a') + 26,
        b'0'..=b'9' => u32::from(c - b'0') + 52,
        b'+' => 62,
        b'/' => 63,
        _ => panic!("{c} is no digit of base64"),
    };
    let text = text.expect("a call with a text").trim_end_matches('=');
    let bytes = text.as_bytes().chunks(4).flat_map(|four| {
        let word =
            (four.iter().enumerate()).fold(0, |word, (k, &c)| word | digit(c) << (26 - 6 * k));
        word.to_be_bytes().into_iter().take(four.len() * 6 / 8)
    });
    let bytes: Vec<u8> = bytes.collect();
    let json = miniz_oxide::inflate::decompress_to_vec(&bytes).expect("DEFLATE");
    serde_json::from_slice(&json).expect("JSON")
}

#[test]
fn bytes_are_written_in_base64() {
    // The vectors of RFC 4648.
    for (bytes, text) in [
        ("", ""),
        ("f", "Zg=="),
        ("fo", "Zm8="),
        ("foo", "Zm9v"),
        ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ] {
        let mut out = Vec::new();
        super::pack::base64(&mut out, bytes.as_bytes()).expect("memory can be written");
        assert_eq!(out, text.as_bytes(), "{bytes}");
    }
}

#[test]
fn data_is_a_call_with_json() {
    let dictionary = Dictionary::read(&Source::new("test", DICTIONARY)).expect("a dictionary");
    let about = vec!["Made here.".to_owned()];
    let isas = vec!["one".to_owned(), "two".to_owned()];
    let catalog = Catalog::new(&dictionary, isas, about, &BTreeMap::new());
    let files = super::files(&catalog);
    let index = written(&files, "guide/data/index.js");
    let index = index
        .strip_prefix("guide.index(")
        .and_then(|t| t.strip_suffix(");\n"));
    let index: Value = serde_json::from_str(index.expect("a call")).expect("JSON");
    assert_eq!(index["isas"], serde_json::json!(["one", "two"]));
    assert_eq!(index["kinds"], serde_json::json!(["movement"]));
    assert_eq!(index["instructions"][0][0], "pair_8");
    let page = written(&files, "guide/data/0.js");
    let page = unpacked(&page, "guide.page(0,");
    let member = &page["operations"]["0"]["members"][0];
    assert_eq!(member["formula"], "dst = {b, a}");
    let flow = &page["flows"][0];
    assert_eq!(
        flow["elements"],
        serde_json::json!([[[0, 0, 0, 1]], [[1, 0, 0, 1]]])
    );
}

#[test]
fn the_page_names_only_files_that_are_written() {
    let dictionary = Dictionary::default();
    let catalog = Catalog::new(&dictionary, Vec::new(), Vec::new(), &BTreeMap::new());
    let files = super::files(&catalog);
    let paths: BTreeSet<&str> = files.iter().map(|f| f.path.as_str()).collect();
    let page = written(&files, "guide/index.html");
    let named = page
        .split(['"', '\''])
        .filter(|t| t.ends_with(".js") || t.ends_with(".css"));
    let mut count = 0;
    for name in named {
        count += 1;
        assert!(
            paths.contains(format!("guide/{name}").as_str()),
            "{name} is not written"
        );
    }
    assert_eq!(count, 18);
    let all: String = files.iter().map(|f| written(&files, &f.path)).collect();
    for word in ["fetch(", "XMLHttpRequest", "https:", "innerHTML", "import "] {
        assert!(!all.contains(word), "the guide uses `{word}`");
    }
}

#[test]
fn the_thesaurus_asks_for_facts_that_there_are() {
    let text = include_str!("thesaurus.js");
    let at = text.find("guide.thesaurus(").expect("a call") + "guide.thesaurus(".len();
    let call = text[at..].trim_end().strip_suffix(");").expect("a call");
    let thesaurus: Value = serde_json::from_str(call).expect("JSON");
    let known: BTreeSet<&str> = Fact::ALL.iter().map(|f| f.name()).collect();
    let mut asked = BTreeSet::new();
    for line in thesaurus["meanings"].as_array().expect("lines") {
        let facts = line[1].as_str().expect("facts");
        for fact in facts.split(['|', ' ']).filter(|f| !f.is_empty()) {
            assert!(known.contains(fact), "{line}: no fact is called `{fact}`");
            asked.insert(fact);
        }
        assert!(
            !facts.is_empty() || line[2].is_string(),
            "{line} asks for nothing"
        );
    }
    // Kinds and widths of elements are asked for by the words for types.
    let typed = ["float", "integer", "f16", "f32", "f64", "bf16"];
    let silent: Vec<&&str> = known
        .iter()
        .filter(|f| !asked.contains(**f) && !typed.contains(f) && !f.ends_with("-bit"))
        .collect();
    assert!(silent.is_empty(), "no words ask for {silent:?}");
}
