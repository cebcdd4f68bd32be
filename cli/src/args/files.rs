//! Which files a command reads and which it writes.
//!
//! In: a command as it was given. Out: a diagnostic where a file that is to be written is one that is read, by
//! whatever name, or where two results would go to one file. It looks at no contents; folders that are
//! filled (`build -o`) see to themselves.

use super::{Command, Prover, Specs};
use semantics::diagnostic::Diagnostic;
use std::path::{Path, PathBuf};

/// How deep the files of an instruction set lie in its folder.
const DEEP: usize = 3;

/// Files of a command.
#[derive(Default)]
struct Files {
    read: Vec<PathBuf>,
    /// Each with the option that names it.
    written: Vec<(&'static str, PathBuf)>,
}

impl Files {
    fn reads<'p>(mut self, paths: impl IntoIterator<Item = &'p PathBuf>) -> Files {
        self.read.extend(paths.into_iter().cloned());
        self
    }

    fn writes<'p>(
        mut self,
        option: &'static str,
        paths: impl IntoIterator<Item = &'p PathBuf>,
    ) -> Files {
        let all = paths.into_iter().filter(|path| path.as_os_str() != "-");
        self.written.extend(all.map(|path| (option, path.clone())));
        self
    }

    /// The files of sets that are not those inside the program.
    fn of_sets(mut self, isa_specs: Option<&Path>, isas: &str) -> Files {
        if let Some(folder) = isa_specs {
            for isa in isas.split(',') {
                within(&folder.join(isa.trim()), DEEP, &mut self.read);
            }
        }
        self
    }

    fn of_specs(self, specs: &Specs) -> Files {
        self.reads(&specs.vendor)
            .of_sets(specs.isa_specs.as_deref(), &specs.isa)
    }

    fn of_prover(self, prover: &Prover) -> Files {
        self.writes("--smt-transcript", &prover.smt_transcript)
    }

    fn of(command: &Command) -> Files {
        let none = Files::default();
        match command {
            Command::Compile(c) => none
                .reads(c.kernel.iter().chain(&c.from_autoir).chain(&c.from_halide))
                .reads(&c.constants)
                .of_specs(&c.specs)
                .of_prover(&c.prover)
                .writes("-o", &c.output)
                .writes("--html", &c.html),
            Command::Build(b) => {
                let files = none.reads(b.merge.iter().chain(&b.dictionary));
                let files = files.of_specs(&b.specs).of_prover(&b.prover);
                files.writes("-o", b.shard.is_some().then_some(&b.output))
            }
            Command::Lower(l) => none.reads([&l.module]).writes("-o", &l.output),
            Command::Check(c) => none
                .reads(&c.against)
                .of_specs(&c.specs)
                .of_prover(&c.prover),
            Command::Explain(e) => none.of_specs(&e.specs).of_prover(&e.prover),
            // A table of costs is of a set, and takes the place of the one before.
            Command::Calibrate(c) => none.reads(&c.specs.vendor).writes("-o", &c.output),
            Command::Ablate(a) => none
                .reads(&a.kernels)
                .of_specs(&a.specs)
                .of_prover(&a.prover),
            Command::Reach(r) => none.of_specs(&r.specs).of_prover(&r.prover),
            Command::Rules(r) => none.of_prover(&r.prover),
            Command::Classes(c) => none
                .of_specs(&c.specs)
                .of_prover(&c.prover)
                .writes("--graph", &c.graph),
            Command::Verify(v) => none
                .reads(v.dictionary.iter().chain(&v.vendor))
                .of_sets(v.isa_specs.as_deref(), v.isa.as_deref().unwrap_or_default())
                .of_prover(&v.prover),
            Command::Sim(s) => none
                .reads([&s.program])
                .reads(&paths(&s.load))
                .of_sets(s.isa_specs.as_deref(), &s.isa)
                .writes("--save", &paths(&s.save)),
            Command::Map(m) => none
                .reads([&m.kernel])
                .of_sets(m.isa_specs.as_deref(), &m.isa)
                .of_prover(&m.prover)
                .writes("-o", &m.output),
            Command::NewIsa(_) => none,
            Command::Schedule(s) => none
                .reads([&s.kernel])
                .of_sets(s.isa_specs.as_deref(), s.isa.as_deref().unwrap_or_default())
                .writes("--html", &s.html),
        }
    }
}

/// The files of images in memory, `FILE@…`.
fn paths(images: &[String]) -> Vec<PathBuf> {
    let paths = images.iter().filter_map(|image| image.rsplit_once('@'));
    paths.map(|(path, _)| PathBuf::from(path)).collect()
}

fn within(folder: &Path, deep: usize, files: &mut Vec<PathBuf>) {
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true if deep > 1 => within(&path, deep - 1, files),
            true => {}
            false => files.push(path),
        }
    }
}

