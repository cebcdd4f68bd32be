//! Targets: the data file is sound, names resolve, mistakes get a hint.

use super::processor::Processor;
use super::*;

/// The data of the project.
fn x86() -> Targets {
    let text = include_str!("../../../isa-specs/x86/targets.yaml");
    Targets::parse(text).expect("the project's own data is sound")
}

#[test]
fn a_model_has_what_its_bases_have() {
    let target = x86().find("znver4").expect("a model");
    for name in ["SSE", "AVX2", "AVX512BW", "AVX512_VNNI", "AVX512_BF16"] {
        assert!(target.features.contains(name), "{name}");
    }
    assert!(!target.features.contains("AVX512_FP16"));
    let old = x86().find("x86-64-v3").expect("a model");
    assert!(old.features.is_subset(&target.features));
}

#[test]
fn features_may_be_spelt_as_the_vendor_the_compiler_and_linux_do() {
    let targets = x86();
    let vendor = targets.find("AVX512_VNNI").expect("a feature");
    for spelling in ["avx512vnni", "avx512_vnni", " AVX512VNNI"] {
        let other = targets.find(spelling).expect("a feature");
        assert_eq!(vendor.features, other.features, "{spelling}");
    }
    assert!(vendor.features.contains("AVX512F"), "implied");
}

#[test]
fn a_model_and_features_may_be_joined() {
    let target = x86().find("haswell,avx_vnni").expect("both are known");
    assert!(target.features.contains("AVX_VNNI") && target.features.contains("AVX2"));
}

#[test]
fn a_misspelt_model_gets_the_nearest_one() {
    let error = x86().find("znver44").expect_err("no such model");
    assert_eq!(error.message, "unknown target `znver44`");
    assert_eq!(error.hint.as_deref(), Some("did you mean `znver4`?"));
    let error = x86().find("quux").expect_err("no such model");
    assert!(error.notes[0].starts_with("models are: host, alderlake"));
}

#[test]
fn flags_name_what_is_implied_too() {
    let targets = x86();
    let target = targets.find("avx512_vbmi2").expect("a feature");
    // To gcc, VBMI2 implies AVX-512F and no more.
    let flags = targets.flags(&target.features);
    for flag in ["-mavx512vbmi2", "-mavx512bw", "-mavx512f"] {
        assert!(flags.iter().any(|f| f == flag), "{flags:?}");
    }
}

#[test]
fn features_are_added_to_the_latest_architecture_that_one_asks_for() {
    let text = include_str!("../../../isa-specs/arm/targets.yaml");
    let arm = Targets::parse(text).expect("the project's own data is sound");
    let flags = |asked: &str| arm.flags(&arm.find(asked).expect("features").features);
    assert_eq!(flags("armv8-a"), ["-march=armv8-a+simd"]);
    assert_eq!(flags("i8mm"), ["-march=armv8.2-a+i8mm+simd"]);
    assert_eq!(flags("i8mm,fcma"), ["-march=armv8.3-a+i8mm+simd"]);
    let registers = arm.registers(&arm.find("armv8-a").expect("a model").features);
    assert_eq!(registers.iter().map(|r| r.width).collect::<Vec<_>>(), [128]);
}

#[test]
fn linux_flags_become_features() {
    let text = "processor\t: 0\nflags\t\t: fpu sse sse2 avx512_vnni madeup\nflags : none\n";
    let features = x86().with_cpuinfo(text).features;
    let names: Vec<&str> = features.iter().map(String::as_str).collect();
    assert_eq!(names, ["AVX512_VNNI", "SSE", "SSE2"]);
}

#[test]
fn what_values_lie_in_while_they_are_timed_is_known_by_type() {
    let targets = x86();
    let timing = targets.timing().expect("x86 is timed");
    let constraints = ["__m256d", "__mmask16", "int"].map(|of| timing.constraint(of));
    assert_eq!(constraints, ["v", "k", "r"]);
    let widths = ["__m512", "__m128i"].map(|of| timing.vector(of).map(|v| v.width));
    assert_eq!(widths, [Some(512), Some(128)]);
    assert_eq!(timing.vector("__mmask8"), None);
    assert_eq!(timing.cast(256, 512), Some("_mm512_castsi256_si512"));
    assert_eq!(timing.cast(256, 256), None);
    let hostile = "timing: {fence: 'f();//', counter: c, registers: []}\nmodels: {m: {}}";
    let error = Targets::parse(hostile).expect_err("no name");
    assert!(error.contains("the fence of `timing`"), "{error}");
}

#[test]
fn wrong_data_is_refused_with_its_reason() {
    let unknown = "features: {}\nmodels:\n  a: {adds: [X]}\n";
    let error = Targets::parse(unknown).expect_err("no feature X");
    assert_eq!(error, "`a` names `X`, which is not under `features`");
    let circle = "features: {}\nmodels:\n  a: {base: b}\n  b: {base: a}\n";
    let error = Targets::parse(circle).expect_err("a circle");
    assert_eq!(error, "`a` is in the end based on itself");
    let slip = "features: {}\nmodels:\n  a: {base: b\n";
    assert!(Targets::parse(slip).expect_err("a slip").contains("line"));
}

#[test]
fn a_processor_is_what_is_said_of_it_and_else_what_the_data_says() {
    let with = |text: &str| {
        let said = serde_yaml::from_str(text).expect("a mapping");
        Processor::with(said).map_err(|error| error.to_string())
    };
    let generic = Processor::default();
    let slower = with("{load: 1.5, caches: [{bytes: 16384, miss: 1}]}").expect("a processor");
    assert_eq!((generic.load, slower.load), (5, 15));
    assert_eq!((slower.caches.len(), slower.caches[0].miss), (1, 10));
    assert_eq!(
        (slower.store, slower.number),
        (generic.store, generic.number)
    );
    for (wrong, why) in [
        ("{loads: 1}", "unknown field `loads`"),
        ("{load: -1}", "`-1` is no number of cycles"),
        ("{load: .nan}", "is no number of cycles"),
        ("{line: 48}", "`48` is no power of two"),
        ("{in_flight: 0}", "there is one at least"),
        ("{number: {access: 1}}", "missing field"),
    ] {
        let error = with(wrong).expect_err(wrong);
        assert!(error.contains(why), "{wrong}: {error}");
    }
}
