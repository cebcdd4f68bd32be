//! The tables and the guide of x86 and RVM, and the examples that use them: read by other
//! programs, and by a person in a browser.

use super::browser::Browser;
use super::contrast::faint;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use test_support::{need, skip_part};

/// What `isaforge build` writes, made once.
pub(super) static BUILD: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guide");
    let _ = std::fs::remove_dir_all(&folder);
    let output = folder.display().to_string();
    let arguments = ["build", "--isa", "x86,rvm", "--output", &output];
    let run = super::isaforge(&arguments, &super::folder());
    let log = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{log}");
    folder
});

/// What a program writes to standard output.
fn output(program: &Path, arguments: &[&str]) -> String {
    let run = Command::new(program)
        .args(arguments)
        .current_dir(super::folder().join(".."))
        .output();
    let run = run.unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    let log = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{}: {log}", program.display());
    String::from_utf8(run.stdout).expect("it is UTF-8")
}

/// An example, as cargo builds it beside the binary.
fn example(name: &str) -> PathBuf {
    let binary = Path::new(env!("CARGO_BIN_EXE_isaforge"));
    let path = binary.with_file_name("examples").join(name);
    assert!(
        path.exists(),
        "`cargo build --examples` makes {}",
        path.display()
    );
    path
}

#[test]
fn the_tables_are_read_in_python_and_in_rust() {
    let tables = BUILD.join("tables");
    let tables = tables.to_str().expect("it is UTF-8");
    let python = output(Path::new("python3"), &["examples/read_table.py", tables]);
    assert!(python.contains("x86: 6034\n"), "{python}");
    let shared = python.lines().last().expect("it has lines");
    assert!(
        shared.contains(" add,") && shared.contains("dot_product_acc"),
        "{shared}"
    );
    if python.contains("not checked") {
        skip_part!("{}", python.lines().next().unwrap_or_default());
    }
    let json = format!("{tables}/instructions.json");
    let rust = output(&example("read_table"), &[&json, "add"]);
    assert!(
        rust.contains("_mm_add_epi8 (x86) a: u8 of 128 bits"),
        "{rust}"
    );
    assert!(rust.contains("add (rvm)"), "{rust}");
}

#[test]
fn the_examples_look_up_and_synthesise() {
    let dictionary = BUILD.join("x86,rvm.dictionary");
    let dictionary = dictionary.to_str().expect("it is UTF-8");
    let found = output(&example("look_up"), &[dictionary, "mmaqa.b"]);
    assert!(found.contains("mmaqa.b is dot_product_acc"), "{found}");
    assert!(
        found.contains("on x86 it is _mm512_dpbusd_epi32"),
        "{found}"
    );
    // Bytes 1, 2 and 3 in the operands in the order of their names: 3 * 2 in each of 16 products,
    // added to 32-bit elements of bytes 1.
    assert!(found.contains("result = "), "{found}");
    let features = ["SSE2", "AVX", "AVX2"];
    let arguments = [&[dictionary, "examples/average.kernel"], &features[..]].concat();
    let made = output(&example("synthesise"), &arguments);
    assert!(made.contains("_mm256_avg_epu8"), "{made}");
    assert!(made.contains("proved: "), "{made}");
}

/// The guide in a browser, or why there is none.
pub(super) fn browser() -> Result<Browser, String> {
    let mut browser = Browser::start()?;
    let page = BUILD.join("guide").join("index.html");
    let page = page.canonicalize().expect("the guide is there");
    browser.open(&format!("file://{}", page.display()), "guide.first > 0");
    Ok(browser)
}

pub(super) const SHOWN: &str = "document.querySelector('#detail h2').textContent";

