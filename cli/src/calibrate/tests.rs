//! Tables are read back as written.

use std::collections::BTreeMap;
use validate::calibrate::measure::Figure;
use validate::calibrate::{Cost, Key, table};

fn figure(cycles: f64) -> Figure {
    Figure {
        cycles,
        spread: 0.02,
    }
}

fn key(mnemonic: &str, width: u32) -> Key {
    Key {
        mnemonic: mnemonic.to_owned(),
        width,
    }
}

#[test]
fn a_written_table_is_read_back() {
    let costs = BTreeMap::from([
        (
            key("vpaddd", 512),
            Cost {
                latency: Some(figure(1.03)),
                throughput: figure(0.51),
                resource: Some(key("vpaddd", 512)),
            },
        ),
        (
            key("vpsubd", 512),
            Cost {
                latency: Some(figure(0.97)),
                throughput: figure(0.49),
                resource: Some(key("vpaddd", 512)),
            },
        ),
        (
            key("kortestw", 16),
            Cost {
                latency: None,
                throughput: figure(1.38),
                resource: None,
            },
        ),
    ]);
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::create_dir(folder.path().join("cost")).expect("a folder");
    let text = table::write("model", &costs);
    assert!(
        text.contains("mnemonics: [vpaddd, vpsubd]}"),
        "equal kinds share a row: {text}"
    );
    std::fs::write(folder.path().join("cost/model.yaml"), text).expect("a file");
    let read = crate::cost::table(folder.path(), "model", synth::cost::Rule::Pressure)
        .expect("the table is well formed");
    let timing = |name: &str, width| {
        let timing = read.weight(name, width).timing;
        (timing.latency, timing.throughput)
    };
    assert_eq!(timing("vpsubd", 512), (10, 5));
    assert_eq!(timing("kortestw", 16), (14, 14));
    let resource = |name: &str| {
        let row = read.rows.iter().find(|r| r.mnemonic == name);
        row.expect("the row is there").resource.clone()
    };
    assert_eq!(resource("vpsubd").as_deref(), Some("vpaddd.512"));
    assert_eq!(resource("kortestw"), None);
}
