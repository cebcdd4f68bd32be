//! Elements that lie by turns in memory: channels of pixels, even and odd samples. They are loaded and
//! stored as registers, and touch nothing else: code is run with sanitizers.

use super::partial::agrees;

/// Kernels with loops over elements that lie 1 to 5 apart, along the last dimension and others; and
/// whether lanes that are moved one at a time are told of.
const KERNELS: [(&str, &str, bool); 23] = [
    (
        "pixels are grey",
        "kernel k(n: size, a: in u8[n, 3], o: out u8[n]) {
  for i in 0..n { o[i] = avg(avg(a[i, 0], a[i, 2]), a[i, 1]); }
} schedule { vectorize i by 16; }",
        false,
    ),
    (
        "planes become pixels",
        "kernel k(n: size, a: in u8[n], b: in u8[n], c: in u8[n], o: out u8[n, 3]) {
  for i in 0..n { o[i, 2] = c[i]; o[i, 0] = a[i] + 1; o[i, 1] = b[i]; }
} schedule { vectorize i by 32; }",
        false,
    ),
    (
        "four channels change places, in images",
        "kernel k(h: size, w: size, a: in u8[h, w, 4], o: out u8[h, w, 4]) {
  for y in 0..h { for x in 0..w {
    o[y, x, 0] = a[y, x, 2]; o[y, x, 1] = a[y, x, 1]; o[y, x, 2] = a[y, x, 0]; o[y, x, 3] = 255;
  } }
} schedule { vectorize x by 16; }",
        false,
    ),
    (
        "lengths of vectors",
        "kernel k(n: size, a: in f32[n, 3], o: out f32[n]) {
  for i in 0..n { o[i] = a[i, 0] * a[i, 0] + a[i, 1] * a[i, 1] + a[i, 2] * a[i, 2]; }
} schedule { vectorize i by 8; }",
        false,
    ),
    (
        "even and odd samples, and one behind",
        "kernel k(n: size, a: in i16[n], o: out i16[2 * n + 1]) {
  for i in 0..n { o[2 * i + 1] = a[i] + 1; o[2 * i] = a[i] - 1; }
  o[2 * n] = 7;
} schedule { vectorize i by 16; }",
        false,
    ),
    (
        "what was read before changes places",
        "kernel k(n: size, o: inout u8[n, 2]) {
  for i in 0..n { let x = o[i, 0]; let y = o[i, 1]; o[i, 0] = y; o[i, 1] = x + 1; }
} schedule { vectorize i by 16; }",
        false,
    ),
    (
        "rows of one element, and backwards",
        "kernel k(n: size, a: in u16[n, 1], b: in u16[n, 2], o: out u16[n, 1]) {
  for i in 0..n { o[i, 0] = a[i, 0] + b[n - 1 - i, 1]; }
} schedule { vectorize i by 16; }",
        false,
    ),
    (
        "blocks of two dimensions, the last vector shifted",
        "kernel k(n: size, a: in u16[n, 2, 2], o: out u16[n, 2]) requires n >= 16 {
  for i in 0..n { o[i, 1] = a[i, 0, 1] + a[i, 1, 0]; o[i, 0] = a[i, 0, 0] + a[i, 1, 1]; }
} schedule { vectorize i by 16 tail shift; }",
        false,
    ),
    (
        "turns are added to, by sums and as they are",
        "kernel k(n: size, a: in i16[n, 2], o: inout i16[n, 2]) {
  for i in 0..n { o[i, 0] += a[i, 1]; o[i, 1] += a[i, 0] * 3; }
} schedule { vectorize i by 16; }",
        false,
    ),
    (
        "one is added to, one is its own successor, one is new",
        "kernel k(n: size, a: in u8[n], o: inout u8[n, 3]) {
  for i in 0..n { o[i, 2] = o[i, 2] ^ 7; o[i, 0] += a[i]; o[i, 1] = a[i] - 3; }
} schedule { vectorize i by 16; }",
        false,
    ),
    (
        "values with names between",
        "kernel k(n: size, a: in i16[n, 2], o: out i16[n, 2]) {
  for i in 0..n { let s = a[i, 0] + a[i, 1]; o[i, 0] = s; let d = a[i, 0] - a[i, 1]; o[i, 1] = max(d, s); }
} schedule { vectorize i by 16; }",
        false,
    ),
    (
        "a name between for what was stored",
        "kernel k(n: size, a: in i16[n], o: inout i16[n, 2]) {
  for i in 0..n { o[i, 0] = a[i] + 1; let t = o[i, 0]; o[i, 1] = t * 5; }
} schedule { vectorize i by 16; }",
        true,
    ),
    (
        "the second reads what the first wrote",
        "kernel k(n: size, o: inout u8[n, 2]) {
  for i in 0..n { o[i, 0] = o[i, 1] + 1; o[i, 1] = o[i, 0] + 2; }
} schedule { vectorize i by 16; }",
        true,
    ),
    (
        "rows side by side, each with its own channels",
        "kernel k(h: size, w: size, a: in u16[h, w, 2], o: out u16[h, w, 2]) {
  for y in 0..h { for x in 0..w { o[y, x, 0] = max(a[y, x, 1], 3); o[y, x, 1] = min(a[y, x, 0], 9); } }
} schedule { vectorize x by 8; jam y by 2; }",
        false,
    ),
    (
        "rows side by side, of which the second is read before the first is whole",
        "kernel k(h: size, w: size, a: in u8[h, w], o: inout u8[h, w, 2]) {
  for y in 0..h { for x in 0..w { o[y, x, 0] = o[y, x, 1] + a[y, x]; o[y, x, 1] = a[y, x] ^ 85; } }
} schedule { vectorize x by 16; jam y by 2; }",
        false,
    ),
    (
        "two pixels of each round, in any order",
        "kernel k(n: size, a: in u16[2 * n], o: out u16[4 * n]) {
  for i in 0..n { o[4 * i + 1] = a[2 * i] + 1; o[4 * i + 2] = a[2 * i + 1]; o[4 * i] = a[2 * i] * 3; o[4 * i + 3] = 9; }
} schedule { vectorize i by 16; }",
        false,
    ),
    (
        "planes become pairs, the last of them under a mask",
        "kernel k(n: size, a: in f32[n], b: in f32[n], o: inout f32[n, 2]) {
  for i in 0..n { o[i, 1] = b[i]; o[i, 0] = a[i] * 0.5; }
} schedule { vectorize i by 8 tail mask; }",
        false,
    ),
    (
        "five apart",
        "kernel k(n: size, a: in i32[n, 5], o: out i32[n]) {
  for i in 0..n { o[i] = a[i, 0] - a[i, 4]; }
} schedule { vectorize i by 8; }",
        false,
    ),
    (
        "complex products in place",
        "kernel k(n: size, a: in f32[n, 2], o: inout f32[n, 2]) {
  for i in 0..n {
    let re = o[i, 0] * a[i, 0] - o[i, 1] * a[i, 1];
    o[i, 1] = o[i, 0] * a[i, 1] + o[i, 1] * a[i, 0]; o[i, 0] = re;
  }
} schedule { vectorize i by 8; }",
        false,
    ),
    (
        "three of three are mixed, each from all",
        "kernel k(n: size, a: in f32[n, 3], o: out f32[n, 3]) {
  for i in 0..n {
    o[i, 0] = a[i, 0] * 0.5 + a[i, 1]; o[i, 1] = a[i, 2] - a[i, 0]; o[i, 2] = a[i, 1] * a[i, 2];
  }
} schedule { vectorize i by 8; }",
        false,
    ),
    (
        "what is loaded again was written between",
        "kernel k(n: size, b: in f32[n], a: inout f32[n, 3], o: out f32[n], p: out f32[n]) {
  for i in 0..n { o[i] = a[i, 0] * 2.0; a[i, 0] = b[i]; p[i] = a[i, 0] * 3.0; }
} schedule { vectorize i by 8; }",
        true,
    ),
    (
        "the third adds what is computed from the second",
        "kernel k(n: size, a: in f32[n, 3], o: inout f32[n, 3]) {
  for i in 0..n {
    o[i, 0] += a[i, 0] * o[i, 1]; o[i, 1] = a[i, 1] + 1.0; let t = a[i, 2] * o[i, 1]; o[i, 2] += t;
  }
} schedule { vectorize i by 8; }",
        true,
    ),
    (
        "one of three stays",
        "kernel k(n: size, a: in u8[n, 3], o: inout u8[n, 3]) {
  for i in 0..n { o[i, 0] = a[i, 1]; o[i, 2] = a[i, 0]; }
} schedule { vectorize i by 16; }",
        true,
    ),
];

#[test]
fn elements_by_turns_are_loaded_and_stored_as_registers() {
    for (name, text, log) in KERNELS {
        for target in ["host", "x86-64-v3"] {
            let shown = agrees(name, text, target, "c").shown;
            let moved = shown.contains("are moved one at a time");
            assert_eq!(moved, log, "{name}, {target}: {shown}");
        }
    }
}
