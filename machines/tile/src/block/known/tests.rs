//! An effect that is known from elsewhere is the one that is found anew.

use super::{Effects, effect};
use crate::block::Values;
use kernel::tree::{Kernel, Stmt};
use semantics::span::Source;
use std::collections::BTreeMap;

/// Blocks in loops over `i` and `j`, with what they touch of other forms and in other places.
const KERNEL: &str = "
kernel blocks(a: in i8[64, 64], b: in i8[64, 64], w: in i32[4096], c: inout i32[64, 64], d: out i32[64, 64]) {
  for i in 0..4 {
    for j in 0..4 {
      for x in 0..4 { for y in 0..4 { for p in 0..3 {
        c[4*i + x, 4*j + y] += i32(a[4*i + x, p + 1]) * i32(b[4*j + y, p]);
      } } }
      for x in 0..4 { for y in 0..4 { for p in 0..3 {
        c[4*j + x, 4*i + y] += i32(b[4*i + x, p]) * i32(a[4*j + y, p + 2]);
      } } }
      for x in 0..4 { for y in 0..2 {
        let n = w[4*x + y + 7*i] - c[x, y + j];
        d[i + x, j + y] = max(n, n * n);
      } }
      for x in 0..4 { c[i + x + 1, j] = c[i + x, j]; }
      for x in 0..4 { c[i + x, j] = c[i + x + 1, j]; }
      for x in 0..4 { for y in 0..x + 1 { d[x, y] = w[x + 4*y + i]; } }
      for x in 0..4 { for y in 0..i + 1 { d[x, y] = w[x + 4*y]; } }
      for x in 0..4 { d[x, 0] = w[(x + i) / 2]; }
      for x in 0..4 { d[x, 0] = w[2*i + x]; }
    }
  }
}
";

fn loops(body: &[Stmt]) -> impl Iterator<Item = &kernel::tree::For> {
    body.iter().filter_map(|stmt| match stmt {
        Stmt::For(f) => Some(f),
        _ => None,
    })
}

/// Calls `f` with each block and the values around it.
fn for_each(kernel: &Kernel, f: &mut dyn FnMut(&Stmt, &Values)) {
    let mut values = Values::new(kernel, &BTreeMap::new());
    let outer = loops(&kernel.body).next().expect("a loop over `i`");
    let inner = loops(&outer.body).next().expect("a loop over `j`");
    for i in 0..4 {
        for j in 0..4 {
            values.set(outer.var, i);
            values.set(inner.var, j);
            inner.body.iter().for_each(|block| f(block, &values));
        }
    }
}

#[test]
fn an_effect_from_elsewhere_is_the_one_found_anew() {
    let source = Source::new("blocks.kernel", KERNEL);
    let (kernels, wrong) = kernel::read(&source);
    assert!(wrong.is_empty(), "{wrong:?}");
    let (mut effects, mut blocks) = (Effects::default(), 0);
    for_each(&kernels[0], &mut |block, values| {
        let body = std::slice::from_ref(block);
        let (kept, anew) = (
            effects.of(&kernels[0], body, values).expect("a block").0,
            effect(&kernels[0], body, values).expect("a block"),
        );
        assert_eq!(kept.read, anew.read);
        assert_eq!(kept.written, anew.written);
        blocks += 1;
    });
    assert_eq!(blocks, 4 * 4 * 9);
    // Both products are one form, and so are the last two blocks where they are sums; a bound of `i`
    // makes a form for each of its values.
    assert_eq!(effects.0.len(), 1 + 1 + 2 + 1 + 4 + 1);
}
