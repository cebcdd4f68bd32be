//! Questions with the answers that they have.

use super::answer;

#[test]
fn terms_have_their_values() {
    let question = "bits a 16 01ff\nbits b 16 0101\n\
                    term dst (map 2 (i0) (bvadd (extract[8] a (imul i0 8)) (extract[8] b (imul i0 8))))\n\
                    term flag (extract[1] a 8)\n";
    assert_eq!(answer(question), "bits 16 0200\nbits 1 01\n");
}

#[test]
fn of_a_memory_the_bytes_that_changed_are_told() {
    let question = "bits p 64 0000000000001001\nbits a 16 0b0a\nmemory mem 1000:010a030000\n\
                    term mem (write mem p a)\nterm dst (read[2] mem p)\n";
    assert_eq!(answer(question), "memory 1002:0b\nbits 16 030a\n");
}

#[test]
fn what_is_wrong_is_told_in_a_line() {
    for (question, log) in [
        ("bits a 8 0102 03", "two hexadecimal digits"),
        ("bits a 0 00", "width"),
        ("bits a 99999999 00", "width"),
        ("bits a 8 01\nbits a 8 01", "twice"),
        ("memory mem 1000", "colon"),
        ("memory mem 1000:1", "two hexadecimal digits"),
        ("term dst (bvadd a", ""),
        ("term dst (bvadd a b)", "a"),
        ("bits a 8 ü1\n", "two hexadecimal digits"),
        ("look", "several words"),
        ("look at this", "begins with"),
    ] {
        let told_here = answer(question);
        assert!(told_here.starts_with("wrong "), "{question}: {told_here}");
        assert!(told_here.contains(log), "{question}: {told_here}");
        assert_eq!(told_here.lines().count(), 1, "{question}: {told_here}");
    }
}