/// Refuses results that would take the place of what they are made from, or of each other.
///
/// # Errors
/// Which file it is, and what names it.
pub(crate) fn are_apart(command: &Command) -> Result<(), Diagnostic> {
    let files = Files::of(command);
    let mut earlier: Vec<(Identity, &str)> = Vec::new();
    for (option, output) in &files.written {
        let Some(own) = Identity::of(output) else {
            continue;
        };
        let output = output.display();
        let is_this =
            |input: &&PathBuf| input.is_file() && Identity::of(input).as_ref() == Some(&own);
        if let Some(input) = files.read.iter().find(is_this) {
            let input = input.display();
            let message = format!("`{output}` would be written over the input `{input}`");
            let hint = format!("name another file after `{option}`");
            return Err(Diagnostic::error(message).hint(hint));
        }
        if let Some((_, other)) = earlier.iter().find(|(other, _)| *other == own) {
            let message =
                format!("`{output}` is named twice, after `{other}` and after `{option}`");
            return Err(Diagnostic::error(message).hint("name a file for each"));
        }
        earlier.push((own, option));
    }
    Ok(())
}

/// What tells a file from others.
#[derive(PartialEq, Eq)]
enum Identity {
    /// Its place on its device: links to it are the same file.
    #[cfg(unix)]
    There(u64, u64),
    /// Its path, where nothing else is known of it, or it is not there yet.
    Path(PathBuf),
}

impl Identity {
    /// None of what is no file, such as a device, or lies in no folder.
    fn of(path: &Path) -> Option<Identity> {
        match path.metadata() {
            #[cfg(unix)]
            Ok(there) => there.is_file().then(|| {
                use std::os::unix::fs::MetadataExt;
                Identity::There(there.dev(), there.ino())
            }),
            #[cfg(not(unix))]
            Ok(there) if there.is_file() => path.canonicalize().ok().map(Identity::Path),
            #[cfg(not(unix))]
            Ok(_) => None,
            Err(_) => {
                let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
                let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
                Some(Identity::Path(folder.join(path.file_name()?)))
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::are_apart;
    use crate::args::Arguments;
    use clap::Parser;

    /// What is said of a command in a folder with the files that are read.
    fn said(words: &str) -> Option<String> {
        let folder = tempfile::tempdir().expect("there is room");
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("own/cost")).expect("there is room");
        for name in [
            "k",
            "c.h",
            "v.xml",
            "p.s",
            "q.bin",
            "own/manifest.yaml",
            "own/cost/m.yaml",
        ] {
            std::fs::write(at(name), "text").expect("there is room");
        }
        std::fs::hard_link(at("c.h"), at("hard")).expect("links are there");
        std::os::unix::fs::symlink("k", at("link")).expect("links are there");
        let words = words.replace("DIR", &folder.path().display().to_string());
        let arguments =
            Arguments::try_parse_from(std::iter::once("isaforge").chain(words.split(' ')));
        let command = arguments.expect("it is a command").command;
        are_apart(&command).err().map(|d| d.to_string())
    }

    #[test]
    fn whatever_a_command_reads_is_not_written_over() {
        for words in [
            "compile DIR/k -o DIR/k",
            "compile DIR/k -o DIR/link",
            "compile DIR/k -o DIR/x --html DIR/k",
            "compile DIR/k --solver z3 --smt-transcript DIR/k",
            "compile --from-halide DIR/k --constants DIR/c.h -o DIR/c.h",
            "compile --from-halide DIR/k --constants DIR/c.h -o DIR/hard",
            "compile --from-autoir DIR/k -o DIR/own/../k",
            "compile DIR/k --vendor DIR/v.xml -o DIR/v.xml",
            "compile DIR/k --isa own --isa-specs DIR -o DIR/own/manifest.yaml",
            "compile DIR/k --isa own --isa-specs DIR -o DIR/own/cost/m.yaml",
            "map DIR/k -o DIR/k",
            "map DIR/k --isa own --isa-specs DIR -o DIR/own/manifest.yaml",
            "schedule DIR/k --html DIR/k",
            "lower DIR/k --build DIR -o DIR/k",
            "sim DIR/p.s --save DIR/p.s@0+16",
            "sim DIR/p.s --load DIR/q.bin@0 --save DIR/q.bin@0+16",
            "build --shard 1/2 --vendor DIR/v.xml -o DIR/v.xml",
            "build --shard 1/2 --merge DIR/p.s -o DIR/p.s",
            "classes --isa own --isa-specs DIR --graph DIR/own/manifest.yaml",
            "verify --dictionary DIR/k --smt-transcript DIR/k",
        ] {
            let said = said(words).expect(words);
            assert!(
                said.contains("would be written over the input"),
                "{words}: {said}"
            );
        }
    }

    #[test]
    fn results_go_to_files_of_their_own() {
        for words in [
            "compile DIR/k -o DIR/x --html DIR/x",
            "compile DIR/k -o DIR/x --smt-transcript DIR/own/../x",
            "sim DIR/p.s --save DIR/x@0+16 --save DIR/x@16+16",
        ] {
            let said = said(words).expect(words);
            assert!(said.contains("is named twice"), "{words}: {said}");
        }
        for words in [
            "compile DIR/k -o DIR/x --html DIR/y",
            "compile DIR/k -o DIR/c.h",
            "compile DIR/k -o DIR/none/../k",
            "compile DIR/missing -o DIR/missing",
            "compile DIR/k -o - --html DIR/x",
            "compile DIR/k -o /dev/null --html /dev/null",
            "compile DIR/k --isa own --isa-specs DIR -o DIR/manifest.yaml",
            "calibrate --isa own --isa-specs DIR -o DIR/own/cost/m.yaml",
        ] {
            assert_eq!(said(words), None, "{words}");
        }
    }
}