#[test]
fn a_person_finds_an_instruction_and_its_relatives() {
    let mut page = need!(browser());
    // Other tests run beside this one: the best of a few openings counts.
    let mut first = f64::INFINITY;
    for _ in 0..5 {
        let time = page.value("guide.first").as_f64().expect("a time");
        first = first.min(time);
        if first < 1000.0 {
            break;
        }
        page.call("Page.reload", json!({}));
        std::thread::sleep(std::time::Duration::from_millis(500));
        page.wait("guide.first > 0");
    }
    println!("first results after {first:.0} ms");
    assert!(first < 1000.0, "first results after {first} ms");
    let about = page.value("document.getElementById('about').textContent");
    assert!(
        about.as_str().is_some_and(|t| t.starts_with("6,0")),
        "{about}"
    );

    // Slash, a name, Enter.
    page.press("/", 191);
    page.wait("document.activeElement.id === 'q'");
    page.write("mm512_add_epi32");
    page.wait("document.querySelector('#results a .code').textContent === '_mm512_add_epi32'");
    page.press("Enter", 13);
    page.wait(&format!("{SHOWN} === '_mm512_add_epi32'"));
    let formula = page.value("document.querySelector('#detail .formula').textContent");
    assert_eq!(formula, json!("i < 16: dst[i] = a[i] + b[i]"));
    // At own numbers loops that run once are none, and bits are elements.
    let own = page.value(
        "guide.load(guide.data.instructions.find((i) => i.name === '_mm512_dpbusd_epi32').operation) \
         .then((page) => JSON.stringify(page))",
    );
    let sum = "i < 16: dst[i] = src[i] + sum(j < 4: (zext<32>(a[4*i + j])*sext<32>(b[4*i + j])))";
    assert!(own.as_str().is_some_and(|t| t.contains(sum)), "{own}");
    let text = page.value("document.getElementById('detail').textContent");
    let text = text.as_str().expect("a text");
    for wanted in [
        "The same operation on rvm is add",
        "znver4",
        "Agrees with a Zen 4 processor",
        "dst[i+31:i] := a[i+31:i] + b[i+31:i]",
        "Wrapping addition",
    ] {
        assert!(text.contains(wanted), "no `{wanted}` in {text}");
    }

    // The relative on the other instruction set, by a click.
    page.click("#detail a[href^='#/i/add']");
    page.wait(&format!("{SHOWN} === 'add'"));
    assert_eq!(
        page.value("document.querySelectorAll('#detail .word td').length > 3"),
        json!(true)
    );
    assert_eq!(page.value("document.activeElement.tagName"), json!("H2"));

    // Filters by keyboard, results by arrows.
    page.click("#clear");
    page.value("document.querySelector('#isa summary').focus()");
    page.press("Enter", 13);
    page.wait("document.getElementById('isa').open");
    page.value("document.getElementById('isa-rvm').focus()");
    page.press(" ", 32);
    page.wait("guide.chosen('isa').join() === 'rvm'");
    page.wait("/^[1-9][0-9] /.test(document.getElementById('status').textContent)");
    page.value("document.getElementById('q').focus()");
    page.write("tile zz");
    page.wait("document.querySelector('#results .note')");
    page.click("#clear");
    page.write("gather");
    page.press("ArrowDown", 40);
    page.press("ArrowDown", 40);
    page.wait("document.activeElement === document.querySelectorAll('#results a')[1]");
    page.press("ArrowUp", 38);
    page.press("Enter", 13);
    page.wait("location.hash.startsWith('#/o/') && location.hash.endsWith('?q=gather')");
    page.press("Escape", 27);
    page.wait("document.activeElement.id === 'q'");
    let slowest = "Math.max(...['a', 'mm512_mask', 'add epi8', 'dst[i] sat'].map((q) => { \
                   const t = performance.now(); \
                   guide.find({q, isa: '', feature: '', element: '', kind: ''}); \
                   return performance.now() - t; }))";
    let slowest = page.value(slowest).as_f64().expect("a time");
    println!("slowest of four searches: {slowest:.0} ms");
    assert!(slowest < 500.0, "a search of {slowest} ms");
    assert!(page.mistakes.is_empty(), "{:?}", page.mistakes);
}

/// Queries as people type them, with the instruction that is shown for one of the first three
/// operations, as a regular expression.
const QUERIES: &str = include_str!("guide_queries.txt");

/// Few may be missed.
const MISSED: usize = 3;

