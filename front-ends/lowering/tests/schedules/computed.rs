//! Functions that are computed before they are asked for: what that makes, that it computes the same, and
//! what is refused.

use super::nests::{makes, refuses};
use expect_test::expect;

/// A separable sum whose columns are kept along a row.
const COLUMNS: &str = r#"kernel k(h: size, w: size, a: in u8[h, w], o: out u8[h, w]) {
  fn column(y: index, x: index) -> i32 = i32(a.clamped[y - 1, x]) + 2 * i32(a[y, x]) + i32(a.clamped[y + 1, x]);
  fn across(y: index, x: index) -> i32 = column(y, x) + 2 * column(y, x + 1) + column(y, x + 2);
  for y in 0..h {
    for x in 0..w - 2 {
      o[y, x] = u8(across(y, x) >> 4);
    }
    for z in 0..2 { o[y, max(w - 2 + z, 0)] = 0; }
  }
} schedule { "#;

fn columns(directives: &str) -> String {
    let text = COLUMNS.replace("o: out u8[h, w]) {", "o: out u8[h, w]) requires w >= 2 {");
    format!("{text}{directives} }}\n")
}

#[test]
fn a_row_of_values() {
    makes(
        &columns("compute column at y;"),
        expect![[r#"
            for y in 0..h {
              var column: i16[w];
              for column_x in 0..w {
                column[column_x] = i16(i32(a[max(y - 1, 0), column_x]) + 2 * i32(a[y, column_x]) + i32(a[min(y + 1, h - 1), column_x]));
              }
              for x in 0..w - 2 {
                o[y, x] = u8(i32(column[x]) + 2 * i32(column[x + 1]) + i32(column[x + 2]) >> 4);
              }
              for z in 0..2 {
                o[y, max(w - 2 + z, 0)] = 0;
              }
            }
        "#]],
    );
}

#[test]
fn all_values_once() {
    makes(
        &columns("compute column;"),
        expect![[r#"
            var column: i16[h, w];
            for column_y in 0..h {
              for column_x in 0..w {
                column[column_y, column_x] = i16(i32(a[max(column_y - 1, 0), column_x]) + 2 * i32(a[column_y, column_x]) + i32(a[min(column_y + 1, h - 1), column_x]));
              }
            }
            for y in 0..h {
              for x in 0..w - 2 {
                o[y, x] = u8(i32(column[y, x]) + 2 * i32(column[y, x + 1]) + i32(column[y, x + 2]) >> 4);
              }
              for z in 0..2 {
                o[y, max(w - 2 + z, 0)] = 0;
              }
            }
        "#]],
    );
}

/// Rows side by side have arrays of their own, or share one of all their rows.
#[test]
fn rows_side_by_side() {
    makes(
        &columns("compute column at y; jam y by 2;"),
        expect![[r#"
            var column: i16[w];
            for y in 0..h - 1 step 2 {
              var column_1: i16[w];
              for column_x in 0..w {
                column[column_x] = i16(i32(a[max(y - 1, 0), column_x]) + 2 * i32(a[y, column_x]) + i32(a[min(y + 1, h - 1), column_x]));
                column_1[column_x] = i16(i32(a[max(y, 0), column_x]) + 2 * i32(a[y + 1, column_x]) + i32(a[min(y + 2, h - 1), column_x]));
              }
              for x in 0..w - 2 {
                o[y, x] = u8(i32(column[x]) + 2 * i32(column[x + 1]) + i32(column[x + 2]) >> 4);
                o[y + 1, x] = u8(i32(column_1[x]) + 2 * i32(column_1[x + 1]) + i32(column_1[x + 2]) >> 4);
              }
              for z in 0..2 {
                o[y, max(w + z - 2, 0)] = 0;
                o[y + 1, max(w + z - 2, 0)] = 0;
              }
            }
            for y in 0 + (((max(h, 0) + 0)/1)/2)*2..h {
              for column_x in 0..w {
                column[column_x] = i16(i32(a[max(y - 1, 0), column_x]) + 2 * i32(a[y, column_x]) + i32(a[min(y + 1, h - 1), column_x]));
              }
              for x in 0..w - 2 {
                o[y, x] = u8(i32(column[x]) + 2 * i32(column[x + 1]) + i32(column[x + 2]) >> 4);
              }
              for z in 0..2 {
                o[y, max(w + z - 2, 0)] = 0;
              }
            }
        "#]],
    );
    makes(
        r#"kernel k(h: size, w: size, a: in u8[h + 2, w], o: out i16[h, w]) {
  fn row(y: index, x: index) -> i16 = i16(a[y, x]) - 3 * i16(a[y, w - 1 - x]);
  for y in 0..h {
    for x in 0..w {
      o[y, x] = row(y, x) + row(y + 2, x);
    }
  }
} schedule { jam y by 2; compute row at y; vectorize row_x by 4 tail mask; vectorize x by 8; }
"#,
        expect![[r#"
            for y in 0..h - 1 step 2 {
              var row: i16[4, w];
              for row_y in y..y + 4 {
                for row_x in 0..w - 3 step 4 {
                  row[row_y - y, row_x..+4] = i16(a[row_y, row_x..+4]) - 3 * i16(a[row_y, w - row_x - 1..+4 by -1]);
                }
                for row_x in 0 + (max(w, 0)/4)*4..w step 4 {  // the last vector is shorter
                  row[row_y - y, row_x..+4] = i16(a[row_y, row_x..+4]) - 3 * i16(a[row_y, w - row_x - 1..+4 by -1]);
                }
              }
              for x in 0..w - 7 step 8 {
                o[y, x..+8] = row[0, x..+8] + row[2, x..+8];
                o[y + 1, x..+8] = row[1, x..+8] + row[3, x..+8];
              }
              for x in 0 + (w/8)*8..w {
                o[y, x] = row[0, x] + row[2, x];
                o[y + 1, x] = row[1, x] + row[3, x];
              }
            }
            for y in 0 + (((max(h, 0) + 0)/1)/2)*2..h {
              var row_1: i16[3, w];
              for row_y in y..y + 3 {
                for row_x in 0..w - 3 step 4 {
                  row_1[row_y - y, row_x..+4] = i16(a[row_y, row_x..+4]) - 3 * i16(a[row_y, w - row_x - 1..+4 by -1]);
                }
                for row_x in 0 + (max(w, 0)/4)*4..w step 4 {  // the last vector is shorter
                  row_1[row_y - y, row_x..+4] = i16(a[row_y, row_x..+4]) - 3 * i16(a[row_y, w - row_x - 1..+4 by -1]);
                }
              }
              for x in 0..w - 7 step 8 {
                o[y, x..+8] = row_1[0, x..+8] + row_1[2, x..+8];
              }
              for x in 0 + (w/8)*8..w {
                o[y, x] = row_1[0, x] + row_1[2, x];
              }
            }
        "#]],
    );
}

/// Places two apart, backwards, of a row that another loop is along, in a value's own number.
#[test]
fn places_of_all_kinds() {
    makes(
        r#"kernel k(n: size, a: in i16[2 * n + 1], o: out i32[n], p: out i32[n]) {
  fn pair(i: index) -> i32 = i32(a[2 * i]) * i32(a[2 * i + 1]) + i32(i);
  fn one(i: index) -> i32 = i32(a[i]) + 1;
  for y in 0..n {
    o[y] = pair(y) + one(2 * y + 1);
  }
  for z in 0..n {
    p[z] = pair(n - 1 - z) + pair(z);
  }
} schedule { compute pair; compute one; vectorize pair_i by 4 tail mask; }
"#,
        expect![[r#"
            var pair: i32[n];
            var one: i32[max(n*2 - 1, 0)];
            for one_i in 1..n*2 {
              one[one_i - 1] = i32(a[one_i]) + 1;
            }
            for pair_i in 0..n - 3 step 4 {
              pair[pair_i..+4] = i32(a[pair_i*2..+4 by 2]) * i32(a[pair_i*2 + 1..+4 by 2]) + (i32(pair_i) + [0, 1, 2, 3]);
            }
            for pair_i in 0 + (max(n, 0)/4)*4..n step 4 {  // the last vector is shorter
              pair[pair_i..+4] = i32(a[pair_i*2..+4 by 2]) * i32(a[pair_i*2 + 1..+4 by 2]) + (i32(pair_i) + [0, 1, 2, 3]);
            }
            for y in 0..n {
              o[y] = pair[y] + one[y*2];
            }
            for z in 0..n {
              p[z] = pair[n - z - 1] + pair[z];
            }
        "#]],
    );
}

/// Where clamps read a row that may be empty, values are computed only where some are asked for.
#[test]
fn a_border_of_an_image_that_may_be_empty() {
    makes(
        r#"kernel k(h: size, w: size, a: in u8[h, w], o: out u16[h, w]) {
  fn wide(y: index, x: index) -> u16 = u16(a.clamped[y, x]);
  fn row(y: index, x: index) -> u16 = wide(y, x - 1) + wide(y, x + 1);
  for y in 0..h {
    for x in 0..w {
      o[y, x] = row(y - 1, x) + row(y + 1, x) + wide(y, x);
    }
  }
} schedule { compute row at y; vectorize row_x by 8 tail shift; vectorize x by 4 tail shift; }
"#,
        expect![[r#"
            for y in 0..h {
              var row: u16[3, w];
              for row_y in y - 1..y + 2 {
                for row_x in 0..min(w, 1) {
                  row[row_y - y + 1, 0] = u16(a[min(max(row_y, 0), h - 1), 0]) + u16(a[min(max(row_y, 0), h - 1), min(1, w - 1)]);
                }
                for row_x in 1..w - 8 step 8 {
                  row[row_y - y + 1, row_x..+8] = u16(a[min(max(row_y, 0), h - 1), row_x - 1..+8]) + u16(a[min(max(row_y, 0), h - 1), row_x + 1..+8]);
                }
                for row_x in w - 9..min(min(w - 9 + (w - 2)/8, w - 9 + (w - 2)%8), w - 8) step 8 {
                  row[row_y - y + 1, row_x..+8] = u16(a[min(max(row_y, 0), h - 1), row_x - 1..+8]) + u16(a[min(max(row_y, 0), h - 1), row_x + 1..+8]);
                }
                for row_x in 1 + min(max(w - 2, 0)/8, 1)*max(w - 2, 0)..w - 1 {
                  row[row_y - y + 1, row_x] = u16(a[min(max(row_y, 0), h - 1), max(row_x - 1, 0)]) + u16(a[min(max(row_y, 0), h - 1), row_x + 1]);
                }
                for row_x in max(1, w - 1)..w {
                  row[row_y - y + 1, w - 1] = u16(a[min(max(row_y, 0), h - 1), w - 2]) + u16(a[min(max(row_y, 0), h - 1), w - 1]);
                }
              }
              for x in 0..w - 3 step 4 {
                o[y, x..+4] = row[0, x..+4] + row[2, x..+4] + u16(a[min(max(y, 0), h - 1), x..+4]);
              }
              for x in w - 4..min(min(w - 4 + w/4, w - 4 + w%4), w - 3) step 4 {
                o[y, x..+4] = row[0, x..+4] + row[2, x..+4] + u16(a[min(max(y, 0), h - 1), x..+4]);
              }
              for x in 0 + min(w/4, 1)*w..w {
                o[y, x] = row[0, x] + row[2, x] + u16(a[y, min(max(x, 0), w - 1)]);
              }
            }
        "#]],
    );
}

/// The same where places beside the row are asked for: the loop around the values runs once, or not where
/// the row is empty.
#[test]
fn values_beside_a_row_that_may_be_empty() {
    makes(
        r#"kernel k(h: size, w: size, a: in u8[h, w], o: out u16[h, w]) {
  fn column(y: index, x: index) -> u16 = u16(a.clamped[y - 1, x]) + u16(a.clamped[y + 1, x]);
  for y in 0..h {
    for x in 0..w {
      o[y, x] = column(y, x - 2) + column(y, x + 3);
    }
  }
} schedule { compute column at y; jam y by 2; vectorize column_x by 8 tail shift; vectorize x by 8; }
"#,
        expect![[r#"
            var column: u16[w + 5];
            for y in 0..h - 1 step 2 {
              var column_1: u16[w + 5];
              for column_any in 0..min(1, w) {
                for column_x in -2..-1 {
                  column[0] = u16(a[max(y - 1, 0), 0]) + u16(a[y + 1, 0]);
                  column_1[0] = u16(a[y, 0]) + u16(a[min(y + 2, h - 1), 0]);
                }
                for column_x in -1..0 {
                  column[1] = u16(a[max(y - 1, 0), 0]) + u16(a[y + 1, 0]);
                  column_1[1] = u16(a[y, 0]) + u16(a[min(y + 2, h - 1), 0]);
                }
                for column_x in 0..w - 7 step 8 {
                  column[column_x + 2..+8] = u16(a[max(y - 1, 0), column_x..+8]) + u16(a[min(y + 1, h - 1), column_x..+8]);
                  column_1[column_x + 2..+8] = u16(a[max(y, 0), column_x..+8]) + u16(a[min(y + 2, h - 1), column_x..+8]);
                }
                for column_x in w - 8..min(min(w - 8 + w/8, w - 8 + w%8), w - 7) step 8 {
                  column[column_x + 2..+8] = u16(a[max(y - 1, 0), column_x..+8]) + u16(a[min(y + 1, h - 1), column_x..+8]);
                  column_1[column_x + 2..+8] = u16(a[max(y, 0), column_x..+8]) + u16(a[min(y + 2, h - 1), column_x..+8]);
                }
                for column_x in 0 + min(w/8, 1)*w..w {
                  column[column_x + 2] = u16(a[max(y - 1, 0), max(column_x, 0)]) + u16(a[y + 1, max(column_x, 0)]);
                  column_1[column_x + 2] = u16(a[y, max(column_x, 0)]) + u16(a[min(y + 2, h - 1), max(column_x, 0)]);
                }
                for column_x in w..w + 1 {
                  column[w + 2] = u16(a[max(y - 1, 0), w - 1]) + u16(a[y + 1, w - 1]);
                  column_1[w + 2] = u16(a[y, w - 1]) + u16(a[min(y + 2, h - 1), w - 1]);
                }
                for column_x in w + 1..w + 2 {
                  column[w + 3] = u16(a[max(y - 1, 0), w - 1]) + u16(a[y + 1, w - 1]);
                  column_1[w + 3] = u16(a[y, w - 1]) + u16(a[min(y + 2, h - 1), w - 1]);
                }
                for column_x in w + 2..w + 3 {
                  column[w + 4] = u16(a[max(y - 1, 0), w - 1]) + u16(a[y + 1, w - 1]);
                  column_1[w + 4] = u16(a[y, w - 1]) + u16(a[min(y + 2, h - 1), w - 1]);
                }
              }
              for x in 0..w - 7 step 8 {
                o[y, x..+8] = column[x..+8] + column[x + 5..+8];
                o[y + 1, x..+8] = column_1[x..+8] + column_1[x + 5..+8];
              }
              for x in 0 + (w/8)*8..w {
                o[y, x] = column[x] + column[x + 5];
                o[y + 1, x] = column_1[x] + column_1[x + 5];
              }
            }
            for y in 0 + (((max(h, 0) + 0)/1)/2)*2..h {
              for column_any in 0..min(1, w) {
                for column_x in -2..-1 {
                  column[0] = u16(a[max(y - 1, 0), 0]) + u16(a[h - 1, 0]);
                }
                for column_x in -1..0 {
                  column[1] = u16(a[max(y - 1, 0), 0]) + u16(a[h - 1, 0]);
                }
                for column_x in 0..w - 7 step 8 {
                  column[column_x + 2..+8] = u16(a[max(y - 1, 0), column_x..+8]) + u16(a[min(y + 1, h - 1), column_x..+8]);
                }
                for column_x in w - 8..min(min(w - 8 + w/8, w - 8 + w%8), w - 7) step 8 {
                  column[column_x + 2..+8] = u16(a[max(y - 1, 0), column_x..+8]) + u16(a[min(y + 1, h - 1), column_x..+8]);
                }
                for column_x in 0 + min(w/8, 1)*w..w {
                  column[column_x + 2] = u16(a[max(y - 1, 0), max(column_x, 0)]) + u16(a[h - 1, max(column_x, 0)]);
                }
                for column_x in w..w + 1 {
                  column[w + 2] = u16(a[max(y - 1, 0), w - 1]) + u16(a[h - 1, w - 1]);
                }
                for column_x in w + 1..w + 2 {
                  column[w + 3] = u16(a[max(y - 1, 0), w - 1]) + u16(a[h - 1, w - 1]);
                }
                for column_x in w + 2..w + 3 {
                  column[w + 4] = u16(a[max(y - 1, 0), w - 1]) + u16(a[h - 1, w - 1]);
                }
              }
              for x in 0..w - 7 step 8 {
                o[y, x..+8] = column[x..+8] + column[x + 5..+8];
              }
              for x in 0 + (w/8)*8..w {
                o[y, x] = column[x] + column[x + 5];
              }
            }
        "#]],
    );
}

#[test]
fn what_is_refused() {
    let refused = |directives: &str, body: &str| {
        format!(
            r#"kernel k(n: size, m: size, a: in i16[n, m], b: inout i16[n, m], o: out i16[n, m]) {{
  fn row(y: index, x: index) -> i16 = a[y, x] + 1;
  fn own(y: index, x: index) -> i16 = b[y, x] + 1;
  fn scaled(y: index, x: index, weight: i16) -> i16 = a[y, x] * weight;
  for y in 0..n {{
    for x in 0..m {{
      {body}
    }}
  }}
}} schedule {{ {directives} }}
"#
        )
    };
    let plain = "o[y, x] = row(y, x) + own(y, x) + scaled(y, x, 2);";
    refuses(
        &refused("compute rows at y;", plain),
        expect![[r#"
            error: `compute rows at y` is refused: there is no function of indices `rows`
             --> k.kernel:5:7
              |
            5 |   for y in 0..n {
              |       ^
              = note: it is one like `fn row(y: index, x: index) -> i16 = …;` that takes no values and reads no `var`
              = note: the directive stands at line 10, column 14
              = hint: did you mean `row`?

        "#]],
    );
    refuses(
        &refused("compute row at z;", plain),
        expect![[r#"
        error: there is no loop `z`
          --> k.kernel:10:14
           |
        10 | } schedule { compute row at z; }
           |              ^^^^^^^^^^^^^^^^^
          = hint: did you mean `x`?

    "#]],
    );
    refuses(
        &refused("compute scaled at y;", plain),
        expect![[r#"
            error: `compute scaled at y` is refused: there is no function of indices `scaled`
             --> k.kernel:5:7
              |
            5 |   for y in 0..n {
              |       ^
              = note: it is one like `fn row(y: index, x: index) -> i16 = …;` that takes no values and reads no `var`
              = note: the directive stands at line 10, column 14

        "#]],
    );
    let writes = "b[y, x] = own(y, x); o[y, x] = 0;";
    refuses(
        &refused("compute own at y;", writes),
        expect![[r#"
        error: `compute own at y` is refused: `own` reads `b`, which is written here
         --> k.kernel:7:8
          |
        7 |       b[y, x] = own(y, x); o[y, x] = 0;
          |        ^^^^^^
          = note: its values would be those from before that is written
          = note: the directive stands at line 10, column 14

    "#]],
    );
    let corners = "o[y, x] = row(y, max(x - 1, 0)) + row(max(y - 1, 0), x);";
    refuses(
        &refused("compute row at x;", corners),
        expect![[r#"
            error: `compute row at x` is refused: how many values of `row` are asked for depends on `y`
             --> k.kernel:2:39
              |
            2 |   fn row(y: index, x: index) -> i16 = a[y, x] + 1;
              |                                       ^^^^^^^^^^^
              = note: the directive stands at line 10, column 14
              = hint: places that are asked for move unlike each other with `y`: `compute row` makes all values before all loops

        "#]],
    );
    refuses(
        &refused("compute row at y over x;", plain),
        expect![[r#"
        error: this directive is not understood
          --> k.kernel:10:14
           |
        10 | } schedule { compute row at y over x; }
           |              ^^^^^^^^^^^^^^^^^^^^^^^^
          = hint: write `compute row at y` or `compute row`

    "#]],
    );
    let whole = "o[y, x] = 0; b[y, x] = 1;";
    refuses(
        &refused("compute row at y;", whole),
        expect![[r#"
        error: `compute row at y` is refused: `row` is not called here
         --> k.kernel:5:7
          |
        5 |   for y in 0..n {
          |       ^
          = note: what vectors or other directives have made of a call is none any more
          = note: the directive stands at line 10, column 14

    "#]],
    );
    // Nobody asks for the far corner of all places, which lies outside.
    refuses(
        r#"kernel k(n: size, a: in i16[n], b: in i16[n], o: out i16[n]) {
  fn at(y: index, x: index) -> i16 = a[y + x] + b[y];
  for y in 0..n { o[y] = at(y, n - 1 - y); }
} schedule { compute at; }
"#,
        expect![[r#"
            error: `compute at` is refused: a value of `at` that is computed may read outside of `a`
             --> k.kernel:2:39
              |
            2 |   fn at(y: index, x: index) -> i16 = a[y + x] + b[y];
              |                                       ^^^^^^^
              = note: values are computed for a block of arguments, also those that nobody asks for
              = note: the directive stands at line 4, column 14

        "#]],
    );
}

#[test]
fn what_a_refused_directive_makes_is_not_missed() {
    refuses(
        r#"kernel k(n: size, a: in f32[4 * n + 3], o: out f32[n]) {
  fn mid(i: index) -> f32 = a[i] + a[i + 2];
  for i in 0..n { o[i] = mid(4 * i) * mid(4 * (n - 1 - i)); }
} schedule { split i by 5 into b; compute mid at b; vectorize mid_i by 4; vectorize mid_ by 4; unroll j by 2; }"#,
        expect![[r#"
            error: `compute mid at b` is refused: how many values of `mid` are asked for depends on `b`
             --> k.kernel:2:29
              |
            2 |   fn mid(i: index) -> f32 = a[i] + a[i + 2];
              |                             ^^^^^^^^^^^^^^^
              = note: the directive stands at line 4, column 35
              = hint: places that are asked for move unlike each other with `b`: `compute mid` makes all values before all loops

            error: there is no loop `mid_`
             --> k.kernel:4:75
              |
            4 | } schedule { split i by 5 into b; compute mid at b; vectorize mid_i by 4; vectorize mid_ by 4; unrol…
              |                                                                           ^^^^^^^^^^^^^^^^^^^^

            error: there is no loop `j`
             --> k.kernel:4:96
              |
            4 | …ectorize mid_ by 4; unroll j by 2; }
              |                      ^^^^^^^^^^^^^^
              = hint: did you mean `b`?

        "#]],
    );
}
