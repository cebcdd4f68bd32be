//! The walks: what is visited, how often, and in which order.

use super::for_each_stmt;
use crate::check_source;
use crate::tree::{ExprKind, Kernel, Stmt, Target};

fn read(text: &str) -> Kernel {
    let (mut kernels, diagnostics) = check_source("k.kernel", text);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    kernels.remove(0)
}

/// The value of the last statement of the innermost first loop.
fn last(kernel: &Kernel) -> &Stmt {
    let mut body = &kernel.body;
    while let Some(Stmt::For(f)) = body.last() {
        body = &f.body;
    }
    body.last().expect("a statement")
}

/// Each function uses its parameter twice, so that 40 calls are 2^40 ways to `a[x]`.
#[test]
fn a_value_that_is_used_often_is_visited_once() {
    let twice = (0..40).fold("a[x]".to_owned(), |inner, _| format!("twice({inner} + 1)"));
    let kernel = read(&format!(
        "fn twice(v: i32) -> i32 = v * v;\n\
         kernel k(n: size, a: in i32[n], o: out i32[n]) {{ for x in 0..n {{ o[x] = {twice}; }} }}"
    ));
    let value = kernel.value(last(&kernel)).expect("it is no loop");
    let (mut loads, mut visits) = (0, 0);
    kernel.for_each_load(value, &mut |_| loads += 1);
    kernel.walk(value, &|_| true, &mut |e| {
        visits += 1;
        e.operands()
    });
    assert_eq!(loads, 1);
    assert!((40..400).contains(&visits), "{visits}");
    let mut changed = 0;
    let (mut kernel, mut body) = (kernel.clone(), kernel.body.clone());
    kernel.for_each_access_mut(&mut body, &mut |_| changed += 1);
    assert_eq!(changed, 2, "one load and one store");
}

#[test]
fn statements_come_in_order_with_their_loops_and_accesses() {
    let kernel = read(
        "kernel k(m: size, n: size, a: in i32[m, n], b: in i32[n], o: inout i32[m]) {
  for y in 0..m {
    o[y] = 1;
    for x in 0..n { o[y] += a[y, x] * b[x]; }
  }
}",
    );
    let mut seen = Vec::new();
    for_each_stmt(&kernel.body, &mut |stmt, around| {
        let mut text: Vec<String> = around.iter().map(|f| kernel.symbol_name(f.var)).collect();
        kernel.for_each_access(stmt, &mut |access, writes| {
            let name = &kernel.arrays[access.array].name;
            text.push(format!("{name}{}", if writes { "=" } else { "" }));
        });
        seen.push(text.join(" "));
    });
    assert_eq!(seen, ["", "y o=", "y", "y x a b o="]);
}

#[test]
fn what_a_walk_does_not_go_on_with_is_not_visited() {
    let kernel = read(
        "kernel k(n: size, a: in i32[n], b: in i32[n], o: out i32[n]) {
  for x in 0..n { o[x] = select(a[x] < 0, b[x], 2) + b[x]; }
}",
    );
    let stmt = last(&kernel);
    assert!(matches!(stmt, Stmt::Assign(a) if matches!(a.target, Target::Array(_))));
    let mut loads = Vec::new();
    let value = kernel.value(stmt).expect("it is no loop");
    kernel.walk(value, &|_| true, &mut |e| match &e.kind {
        ExprKind::Apply(crate::tree::Op::Select, args) => &args[..1],
        ExprKind::Load(access) => {
            loads.push(kernel.arrays[access.array].name.clone());
            &[]
        }
        _ => e.operands(),
    });
    assert_eq!(loads, ["a", "b"]);
}

#[test]
fn a_fold_goes_into_each_name_once_and_not_past_what_is_given() {
    let twice = (0..40).fold("a[x]".to_owned(), |inner, _| format!("twice({inner} + 1)"));
    let kernel = read(&format!(
        "fn twice(v: i32) -> i32 = v * v;\n\
         kernel k(n: size, a: in i32[n], o: out i32[n]) {{ for x in 0..n {{ o[x] = {twice}; }} }}"
    ));
    let value = kernel.value(last(&kernel)).expect("it is no loop");
    let mut made = 0;
    let depth = kernel.fold(value, &mut |_| None, &mut |_, parts: Vec<u32>| {
        made += 1;
        Some(1 + parts.into_iter().max().unwrap_or(0))
    });
    assert!((40..400).contains(&made), "{made}");
    assert!(depth.is_some_and(|depth| depth > 80), "{depth:?}");
    let given = kernel.fold(value, &mut |_| Some(0), &mut |_, _| None);
    assert_eq!(given, Some(0));
    let loads = |e: &crate::tree::Expr| matches!(e.kind, ExprKind::Load(_)).then_some(());
    let refused = kernel.fold(value, &mut |_| None, &mut |e, _: Vec<u32>| match loads(e) {
        Some(()) => None,
        None => Some(0),
    });
    assert_eq!(refused, None, "what is made of a load is not made either");
    assert_eq!(value.find(&loads), None, "names are not gone into");
}
