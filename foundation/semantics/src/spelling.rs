//! How names, types and features may be spelt.
//!
//! In: texts that files give for names. Out: whether they are names, or the message that
//! refuses them. Back ends write names into C, assembly, LLVM IR, TableGen and Python as they
//! are; that is safe because every reader of instructions asks here first, and what is
//! spelt in these ways means nothing but itself in any of them. What is free text (formulas,
//! evidence, file names) is escaped by the writer of each format instead.

use crate::instruction::{Instruction, Operand};

/// The longest name; compilers of C need not tell longer ones apart.
const LONGEST: usize = 255;

/// The words of C: no function is called so.
const C_WORDS: &[&str] = &[
    "asm", "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else",
    "enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "register",
    "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef",
    "typeof", "union", "unsigned", "void", "volatile", "while", "main",
];

/// A kind of text that has a spelling.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spelling {
    /// A name as C has them: letters, digits and `_`, no digit first.
    Identifier,
    /// Such a name that is no word of C: that of a function.
    Function,
    /// Such names with dots between them, as machines call their instructions.
    Dotted,
    /// A type of C: names and `*`.
    CType,
    /// What a description calls what only it has: a model, a unit, an erratum.
    Name,
    /// A feature of a processor, as vendors and compilers write them.
    Feature,
    /// A flag of compilers, after `-m` or as one of several features.
    Flag,
    /// A mnemonic with its operand form, or a piece of assembly.
    Assembly,
    /// A piece of a statement of C, without texts, comments and directives.
    Statement,
    /// A type or a statement of LLVM IR that uses no function but LLVM's own intrinsics.
    Llvm,
    /// What C's preprocessor may ask.
    Condition,
    /// A header of C, by its path below the folders where headers are.
    Header,
}

impl Spelling {
    /// Whether the text is spelt so.
    pub fn takes(self, text: &str) -> bool {
        let all = |extra: &str| {
            let known = |c: char| c.is_ascii_alphanumeric() || extra.contains(c);
            !text.is_empty() && text.len() <= LONGEST && text.chars().all(known)
        };
        match self {
            Spelling::Identifier => all("_") && !text.starts_with(|c: char| c.is_ascii_digit()),
            Spelling::Function => Spelling::Identifier.takes(text) && !C_WORDS.contains(&text),
            Spelling::Dotted => {
                text.len() <= LONGEST
                    && text.split('.').all(|part| Spelling::Identifier.takes(part))
            }
            Spelling::CType => {
                // Arrays: `int[8]` where C has a pointer, tiles of a machine as `spad[4][16]`.
                let mut bare = text;
                while let Some((before, count)) =
                    bare.strip_suffix(']').and_then(|t| t.rsplit_once('['))
                    && count.chars().all(|c| c.is_ascii_digit())
                {
                    bare = before;
                }
                let words = || bare.split([' ', '*']).filter(|word| !word.is_empty());
                all("_ *[]")
                    && words().next().is_some()
                    && words().all(|word| Spelling::Identifier.takes(word))
            }
            Spelling::Name | Spelling::Feature => {
                all("_.+-") && text.starts_with(|c: char| c.is_ascii_alphanumeric())
            }
            Spelling::Flag => {
                all("_.+-=") && text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '+')
            }
            Spelling::Assembly => all("_.+- ,/{}()[]"),
            Spelling::Statement => {
                let known =
                    |c: char| c.is_ascii_alphanumeric() || "_ ()[]<>=!&|^~.+-*/%,;?:".contains(c);
                text.chars().all(known) && !text.contains("/*") && !text.contains("//")
            }
            Spelling::Llvm => llvm(text),
            Spelling::Header => {
                let part = |part: &str| !part.is_empty() && part != "..";
                all("_.+-/") && text.split('/').all(part)
            }
            Spelling::Condition => {
                let known = |c: char| c.is_ascii_alphanumeric() || "_ ()<>=!&|.+-*".contains(c);
                !text.is_empty() && text.chars().all(known)
            }
        }
    }

    /// The message when it is not.
    ///
    /// # Errors
    /// What is wrong, with the text in a form that fits a line.
    pub fn check(self, what: &str, text: &str) -> Result<(), String> {
        if self.takes(text) {
            return Ok(());
        }
        let allowed = match self {
            Spelling::Identifier => "a name has letters, digits and `_`, no digit first",
            Spelling::Function => {
                "a name has letters, digits and `_`, no digit first, and is no word of C"
            }
            Spelling::Dotted => "a name has letters, digits, `_` and dots, no digit first",
            Spelling::CType => "a type has names and `*`",
            Spelling::Name => "a name has letters, digits and `_.+-`, a letter or a digit first",
            Spelling::Feature => "a feature has letters, digits and `_.+-`",
            Spelling::Flag => "a flag has letters, digits and `_.+-=`",
            Spelling::Assembly => "assembly has letters, digits and `_.+-,/{}()[]`",
            Spelling::Statement => "a statement of C has names, numbers, operators and calls",
            Spelling::Llvm => "a statement calls only `@llvm.` intrinsics",
            Spelling::Header => {
                "a header has letters, digits and `_.+-/`, and is no path from the root or with `..`"
            }
            Spelling::Condition => "a condition has names, numbers and operators of C",
        };
        Err(format!("{what} is `{}`: {allowed}", quoted(text)))
    }
}

