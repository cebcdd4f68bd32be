//! Operations as they are shown.

use crate::check_source;

#[test]
fn operations_are_shown_by_the_names_that_they_are_called_by() {
    let text = "kernel k(n: size, a: in f32[n], b: in i16[n], o: out f32[n], p: out i16[n], q: out u16[n]) { \
                for x in 0..n { o[x] = flush(fma(a[x], a[x], sqrt(a[x]))); \
                p[x] = sat_add(min(b[x], 3), rounding_mul_shr(b[x], b[x], 15)); q[x] = absd(b[x], 1); } }";
    let (kernels, diagnostics) = check_source("k", text);
    let rendered = semantics::diagnostic::render(&diagnostics);
    assert!(diagnostics.is_empty(), "{rendered}");
    let shown = super::body(&kernels[0]);
    for wanted in [
        "flush(fma(",
        "sqrt(",
        "sat_add(min(",
        "rounding_mul_shr(",
        "absd(",
    ] {
        assert!(shown.contains(wanted), "no `{wanted}` in {shown}");
    }
}
