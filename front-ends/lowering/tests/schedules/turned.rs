//! Blocks of rows whose columns are loaded beside each other.

use super::replayed;

/// A kernel of two loops over a matrix, with the statement inside and the schedule.
fn matrix(elem: &str, statement: &str, schedule: &str) -> String {
    format!(
        "kernel k(m: size, n: size, a: in {elem}[m, n + 3], o: out {elem}[n, m]) {{
  for i in 0..n {{ for j in 0..m {{ {statement} }} }}
}} schedule {{ {schedule} }}
"
    )
}

const SIZES: [[i64; 2]; 5] = [[16, 16], [32, 8], [17, 21], [3, 5], [40, 33]];

#[test]
fn a_transposition_is_turned_in_blocks() {
    for (by, lanes, whole) in [
        (16, 16, 64),
        (8, 8, 24),
        (4, 4, 8),
        (8, 16, 2 * 24),
        (16, 8, 2 * 24),
        (4, 16, 4 * 8),
    ] {
        let schedule = format!("jam i by {by}; vectorize j by {lanes};");
        let text = matrix("i16", "o[i, j] = a[j, i];", &schedule);
        let count = replayed(&text, &SIZES).windows.len();
        assert!(count > whole, "{by} {lanes}: {count} statements");
    }
}

#[test]
fn columns_are_computed_with() {
    let schedule = "jam i by 8; vectorize j by 8;";
    for statement in [
        "o[i, j] = a[j, i] + 3 * a[j, i + 1];",
        "o[i, j] = max(a[j, i + 2], a[j, i]) - a[m - 1, i];",
    ] {
        replayed(&matrix("u8", statement, schedule), &SIZES);
    }
}

#[test]
fn what_is_written_between_is_loaded_anew() {
    let text = "kernel k(m: size, n: size, a: inout u8[m, n + 8], o: out u8[8, m]) {
  for j in 0..m {
    o[0, j] = a[j, 0];
    o[1, j] = a[j, 1];
    a[j, 2] = a[j, 2] + a[j, 3];
    o[2, j] = a[j, 2];
    o[3, j] = a[j, 3];
    o[4, j] = a[j, 4];
    o[5, j] = a[j, 5];
    o[6, j] = a[j, 6];
    o[7, j] = a[j, 7];
  }
} schedule { vectorize j by 8; }
";
    replayed(text, &SIZES);
}