/// Whether LLVM IR stays within one statement and calls only LLVM's own intrinsics.
fn llvm(text: &str) -> bool {
    const FORBIDDEN: [&str; 8] = [
        "asm",
        "inttoptr",
        "blockaddress",
        "define",
        "declare",
        "module",
        "attributes",
        "invoke",
    ];
    let known = |c: char| c.is_ascii_alphanumeric() || " #%()+,-./:<=>@_{}*\"'".contains(c);
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = || text.split(|c: char| !is_word(c));
    let mut globals = text.split('@').skip(1);
    !text.trim().is_empty()
        && text.chars().all(known)
        && text.matches('{').count() == text.matches('}').count()
        && !text.trim_start().starts_with('}')
        && globals.all(|rest| rest.starts_with("llvm."))
        && !words().any(|word| FORBIDDEN.contains(&word))
        && (!words().any(|word| word == "call") || text.contains("@llvm."))
}

/// Whether brackets nest few enough deep for readers of YAML, whose time grows with the square of
/// that before anybody asks how deep. Blocks of pseudocode have brackets too, which need not pair.
///
/// # Errors
/// The message that tells how deep they may nest.
pub fn shallow(text: &str) -> Result<(), String> {
    const MOST: usize = 500;
    let mut depth = 0_usize;
    for byte in text.bytes() {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MOST {
            return Err(format!("brackets nest more than {MOST} deep"));
        }
    }
    Ok(())
}

/// A text as part of one line of a comment, in any language: what would end the line, join it
/// with the next or change the order of its letters is a blank.
pub fn line(text: &str) -> String {
    let known = |c: char| match c {
        '\\' => '/',
        '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{61c}' => ' ',
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => ' ',
        c if c.is_control() => ' ',
        c => c,
    };
    let text: String = text.chars().map(known).collect();
    // Three letters that stand for a backslash in older C.
    text.replace("??/", "? ?/")
}

/// The beginning of a text without what would leave its line or its quotes.
pub fn quoted(text: &str) -> String {
    const SHOWN: usize = 60;
    let shown: String = text.escape_debug().take(SHOWN).collect();
    let dots = if text.escape_debug().count() > SHOWN {
        "…"
    } else {
        ""
    };
    shown + dots
}

/// The names of an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    /// Its name in C.
    pub name: &'a str,
    /// The instruction set.
    pub isa: &'a str,
    /// The mnemonic and operand form.
    pub mnemonic: Option<&'a str>,
    /// Features that it needs.
    pub features: &'a [String],
    /// What it takes.
    pub operands: &'a [Operand],
}

impl Names<'_> {
    /// Whether all of them are names.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check(&self) -> Result<(), String> {
        Spelling::Dotted.check("the name of an instruction", self.name)?;
        let of = |what: &str| format!("{what} of `{}`", self.name);
        Spelling::Identifier.check(&of("the instruction set"), self.isa)?;
        if let Some(mnemonic) = self.mnemonic.filter(|m| !m.is_empty()) {
            Spelling::Assembly.check(&of("the mnemonic"), mnemonic)?;
        }
        for feature in self.features {
            Spelling::Feature.check(&of("a feature"), feature)?;
        }
        for operand in self.operands {
            Spelling::Identifier.check(&of("an operand"), &operand.name)?;
            Spelling::CType.check(&of("the type of an operand"), &operand.c_type)?;
        }
        Ok(())
    }
}

/// Whether a result's name and type are spelt as such.
///
/// # Errors
/// The one that is not.
pub fn result(name: &str, c_type: &str) -> Result<(), String> {
    Spelling::Identifier.check("the name of a result", name)?;
    Spelling::CType.check("the type of a result", c_type)
}

