//! Words and values are each other's inverse; what does not fit is refused.

use super::*;

fn branch() -> Encoding {
    let field = |at, width, from| Field {
        operand: 0,
        at,
        width,
        from,
    };
    Encoding {
        bits: 0x63,
        mask: 0x707f,
        fields: vec![
            field(31, 1, 12),
            field(25, 6, 5),
            field(8, 4, 1),
            field(7, 1, 11),
        ],
    }
}

#[test]
fn scattered_fields_come_back() {
    let encoding = branch();
    for value in [-4096, -2, 0, 2, 14, 2048, 4094] {
        let word = encoding.word(&[value], |_| true).expect("it fits");
        assert!(encoding.matches(word));
        let raw = encoding.value(0, word);
        assert_eq!((raw << 51) as i64 >> 51, value, "{word:#x}");
    }
}

#[test]
fn what_does_not_fit_is_refused_with_the_nearest() {
    let fault = branch().word(&[4096], |_| true).expect_err("too far");
    assert_eq!(fault.nearest, 4094);
    let fault = branch().word(&[3], |_| true).expect_err("odd");
    assert_eq!(fault.nearest, 2);
    let unsigned = Encoding {
        bits: 0,
        mask: 0,
        fields: vec![Field {
            operand: 0,
            at: 0,
            width: 3,
            from: 0,
        }],
    };
    assert_eq!(unsigned.word(&[8], |_| false).expect_err("8").nearest, 7);
    assert_eq!(unsigned.word(&[-1], |_| false).expect_err("-1").nearest, 0);
}

#[test]
fn overlaps_are_seen_both_ways() {
    let a = Encoding {
        bits: 0x2b,
        mask: 0x7f,
        fields: Vec::new(),
    };
    let b = Encoding {
        bits: 0x102b,
        mask: 0x707f,
        fields: Vec::new(),
    };
    let c = Encoding {
        bits: 0x13,
        mask: 0x7f,
        fields: Vec::new(),
    };
    assert_eq!(a.overlap(&b), Some(0x102b));
    assert_eq!(b.overlap(&a), Some(0x102b));
    assert_eq!(a.overlap(&c), None);
}