#[test]
fn what_people_type_is_found() {
    let mut page = need!(browser());
    let lines = QUERIES.lines().filter(|l| !l.starts_with('#'));
    let queries: Vec<(&str, &str)> = lines.filter_map(|l| l.split_once(" | ")).collect();
    assert!(queries.len() >= 60, "{} queries", queries.len());
    let (mut missed, mut slowest) = (Vec::new(), 0.0_f64);
    for (query, wanted) in &queries {
        let (query, wanted) = (json!(query), json!(wanted));
        let asked = format!(
            "(() => {{ const t = performance.now(); \
             const found = guide.find({{ q: {query} }}); const ms = performance.now() - t; \
             const shown = found.operations.slice(0, 3).map((o) => found.best.get(o).name); \
             return [shown.some((n) => new RegExp({wanted}).test(n)), ms, shown.join(' ')]; }})()"
        );
        let answer = page.value(&asked);
        slowest = slowest.max(answer[1].as_f64().expect("a time"));
        if answer[0] != json!(true) {
            missed.push(format!("{query}: {}", answer[2]));
        }
    }
    println!(
        "{} of {} queries answered, the slowest in {slowest:.0} ms",
        queries.len() - missed.len(),
        queries.len()
    );
    assert!(missed.len() <= MISSED, "{}", missed.join("\n"));
    assert!(slowest < 500.0, "a query of {slowest} ms");
    assert!(page.mistakes.is_empty(), "{:?}", page.mistakes);
}

/// Expressions with how many instructions compute each and one of them, as a regular expression.
const EXPRESSIONS: &str = include_str!("guide_expressions.txt");

#[test]
fn expressions_find_what_computes_them() {
    let mut page = need!(browser());
    let lines = EXPRESSIONS.lines().filter(|l| !l.starts_with('#'));
    let (mut wrong, mut slowest, mut count) = (Vec::new(), 0.0_f64, 0);
    for line in lines.filter(|l| !l.is_empty()) {
        let (number, rest) = line.split_once(" | ").expect("three parts");
        let (text, wanted) = rest.rsplit_once(" | ").expect("three parts");
        // Of several that do it together the last, where there are so many.
        let names = match number {
            "1" => {
                "[...r.found.slice(0, 8).flatMap((f) => f.instructions.map((i) => i.name)), \
                 ...r.sequences.filter((s) => s.steps.length === 1).map((s) => s.steps[0].instruction.name)]".to_owned()
            }
            _ => format!(
                "r.sequences.filter((s) => s.isa === 'x86' && s.steps.length === {number}) \
                 .map((s) => s.steps.at(-1).instruction.name)"
            ),
        };
        let (typed, regular) = (json!(text), json!(wanted));
        let answer = page.value(&format!(
            "(async () => {{ const t = performance.now(); const r = await guide.matches({typed}); \
             const ms = performance.now() - t; if (!r) return [false, ms, 'no expression']; \
             const names = {names}; \
             return [names.some((n) => new RegExp({regular}).test(n)), ms, names.join(' ')]; }})()"
        ));
        slowest = slowest.max(answer[1].as_f64().expect("a time"));
        count += 1;
        if answer[0] != json!(true) {
            wrong.push(format!("{text}: {}", answer[2]));
        }
    }
    println!("{count} expressions, the slowest in {slowest:.0} ms");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(slowest < 2500.0, "an expression of {slowest} ms");

    // A sequence is shown step by step, each a link to its instruction.
    page.value("document.getElementById('q').focus()");
    page.write("(a * b + 128) >> 8");
    page.wait("document.querySelectorAll('#results ol[aria-label^=\"On x86\"] a').length === 5");
    let last = page.value("[...document.querySelectorAll('#results ol[aria-label^=\"On x86\"] a .step')].at(-1).textContent");
    assert_eq!(last, json!("result = t4 >> 8"));
    page.click("#clear");

    // In the box, and two instructions side by side with an input that tells them apart.
    page.value("document.getElementById('q').focus()");
    page.write("a + b > 255 ? 255 : a + b");
    page.wait("document.querySelector('#results a .code').textContent.endsWith('_adds_epu8')");
    page.value("location.hash = '#/c/_mm_adds_epu8/_mm_adds_epi8'");
    page.wait("document.querySelectorAll('#detail .pair td').length > 10");
    let text = page.value("document.getElementById('detail').textContent");
    let text = text.as_str().expect("a text");
    for wanted in ["One operation with different numbers", "gives", "sat_uu"] {
        assert!(text.contains(wanted), "no `{wanted}` in {text}");
    }
    assert!(page.mistakes.is_empty(), "{:?}", page.mistakes);
}

