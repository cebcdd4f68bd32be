//! A program around a compiled kernel: arguments from a file, results to a file, time.
//!
//! In: a kernel. Out: C with a `main` that reads all parameters, sizes first (as 64-bit
//! integers, scalars and arrays as their elements, in the machine's byte order), calls the
//! kernel, and writes the `out` and `inout` arrays in order. The kernel is called twice: once
//! with every array ending where a page begins that may not be touched, once with every array
//! beginning where such a page ends; the results must be the same. With a third argument it
//! calls the kernel that often again and prints the seconds of one call. [`arguments`] and
//! [`results`] are the other side.

use super::operation::c_type;
use super::scope::Scope;
use super::text::Text;
use autoir::program::placed::Placement;
use kernel::ast::Direction;
use kernel::eval::Data;
use kernel::tree::{Kernel, Param, Role};
use kernel::types::Elem;
use target::processor::Processor;

/// What stands before `main` and is the same for every kernel.
const PROLOGUE: &str = r#"#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static int at_end;

static void fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void touched(int number) {
    static const char what[] = "the kernel touches memory outside its arrays\n";
    (void)number;
    _exit(write(2, what, sizeof what - 1) < 0 ? 2 : 1);
}

static void get(FILE *from, void *to, size_t bytes) {
    if (bytes > 0 && fread(to, 1, bytes, from) != bytes)
        fail("the input file is too short");
}

static void *get_array(FILE *from, size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), inside = (bytes + page - 1) / page * page;
    unsigned char *all = mmap(NULL, inside + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED || (inside > 0 && mprotect(all + page, inside, PROT_READ | PROT_WRITE) != 0))
        fail("out of memory");
    unsigned char *array = all + page + (at_end ? inside - bytes : 0);
    get(from, array, bytes);
    return array;
}

static void put_array(FILE *to, const void *array, size_t bytes) {
    if (at_end) {
        if (fwrite(array, 1, bytes, to) != bytes)
            fail("cannot write the output file");
        return;
    }
    unsigned char *before = malloc(bytes + 1);
    if (!before || fread(before, 1, bytes, to) != bytes)
        fail("cannot read the output file");
    if (memcmp(before, array, bytes) != 0)
        fail("the results depend on where the arrays lie");
    free(before);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
"#;

/// The names that the program around a kernel uses itself.
pub(super) fn words() -> impl Iterator<Item = &'static str> {
    // Its functions, and those that it calls: what stands before a bracket.
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let called = PROLOGUE.match_indices('(').filter_map(move |(at, _)| {
        let before = &PROLOGUE[..at];
        let from = before.rfind(|c| !word(c)).map_or(0, |n| n + 1);
        (from < at).then(|| &before[from..])
    });
    called.chain(["main", "argc", "argv", "at_end"])
}

/// The program around a kernel.
pub fn harness(kernel: &Kernel) -> String {
    let placement = Placement::default();
    let mut scope = Scope::new(kernel, &placement, (&[], Processor::default().line));
    let [input, output, repeats, start, count] =
        ["input", "output", "repeats", "start", "count"].map(|name| scope.fresh(name));
    let (mut load, mut save) = (Text::default(), Text::default());
    for param in read_order(kernel) {
        let (name, elem) = match *param {
            Param::Size(symbol) => (scope.symbol(symbol).to_owned(), Elem::signed(64)),
            Param::Scalar(id) => (scope.scalar(id).to_owned(), kernel.scalars[id].elem),
            Param::Array(id) => (scope.array(id).to_owned(), kernel.arrays[id].elem),
        };
        let elem = c_type(elem);
        if let Param::Array(id) = *param {
            let bytes = format!("sizeof *{name} * (size_t)({})", scope.length(id));
            load.line(&format!("{elem} *{name} = get_array({input}, {bytes});"));
            if written(kernel, id) {
                save.line(&format!("put_array({output}, {name}, {bytes});"));
            }
        } else {
            load.line(&format!("{elem} {name} = 0;"));
            load.line(&format!("get({input}, &{name}, sizeof {name});"));
        }
    }
    let names = kernel.params.iter().map(|param| match *param {
        Param::Size(symbol) => scope.symbol(symbol),
        Param::Scalar(id) => scope.scalar(id),
        Param::Array(id) => scope.array(id),
    });
    let names: Vec<&str> = names.collect();
    let call = format!("{}({});", scope.function, names.join(", "));
    let mut text = Text::default();
    text.lines(PROLOGUE);
    text.line("");
    scope
        .functions
        .definitions()
        .for_each(|function| text.lines(function));
    text.line(&format!(
        "void {}({});",
        scope.function,
        scope.parameters().join(", ")
    ));
    text.line("");
    text.open("int main(int argc, char **argv)");
    text.lines("if (argc < 3)\n    fail(\"usage: PROGRAM INPUT OUTPUT [REPEATS]\");");
    text.line(&format!(
        "FILE *{input} = fopen(argv[1], \"rb\"), *{output} = fopen(argv[2], \"w+b\");"
    ));
    text.lines(&format!(
        "if (!{input} || !{output})\n    fail(\"cannot open the input or output file\");"
    ));
    text.line("signal(SIGSEGV, touched);");
    text.line("signal(SIGBUS, touched);");
    text.line(&format!(
        "long {repeats} = argc > 3 ? strtol(argv[3], NULL, 10) : 0;"
    ));
    text.open("for (at_end = 1; at_end >= 0; at_end--)");
    text.line(&format!("rewind({input});"));
    text.line(&format!("rewind({output});"));
    text.lines(&load.finish());
    text.line(&call);
    text.lines(&save.finish());
    text.lines("if (at_end)\n    continue;");
    text.line(&format!("double {start} = now();"));
    text.lines(&format!(
        "for (long {count} = 0; {count} < {repeats}; {count}++)\n    {call}"
    ));
    text.line(&format!("if ({repeats} > 0)"));
    text.line(&format!(
        "    printf(\"%.9f\\n\", (now() - {start}) / (double){repeats});"
    ));
    text.close();
    text.lines(&format!(
        "if (fclose({output}) != 0)\n    fail(\"cannot write the output file\");"
    ));
    text.line("return 0;");
    text.close();
    text.finish()
}

