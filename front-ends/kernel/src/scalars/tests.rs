//! Kernels with scalar parameters and with arrays in their place, on the same numbers.

use crate::check_source;
use crate::data::{fill, numbers};
use crate::eval::run;
use std::collections::BTreeMap;

#[test]
fn the_first_element_is_what_the_parameter_was() {
    let text = "kernel t(n: size, step_by: i32, a: in i8[n], low: i16, c: inout i32[n]) {
        for i in 0..n {
            let half = i32(low) + step_by;
            var s: i32 = step_by;
            s += i32(a[i]) * half;
            for k in 0..4 at low & 3 { c[i] = s - step_by + i32(k); }
        }
    }";
    let (kernels, wrong) = check_source("t", text);
    assert!(wrong.is_empty(), "{wrong:?}");
    let (kernel, arrays) = (&kernels[0], kernels[0].scalars_in_arrays());
    assert!(arrays.scalars.is_empty());
    let sizes: BTreeMap<_, _> = kernel.sizes().map(|s| (s, 9)).collect();
    for seed in 1..4 {
        let in_arrays = fill(&arrays, &sizes, &mut numbers(seed));
        let mut data = in_arrays.clone();
        for name in ["step_by", "low"] {
            let held = data.arrays.remove(name).expect("it is an array now");
            data.scalars.insert(name.to_owned(), held[0]);
        }
        let (wanted, found) = (run(kernel, &data), run(&arrays, &in_arrays));
        let of = |d: Result<crate::eval::Data, _>| d.expect("it runs").arrays["c"].clone();
        assert_eq!(of(wanted), of(found));
    }
}