#[test]
fn several_filters_and_an_order_are_kept_in_the_address() {
    let mut page = need!(browser());
    // Two extensions and two elements at once: what has one of each.
    let wanted = "isa=x86&feature=AVX2%2CAVX512BW&element=i8%2Cu8&q=add";
    page.value(&format!("location.hash = '#/?{wanted}'"));
    page.wait("guide.chosen('feature').length === 2 && guide.chosen('element').length === 2");
    let all = "guide.find({q: 'add', isa: ['x86'], feature: ['AVX2', 'AVX512BW'], element: ['i8', 'u8'], kind: []}).instructions";
    let fits = page.value(&format!(
        "{all}.length > 10 && {all}.every((i) => i.isa === 'x86' && i.features.some((f) => /^AVX2$|^AVX512BW$/.test(f)) \
         && i.elements.some((e) => /^[iu]8$/.test(e)))"
    ));
    assert_eq!(fits, json!(true));
    // A box more, by the mouse, is in the address at once.
    page.click("#element summary");
    page.click("#element-u16");
    page.wait("/element=[^&]*u16/.test(location.hash)");
    page.click("#clear");
    page.wait("guide.chosen('element').length === 0 && !/element=/.test(location.hash)");

    // By what they cost on a processor that LLVM models: ascending, each with its figure.
    page.value("location.hash = '#/?q=multiply&by=latency&cpu=' + encodeURIComponent('x86: icelake-server (llvm-mca of LLVM 19.1.7)')");
    page.wait("/icelake-server/.test(document.querySelector('#results h2').textContent)");
    let latencies = "[...document.querySelectorAll('#results .faint')].map((s) => /^latency ([0-9.]+)/.exec(s.textContent)).filter(Boolean).map((m) => Number(m[1]))";
    let sorted = page.value(&format!(
        "(() => {{ const l = {latencies}; return l.length > 20 && l.every((x, k) => !k || l[k - 1] <= x); }})()"
    ));
    assert_eq!(sorted, json!(true));

    // The table of one instruction: several processors, sorted by a click on a head.
    page.value("location.hash = '#/i/_mm512_mullo_epi64'");
    page.wait(&format!("{SHOWN} === '_mm512_mullo_epi64'"));
    let rows = page.value("document.querySelectorAll('#detail .cost tbody tr').length");
    assert!(rows.as_u64().is_some_and(|n| n >= 7), "{rows} processors");
    page.click("#detail .cost thead th:nth-child(2) button");
    page.wait("document.querySelector('#detail .cost [aria-sort=ascending]')");
    let sorted = "(() => { const l = [...document.querySelectorAll('#detail .cost tbody td:nth-child(2)')].map((c) => Number(c.textContent)); \
                  return l.every((x, k) => !k || l[k - 1] <= x); })()";
    assert_eq!(page.value(sorted), json!(true));
    assert!(page.mistakes.is_empty(), "{:?}", page.mistakes);
}

/// Megabytes that the guide of two sets may take; that of all five has 10 at the most.
const MOST_MEGABYTES: u64 = 4;

#[test]
fn the_guide_is_small() {
    let mut bytes = 0;
    let guide = BUILD.join("guide");
    for folder in [
        guide.clone(),
        guide.join("data"),
        guide.join("data/meanings"),
    ] {
        for file in std::fs::read_dir(folder)
            .expect("the guide is there")
            .flatten()
        {
            let metadata = file.metadata().expect("a file has a size");
            bytes += if metadata.is_file() {
                metadata.len()
            } else {
                0
            };
        }
    }
    println!("the guide has {bytes} bytes");
    assert!(bytes > 0 && bytes < MOST_MEGABYTES << 20, "{bytes} bytes");
}

