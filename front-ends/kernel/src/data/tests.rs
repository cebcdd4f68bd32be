//! Test data: the same for the same seed, and within what the kernel requires.

use super::*;
use crate::check_source;

#[test]
fn sizes_satisfy_the_preconditions_and_the_seed_decides() {
    let text = "kernel k(n: size, m: size, s: size, a: in u8[n, s], b: out u8[m]) requires n % 16 == 0, n >= 32, m == 2*n, s >= m {}";
    let (kernels, diagnostics) = check_source("k", text);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    for seed in 0..20 {
        let data = generate(&kernels[0], seed, &Limits::default()).expect("there are such sizes");
        let (n, m, s) = (data.sizes["n"], data.sizes["m"], data.sizes["s"]);
        assert!(
            n % 16 == 0 && n >= 32 && m == 2 * n && s >= m,
            "{n} {m} {s}"
        );
        assert_eq!(data.arrays["a"].len() as i64, n * s);
        assert_eq!(generate(&kernels[0], seed, &Limits::default()), Some(data));
    }
}

/// 256 products of two are summed exactly in every format, so that their order does not show.
#[test]
fn sums_whose_order_is_open_are_exact() {
    for elem in ["bf16", "f16", "f32", "f64"] {
        let text = format!(
            "kernel k(n: size, a: in {elem}[n], b: in {elem}[n], o: out {elem}[2]) requires n == 256 {{
  var s: {elem} = 0;
  var t: {elem} = 0;
  for x in 0..n {{
    reassociate s = fma(a[x], b[x], s);
    reassociate t = fma(a[n - 1 - x], b[n - 1 - x], t);
  }}
  o[0] = s;
  o[1] = t;
}}"
        );
        let (kernels, diagnostics) = check_source("k", &text);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        let limits = Limits::default();
        for seed in 0..20 {
            let data = generate(&kernels[0], seed, &limits).expect("there are such sizes");
            let o = crate::eval::run(&kernels[0], &data)
                .expect("it runs")
                .arrays["o"]
                .clone();
            assert_eq!(o[0], o[1], "{elem}, seed {seed}");
        }
    }
}

#[test]
fn ordinary_floats_and_their_products_have_all_their_bits() {
    let text =
        "kernel k(n: size, s: f64, a: in f32[n], b: in u8[n], o: out f32[n]) requires n == 500 {}";
    let (kernels, diagnostics) = check_source("k", text);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let sizes = kernels[0].sizes().map(|s| (s, 500)).collect();
    let data = ordinary(&kernels[0], &sizes, &mut numbers(3));
    let exponents = data.arrays["a"].iter().map(|v| (v >> 23 & 255) - 127);
    assert!(exponents.into_iter().all(|e| (-8..8).contains(&e)));
    let bytes: std::collections::BTreeSet<&i128> = data.arrays["b"].iter().collect();
    assert!(bytes.len() > 200, "any byte");
}
