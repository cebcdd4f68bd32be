//! Long chains of values each of which is used several times: as trees they are exponentially large,
//! so that whatever goes through them as trees does not end.

/// A type, how many elements are computed at a time, the number of steps, and the steps of a chain: `T` is
/// the value before.
type Chain = (&'static str, u32, usize, &'static [&'static str]);

const CHAINS: [Chain; 14] = [
    (
        "u32",
        8,
        24,
        &["T ^ (T << 13)", "T ^ (T >> 17)", "T ^ (T << 5)"],
    ),
    ("u64", 4, 24, &["T ^ (T >> 12)", "T + (T << 25)"]),
    (
        "u32",
        8,
        24,
        &["T + (T << 10)", "T ^ (T >> 6)", "T * 9 + (T & 5)"],
    ),
    (
        "u32",
        8,
        24,
        &["select((T & 1) == 1, (T >> 1) ^ 3988292384, T >> 1)"],
    ),
    // Shifts of choices are choices of odd widths.
    ("u32", 8, 8, &["select((T & 1) == 0, T >> 1, T * 3 + 1)"]),
    // What tables are looked up by rests on all steps before.
    ("u32", 8, 9, &["(T ^ (T >> 7)) + popcount(T >> 2)"]),
    ("f32", 8, 60, &["T * (1.0 - T)"]),
    ("i16", 16, 24, &["max(T - 100, min(T + 50, 1000))"]),
    // As sums, and as what may be cut anywhere, these have two to the power of their steps of parts.
    ("u8", 16, 40, &["T + T"]),
    ("i32", 8, 40, &["T + T"]),
    ("i32", 8, 40, &["(T ^ (a[i] >> 1)) & T"]),
    // Values of odd widths below values of odd widths.
    ("u8", 16, 8, &["avg(T, max(T, 3))"]),
    ("i32", 8, 12, &["T * T"]),
    // Below each step lie as many cuts at one value as there are steps.
    ("f32", 8, 60, &["select(T > 0.5, T * 0.5, T + 0.25)"]),
];

fn kernel(name: &str, (ty, lanes, length, steps): Chain) -> String {
    let mut text = format!("kernel {name}(n: size, a: in {ty}[n], o: out {ty}[n]) {{\n");
    text += "  for i in 0..n {\n    let t0 = a[i];\n";
    for k in 0..length {
        let step = steps[k % steps.len()].replace('T', &format!("t{k}"));
        text += &format!("    let t{} = {step};\n", k + 1);
    }
    text += &format!("    o[i] = t{length};\n  }}\n}} schedule {{ vectorize i by {lanes}; }}\n");
    text
}

#[test]
fn long_chains_of_shared_values_are_vectors() {
    let chains = CHAINS.iter().enumerate();
    let text: Vec<String> = chains
        .map(|(k, chain)| kernel(&format!("chain{k}"), *chain))
        .collect();
    super::choices::compiles(&text.concat(), "x86-64-v3");
}
