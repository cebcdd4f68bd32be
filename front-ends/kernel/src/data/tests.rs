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