#[test]
fn drawings_show_where_elements_go() {
    let mut page = need!(browser());
    let said = "[...document.querySelectorAll('#detail figure li')].map((l) => l.textContent)";
    for (name, lines, edges) in [
        (
            "_mm_unpacklo_epi32",
            json!([
                "dst[0] is a[0]",
                "dst[1] is b[0]",
                "dst[2] is a[1]",
                "dst[3] is b[1]"
            ]),
            4,
        ),
        (
            "_mm_madd_epi16",
            json!([
                "dst[0] is computed from a[0…1], b[0…1]",
                "dst[1] is computed from a[2…3], b[2…3]",
                "dst[2] is computed from a[4…5], b[4…5]",
                "dst[3] is computed from a[6…7], b[6…7]"
            ]),
            8,
        ),
        (
            "_mm512_reduce_add_epi64",
            json!(["dst is computed from a[0…7]"]),
            1,
        ),
    ] {
        page.value(&format!("location.hash = '#/i/{name}'"));
        page.wait(&format!(
            "{SHOWN} === '{name}' && document.querySelector('#detail svg')"
        ));
        assert_eq!(page.value(said), lines, "{name}");
        let paths = page.value("document.querySelectorAll('#detail svg .edges path').length");
        assert_eq!(paths, json!(edges), "{name}");
    }
    // Registers of 512 bits are seen whole: two that do not fit beside each other stand around the result.
    for name in [
        "_mm512_unpacklo_epi8",
        "_mm512_permutex2var_epi16",
        "_mm512_packs_epi16",
        "_mm512_unpackhi_epi16",
    ] {
        page.value(&format!("location.hash = '#/i/{name}'"));
        page.wait(&format!(
            "{SHOWN} === '{name}' && document.querySelector('#detail figure')"
        ));
        let scrolls = page.value("[...document.querySelectorAll('#detail figure .scroll')].some((s) => s.scrollWidth > s.clientWidth)");
        assert_eq!(scrolls, json!(false), "{name}");
    }
    // A register of 1,024 bits is folded; an element that moves says from where. A product of tiles is rows
    // beside columns, and what one element is made of is marked.
    let wide = page.value(
        "(() => { const elements = Array.from({ length: 128 }, (_, k) => [[k % 2, 0, k - (k % 2), 1]]); \
         const box = guide.draw([{ to: 'dst', width: 8, count: 128, pattern: 'moves', from: [['a', 8, 128], ['b', 8, 128]], elements, given: [] }]); \
         document.getElementById('detail').append(box); const svg = box.querySelector('svg.blocks'); \
         const rows = new Set([...svg.querySelectorAll('.hueresult rect')].map((r) => r.getAttribute('y'))); \
         const labels = [...svg.querySelectorAll('.hueresult .index')].map((t) => t.textContent); \
         const scroll = box.querySelector('.scroll'); \
         const all = [rows.size, labels[3], labels.length, scroll.scrollWidth > scroll.clientWidth]; box.remove(); return all; })()",
    );
    assert_eq!(wide, json!([4, "b2", 128, false]));
    page.value("location.hash = '#/i/mmaqa.b'");
    page.wait(&format!(
        "{SHOWN} === 'mmaqa.b' && document.querySelector('#detail svg.blocks')"
    ));
    let marked = "[...document.querySelectorAll('#detail svg.blocks .row')].map((g) => [g.querySelectorAll('rect').length, g.querySelectorAll('.mark').length])";
    assert_eq!(page.value(marked), json!([[64, 16], [64, 16], [16, 1]]));
    // A constant operand is chosen.
    page.value("location.hash = '#/i/_mm_shuffle_epi32'");
    page.wait(&format!(
        "{SHOWN} === '_mm_shuffle_epi32' && document.querySelector('.given select')"
    ));
    let given =
        page.value("document.querySelector('.given select').selectedOptions[0].textContent");
    assert_eq!(given, json!("imm8 = 27"));
    assert_eq!(page.value(&format!("{said}[0]")), json!("dst[0] is a[3]"));
    // Elementwise ones are a sentence.
    page.value("location.hash = '#/i/_mm_add_epi8'");
    page.wait(&format!("{SHOWN} === '_mm_add_epi8'"));
    assert_eq!(
        page.value("document.querySelectorAll('#detail svg').length"),
        json!(0)
    );
    assert!(page.mistakes.is_empty(), "{:?}", page.mistakes);
}

