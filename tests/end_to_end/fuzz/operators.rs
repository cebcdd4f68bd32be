//! Every operator of the kernel language at every type that it takes, one loop each.
//!
//! In: nothing. Out: [`all`] of them. Each has to be a vector on every target, or to cost less
//! element by element than the vectors that were found.

use super::generate::{
    Expr, FLOATS, INTEGERS, Load, Loop, OF_FLOATS, OF_INTEGERS, Store, Ty, WIDENING,
};
use super::generate::{bits, integer, is_float, is_signed};
use std::collections::BTreeSet;

/// Lanes of each loop: a register of the widest machine for the narrowest types, several for others.
const LANES: u32 = 32;

/// A loop for each operator and type.
pub(super) fn all() -> Vec<Loop> {
    let mut out = Vec::new();
    for ty in INTEGERS {
        of_integers(ty, &mut out);
    }
    for ty in FLOATS {
        each(ty, &OF_FLOATS, ty, &mut out);
    }
    for ty in INTEGERS.into_iter().chain(FLOATS) {
        for from in INTEGERS.into_iter().chain(FLOATS) {
            if from != ty {
                add(ty, format!("{ty}($)"), &[from], &mut out);
                if !is_float(ty) {
                    add(ty, format!("{ty}_sat($)"), &[from], &mut out);
                }
            }
            for comparison in ["==", "<", ">="] {
                let form = format!("select(($ {comparison} $), $, $)");
                add(ty, form, &[from, from, ty, ty], &mut out);
            }
        }
    }
    out
}

/// An operator on loads of these types.
fn add(ty: Ty, form: impl Into<String>, args: &[Ty], out: &mut Vec<Loop>) {
    let load = |(array, ty): (usize, &Ty)| {
        let array = Some(u32::try_from(array).expect("operators have few operands"));
        let load = Load {
            array,
            stride: 1,
            offset: 0,
        };
        Expr {
            load: Some(load),
            ..Expr::new(ty, "", Vec::new())
        }
    };
    out.push(Loop {
        value: Expr::new(ty, form, args.iter().enumerate().map(load).collect()),
        store: Store::Element,
        lanes: LANES,
        tail: None,
    });
}

/// Operators whose operands have one type, each once.
fn each(ty: Ty, forms: &[&str], from: Ty, out: &mut Vec<Loop>) {
    let forms: BTreeSet<&str> = forms.iter().copied().collect();
    for form in forms {
        add(ty, form, &vec![from; form.matches('$').count()], out);
    }
}

fn of_integers(ty: Ty, out: &mut Vec<Loop>) {
    let (width, signed) = (bits(ty), is_signed(ty));
    each(ty, &OF_INTEGERS, ty, out);
    each(ty, &["($ << $)", "($ >> $)"], ty, out);
    for shift in ["<<", ">>"] {
        add(
            ty,
            format!("($ {shift} ($ & {}))", width - 1),
            &[ty, ty],
            out,
        );
    }
    for by in [1, 3, width / 2, width - 1] {
        add(ty, format!("($ << {by})"), &[ty], out);
        add(ty, format!("($ >> {by})"), &[ty], out);
        add(ty, format!("rounding_shr($, {by})"), &[ty], out);
    }
    let more: &[&str] = if signed {
        &["(-7)", "(-1)"]
    } else {
        &["13", "200"]
    };
    for divisor in ["3", "5", "7", "10", "16", "100", "127"].iter().chain(more) {
        add(ty, format!("($ / {divisor})"), &[ty], out);
        add(ty, format!("($ % {divisor})"), &[ty], out);
    }
    if width <= 32 {
        for by in [width, width - 1] {
            add(ty, format!("mul_shr($, $, {by})"), &[ty, ty], out);
            add(ty, format!("rounding_mul_shr($, $, {by})"), &[ty, ty], out);
        }
    }
    if let Some(same) = integer(true, width).filter(|_| !signed) {
        each(ty, &["absd($, $)"], ty, out);
        each(ty, &["absd($, $)", "abs($)"], same, out);
    }
    if let Some(half) = integer(signed, width / 2) {
        // A difference is signed.
        let right = |form: &&str| signed || !form.starts_with("widening_sub");
        let forms: Vec<&str> = WIDENING.into_iter().filter(right).collect();
        each(ty, &forms, half, out);
    }
}