/// Whether the names of an instruction are names.
///
/// # Errors
/// The first that is not.
pub fn instruction(instruction: &Instruction) -> Result<(), String> {
    Names {
        name: &instruction.name,
        isa: &instruction.isa,
        mnemonic: instruction.mnemonic.as_deref(),
        features: &instruction.features,
        operands: &instruction.operands,
    }
    .check()?;
    let mut outputs = instruction.outputs.iter();
    outputs.try_for_each(|o| result(&o.name, &o.c_type))
}

/// Whether a name matches a pattern in which `*` stands for any run of characters.
pub fn is_like(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let (between, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    let Some(mut left) = name.strip_prefix(head).and_then(|n| n.strip_suffix(end)) else {
        return false;
    };
    // The first place where a part fits leaves the most for the others.
    between.split('*').all(|part| match left.find(part) {
        Some(at) => {
            left = &left[at + part.len()..];
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::{Spelling, line, quoted};

    #[test]
    fn what_is_a_name_and_what_is_not() {
        let hostile = [
            "",
            " ",
            "a b",
            "a\nb",
            "a;b",
            "a()",
            "a\"",
            "a\\",
            "a'",
            "a`",
            "a|b",
            "é",
            "a\0",
            "a#",
            "a%",
            "a$(b)",
            "a//",
            "a<b>",
            "//",
            "a\u{202e}b",
            "a=b",
            "a&b",
        ];
        for text in hostile {
            assert!(!Spelling::Identifier.takes(text), "{text:?}");
            if text != "a b" {
                assert!(!Spelling::CType.takes(text), "{text:?}");
            }
            assert!(!Spelling::Feature.takes(text), "{text:?}");
            let assembly = ["a b", " ", "a()", "//", "a//"].contains(&text);
            assert_eq!(Spelling::Assembly.takes(text), assembly, "{text:?}");
        }
        assert!(Spelling::Identifier.takes("_mm512_add_epi8"));
        assert!(!Spelling::Identifier.takes("8x"));
        assert!(!Spelling::Identifier.takes(&"x".repeat(256)));
        assert!(Spelling::CType.takes("unsigned __int64 const *"));
        assert!(Spelling::CType.takes("int[8][4]") && Spelling::CType.takes("int[]"));
        assert!(!Spelling::CType.takes("**") && !Spelling::CType.takes("int[8]x"));
        assert!(!Spelling::CType.takes("int[n]") && !Spelling::CType.takes("int]"));
        assert!(Spelling::Feature.takes("SSE4.1"));
        assert!(!Spelling::Feature.takes("-fplugin"));
        assert!(Spelling::Assembly.takes("vpaddb zmm {k}, zmm, m512/zmm"));
    }

    #[test]
    fn what_may_stand_in_llvm_ir() {
        for text in [
            "%2 = call i32 @llvm.bswap.i32(i32 %0)",
            "ret <4 x i32> %2",
            "%5 = call { i8, i32 } @llvm.x86.addcarry.32(i8 %0, i32 %1, i32 %2)",
            "i64 returned",
        ] {
            assert!(Spelling::Llvm.takes(text), "{text}");
        }
        for text in [
            "%1 = call i32 @system(ptr %0)",
            "%1 = call i32 %0()",
            "call void asm sideeffect \"nop\", \"\"()",
            "call void inttoptr (i64 1 to ptr)(), !x !{@llvm.x}",
            "ret i8 0 }",
            "}\ndefine void @llvm.x() {",
            "ret i8 0 ; no",
        ] {
            assert!(!Spelling::Llvm.takes(text), "{text}");
        }
        assert!(Spelling::Condition.takes("!defined(__clang__) || __GNUC__ >= 13"));
        assert!(!Spelling::Condition.takes("1\n#error"));
        assert!(!Spelling::Condition.takes("1 //\\"));
        assert!(Spelling::Dotted.takes("compute.preloaded") && !Spelling::Dotted.takes("a..b"));
    }

    #[test]
    fn what_is_refused_is_told_in_one_short_line() {
        assert_eq!(line("a\nb\\\r\u{202e}c??/"), "a b/  c? ?/");
        let said = Spelling::Identifier.check("the name", &"\n\"".repeat(100));
        let said = said.expect_err("it is no name");
        assert!(!said.contains('\n') && said.len() < 200, "{said}");
        assert_eq!(quoted("a\nb"), "a\\nb");
    }
}