#[test]
fn the_guide_fits_a_phone_the_dark_and_a_screen_reader() {
    let mut page = need!(browser());
    let ground = "getComputedStyle(document.body).backgroundColor";
    let light = page.value(ground);
    let dark = json!({"features": [{"name": "prefers-color-scheme", "value": "dark"}]});
    page.call("Emulation.setEmulatedMedia", dark);
    assert_ne!(page.value(ground), light);
    let phone = json!({"width": 390, "height": 800, "deviceScaleFactor": 2, "mobile": true});
    page.call("Emulation.setDeviceMetricsOverride", phone);
    let fits = "document.documentElement.scrollWidth <= 390";
    page.wait(fits);
    page.click("#results a");
    page.wait("document.querySelector('.columns.open') && getComputedStyle(document.querySelector('.finder')).display === 'none'");
    page.wait(fits);
    // A page that arrives in the middle of a tap does not swallow it.
    let back = page.place(".back a");
    page.mouse("mousePressed", &back);
    page.value("window.dispatchEvent(new HashChangeEvent('hashchange'))");
    page.value("new Promise((done) => setTimeout(done, 300))");
    page.mouse("mouseReleased", &back);
    page.wait("!document.querySelector('.columns.open')");
    // Two instructions stay side by side.
    page.value("location.hash = '#/c/_mm512_dpbusd_epi32/_mm512_dpbusds_epi32'");
    page.wait("document.querySelectorAll('.pair td').length > 10");
    page.wait("[...document.querySelectorAll('.pair tr > *')].every((c) => c.getBoundingClientRect().right <= 390)");

    // Texts stand out from what is behind them, on the first page and on one of everything.
    page.call("Emulation.clearDeviceMetricsOverride", json!({}));
    for name in [
        "",
        "i/_mm_shuffle_epi32",
        "i/_mm512_dpbusd_epi32",
        "o/add",
        "i/add",
        "c/_mm_adds_epu8/_mm_adds_epi8",
    ] {
        page.value(&format!("location.hash = '#/{name}'"));
        page.value("new Promise((done) => setTimeout(done, 700))");
        let pale = faint(&mut page, 100);
        assert!(pale.is_empty(), "{name}: {}", pale.join("\n"));
    }

    // Everything that can be operated has a name.
    page.value("location.hash = '#/i/_mm_shuffle_epi32'");
    page.wait(&format!("{SHOWN} === '_mm_shuffle_epi32'"));
    page.call("Emulation.clearDeviceMetricsOverride", json!({}));
    let tree = page.call("Accessibility.getFullAXTree", json!({}));
    let nodes = tree["nodes"].as_array().expect("a tree");
    let operable = [
        "link",
        "button",
        "combobox",
        "searchbox",
        "textbox",
        "heading",
        "table",
    ];
    let mut seen = 0;
    for node in nodes.iter().filter(|n| n["ignored"] == json!(false)) {
        let role = node["role"]["value"].as_str().unwrap_or_default();
        if operable.contains(&role) {
            seen += 1;
            let name = node["name"]["value"].as_str().unwrap_or_default();
            assert!(!name.trim().is_empty(), "a {role} without a name: {node}");
        }
    }
    assert!(seen > 50, "{seen} nodes");
    let landmarks = ["main", "search", "banner"];
    for landmark in landmarks {
        let there = nodes.iter().any(|n| n["role"]["value"] == json!(landmark));
        assert!(there, "no {landmark}");
    }
    assert!(page.mistakes.is_empty(), "{:?}", page.mistakes);
}
