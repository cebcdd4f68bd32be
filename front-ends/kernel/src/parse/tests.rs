//! What is told of text that is no kernel.

use semantics::span::Source;

#[test]
fn what_follows_a_name_that_ends_too_early_is_pointed_at() {
    for (text, column) in [
        ("kernel a-b(o: out u8[1]) { o[0] = 1; }\n", 9),
        ("kernel x$(o: out u8[1]) { o[0] = 1; }\n", 9),
        ("fn f;g(x: u8) -> u8 = x;\n", 5),
        ("kernel x\0y(o: out u8[1]) { o[0] = 1; }\n", 9),
    ] {
        let (_, wrong) = crate::read(&Source::new("k.kernel", text));
        let told = semantics::diagnostic::render(&wrong);
        let place = format!(":1:{column}\n");
        assert!(
            told.contains("expected `(`") && told.contains(&place),
            "{told}"
        );
    }
}

#[test]
fn a_letter_that_no_name_has_is_pointed_at() {
    for (text, letter, column) in [
        ("kernel käse(o: out u8[4]) { o[0] = 1; }\n", "ä", 9),
        ("fn é(x: u8) -> u8 { x }\n", "é", 4),
        (
            "kernel k(größe: size, o: out u8[4]) { o[0] = 1; }\n",
            "ö",
            12,
        ),
        (
            "kernel k(o: out u8[4]) { let tµ = 1; o[0] = tµ; }\n",
            "µ",
            31,
        ),
    ] {
        let (_, wrong) = crate::read(&Source::new("k.kernel", text));
        let told = semantics::diagnostic::render(&wrong);
        assert!(
            told.contains(&format!("`{letter}` cannot stand in a name")),
            "{told}"
        );
        assert!(
            told.contains(&format!(":1:{column}")) && !told.contains("expected"),
            "{told}"
        );
    }
}
