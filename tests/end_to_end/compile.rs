//! Compilations that succeed: code, report, runs.

/// The examples of the project.
fn examples() -> std::path::PathBuf {
    super::folder().join("../examples")
}

#[test]
fn every_example_compiles_and_agrees_with_the_evaluator() {
    let mut names: Vec<_> = std::fs::read_dir(examples())
        .expect("the folder is there")
        .map(|entry| {
            entry
                .expect("it can be read")
                .file_name()
                .into_string()
                .expect("ASCII")
        })
        .filter(|name| name.ends_with(".kernel"))
        .collect();
    names.sort();
    assert!(!names.is_empty());
    for name in names {
        let output = super::isaforge(
            &["compile", &name, "--run", "--report", "json"],
            &examples(),
        );
        let text = super::shown(&output);
        assert!(
            matches!(output.status.code(), Some(0 | 3)),
            "{name}: {text}"
        );
        let runs = text.matches("\"outcome\": \"agreed\"").count();
        let skipped = text.matches("\"outcome\": \"skipped\"").count();
        assert!(
            runs + skipped > 0 && text.matches("\"run\":").count() == runs + skipped,
            "{name}: {text}"
        );
        super::tell_skipped_runs(&name, &text);
    }
}

#[test]
fn help_names_every_command_and_exit_code() {
    let output = super::isaforge(&["--help"], &examples());
    let text = super::shown(&output);
    assert_eq!(output.status.code(), Some(0));
    for word in [
        "compile",
        "build",
        "check",
        "explain",
        "classes",
        "verify",
        "Exit codes:",
        "Examples:",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
}
