//! What a compiler makes of the C code of a kernel, instruction by instruction.
//!
//! In: C code, and who compiles it. Out: [`Instruction`]s, each with the line of the code that it is from:
//! of an intrinsic, which is a function in a header, the line that calls it. It runs nothing; `objdump` reads
//! the object and its lines, that of the compiler's own tools where these have a prefix.

use crate::check::machine::Compiler;
use codegen_gen::back_end::{Code, Language};
use std::fs;
use std::process::Command;
use toolchain::{c, folder, process};

/// The file that is compiled.
const FILE: &str = "kernel.c";

/// An instruction of the object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// Its address in hexadecimal.
    pub address: String,
    /// It as `objdump` writes it.
    pub text: String,
    /// The line of the code that it is from, from 1, where that is known.
    pub line: Option<usize>,
}

/// The instructions of a kernel's code, optimised as when it is run, in order of their addresses.
///
/// # Errors
/// Why there are none, in one line.
pub fn of(
    code: &Code,
    (compiler, flags): (&Compiler, &[String]),
) -> Result<Vec<Instruction>, String> {
    if code.language != Language::C {
        return Err("what was written is no C".to_owned());
    }
    let folder = folder::temporary()?;
    fs::write(folder.path().join(FILE), code.to_string())
        .and_then(|()| compiler.write_files(folder.path()))
        .map_err(|error| format!("cannot write a temporary file: {error}"))?;
    let first = ["-std=gnu11", "-O2", "-g1", "-w"];
    let flags = compiler.flags.iter().chain(flags).map(String::as_str);
    let last = ["-c", FILE, "-o", "kernel.o"];
    let arguments = first.into_iter().chain(flags).chain(last);
    c::compile(&compiler.program, arguments, folder.path()).map_err(|failure| match failure {
        c::Failure::Absent(why) => why,
        c::Failure::Refused(messages) => {
            let said = messages.lines().find(|line| line.contains("error"));
            let said = said.unwrap_or("it does not say why");
            format!("{} refuses the code: {said}", compiler.program)
        }
    })?;
    let reader = reader(&compiler.program);
    let arguments = ["-d", "-l", "--inlines", "--no-show-raw-insn", "kernel.o"];
    let run = Command::new(&reader)
        .args(arguments)
        .env("LC_ALL", "C")
        .current_dir(folder.path())
        .output();
    let run = run.map_err(|error| format!("`{reader}`, of GNU binutils, does not run: {error}"))?;
    if !run.status.success() {
        let said = process::text(&run);
        let said = said.lines().next().unwrap_or("it does not say why");
        return Err(format!("`{reader}` does not read the object: {said}"));
    }
    Ok(read(&String::from_utf8_lossy(&run.stdout)))
}

/// `aarch64-linux-gnu-objdump` beside `aarch64-linux-gnu-gcc`.
fn reader(compiler: &str) -> String {
    let prefix = ["gcc", "cc"]
        .iter()
        .find_map(|name| compiler.split_once(name));
    match prefix {
        Some((prefix, _)) if prefix.ends_with('-') => format!("{prefix}objdump"),
        _ => "objdump".to_owned(),
    }
}

/// What `objdump` wrote: places in sources, the innermost first, and instructions after them.
fn read(text: &str) -> Vec<Instruction> {
    let (mut found, mut line) = (Vec::new(), None);
    for written in text.lines() {
        if let Some(here) = place(written) {
            line = Some(here);
            continue;
        }
        let instruction = written.trim_start().split_once(":\t");
        if let Some((address, text)) = instruction.filter(|(a, _)| is_address(a)) {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let address = address.to_owned();
            found.push(Instruction {
                address,
                text,
                line,
            });
        }
    }
    // What fills the room up to where the next function begins.
    while found.last().is_some_and(|i| {
        i.text.starts_with("nop")
            || i.text.starts_with("cs nop")
            || i.text.starts_with("xchg %ax,%ax")
    }) {
        found.pop();
    }
    found
}

fn is_address(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// The line of the code that a place is, when it is one in it.
fn place(written: &str) -> Option<usize> {
    let (_, after) = written.rsplit_once(&format!("{FILE}:"))?;
    let digits = after.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{read, reader};

    #[test]
    fn an_inlined_function_is_where_it_is_called() {
        let text = "kernel.o:     file format elf64-x86-64\n\n0000000000000000 <f>:\nf():\n/t/kernel.c:3\n   \
                    0:\tvpxor  %xmm2,%xmm2,%xmm2\n_mm512_set1_ps():\n/usr/include/avx512fintrin.h:250 (discriminator 3)\n\
                    inlined by /t/kernel.c:32 (f)\n  ca:\tvbroadcastss -0x4(%rdx),%zmm3\n  cb:\tret\n  cc:\tnopl   0x0(%rax)\n";
        let found: Vec<_> = read(text)
            .into_iter()
            .map(|i| (i.address, i.text, i.line))
            .collect();
        let one = |a: &str, t: &str, l| (a.to_owned(), t.to_owned(), Some(l));
        assert_eq!(
            found,
            [
                one("0", "vpxor %xmm2,%xmm2,%xmm2", 3),
                one("ca", "vbroadcastss -0x4(%rdx),%zmm3", 32),
                one("cb", "ret", 32),
            ]
        );
    }

    #[test]
    fn the_reader_is_the_compilers() {
        assert_eq!(reader("aarch64-linux-gnu-gcc"), "aarch64-linux-gnu-objdump");
        assert_eq!(reader("/usr/bin/gcc-12"), "objdump");
        assert_eq!(reader("clang"), "objdump");
    }
}