/// Parameters as they are read: sizes first, which say how long arrays are wherever they stand.
fn read_order(kernel: &Kernel) -> impl Iterator<Item = &Param> {
    let is_size = |param: &&Param| matches!(param, Param::Size(_));
    let sizes = kernel.params.iter().filter(is_size);
    sizes.chain(kernel.params.iter().filter(move |param| !is_size(param)))
}

/// Whether the kernel writes the parameter.
fn written(kernel: &Kernel, array: usize) -> bool {
    matches!(
        kernel.arrays[array].role,
        Role::Param(Direction::Out | Direction::InOut)
    )
}

/// The bytes of the input file for some data; what is missing in the data is 0.
pub fn arguments(kernel: &Kernel, data: &Data) -> Vec<u8> {
    let mut bytes = Vec::new();
    for param in read_order(kernel) {
        match *param {
            Param::Size(symbol) => {
                let size = data
                    .sizes
                    .get(&kernel.symbol_name(symbol))
                    .copied()
                    .unwrap_or(0);
                bytes.extend(size.to_ne_bytes());
            }
            Param::Scalar(id) => {
                let scalar = &kernel.scalars[id];
                let value = data.scalars.get(&scalar.name).copied().unwrap_or(0);
                push(&mut bytes, scalar.elem, value);
            }
            Param::Array(id) => {
                let array = &kernel.arrays[id];
                for &value in data.arrays.get(&array.name).into_iter().flatten() {
                    push(&mut bytes, array.elem, value);
                }
            }
        }
    }
    bytes
}

/// The arrays in an output file, by name; `lengths` are those of the data that went in.
/// `None` when the file has another size.
pub fn results(kernel: &Kernel, data: &Data, bytes: &[u8]) -> Option<Vec<(String, Vec<i128>)>> {
    let mut rest = bytes;
    let mut arrays = Vec::new();
    for param in &kernel.params {
        let Param::Array(id) = *param else { continue };
        if !written(kernel, id) {
            continue;
        }
        let array = &kernel.arrays[id];
        let width = usize::try_from(array.elem.bits() / 8).ok()?;
        let length = data.arrays.get(&array.name)?.len() * width;
        let (these, after) = rest.split_at_checked(length)?;
        rest = after;
        let values = these
            .chunks_exact(width)
            .map(|chunk| pull(array.elem, chunk));
        let mut values: Vec<i128> = values.collect();
        let size = |s| data.sizes.get(&kernel.symbol_name(s)).copied().unwrap_or(0);
        array.blank_padding(&size, &mut values);
        arrays.push((array.name.clone(), values));
    }
    rest.is_empty().then_some(arrays)
}

/// One element as bytes.
fn push(bytes: &mut Vec<u8>, elem: Elem, value: i128) {
    let width = (elem.bits() / 8).max(1) as usize;
    let all = value.to_le_bytes();
    let mut these = all[..width].to_vec();
    if cfg!(target_endian = "big") {
        these.reverse();
    }
    bytes.extend(these);
}

/// One element from bytes.
fn pull(elem: Elem, bytes: &[u8]) -> i128 {
    let mut all = [0; 16];
    for (n, &byte) in bytes.iter().enumerate() {
        let at = if cfg!(target_endian = "big") {
            bytes.len() - 1 - n
        } else {
            n
        };
        all[at] = byte;
    }
    elem.wrap(i128::from_le_bytes(all))
}
