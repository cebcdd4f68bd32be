//! The processor that code is made for: its features, and how compilers are told.
//!
//! In: the text of `targets.yaml` and a name, a list of features or `host`. Out: [`Target`]; what
//! models take besides their instructions is in [`processor`].
//! It knows no feature by itself: names, spellings and models are data.

pub mod processor;
pub mod timing;

use semantics::diagnostic::{Diagnostic, suggest};
use semantics::spelling::{self, Spelling};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use timing::Timing;

#[cfg(test)]
mod tests;

/// A processor, as far as choosing instructions needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The name that was asked for.
    pub name: String,
    /// The model whose costs fit best.
    pub model: String,
    /// All features, implied ones included, as instructions name them.
    pub features: BTreeSet<String>,
}

/// Registers of one width, as C has them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RegisterClass {
    /// Their width in bits.
    pub width: u32,
    /// The type of a variable in C.
    pub c_type: String,
    /// The feature that holding and moving them needs, if any.
    pub needs: Option<String>,
    /// How many there are.
    pub count: usize,
    /// The most instructions that rounds of a loop may be together to be written out one after the other,
    /// if compilers have to be asked for it.
    pub unrolled: Option<usize>,
    /// When a compiler is not to take memory instead.
    pub held: Option<Held>,
}

/// Operands that a compiler is not to read from memory itself: they are held in registers before.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Held {
    /// What GNU C's assembly calls a register of the class.
    pub constraint: String,
    /// Instructions for whose operands some compiler ends with an error of its own otherwise, `*` for
    /// any characters.
    #[serde(default)]
    pub before: Vec<String>,
    /// Instructions of which some compiler makes others where it knows a constant operand, as sums and
    /// shifts of a product, `*` for any characters: it is not told the constant.
    #[serde(default)]
    pub constants: Vec<String>,
    /// Whether what is loaded once and read more than once is held: some compiler loads it each time.
    #[serde(default)]
    pub loads: bool,
}

/// How many registers there are of a class that does not say so.
const REGISTERS: usize = 16;

/// The same as the data file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Register {
    /// In bits; that of the type where it is left out.
    width: Option<u32>,
    #[serde(rename = "type")]
    c_type: String,
    needs: Option<String>,
    count: Option<usize>,
    unrolled: Option<usize>,
    held: Option<Held>,
}

impl Register {
    /// What a message calls it.
    fn title(&self) -> String {
        match self.width {
            Some(width) => format!("the registers of {width} bits"),
            None => format!("the registers of the type `{}`", self.c_type),
        }
    }
}

/// What LLVM has to know of an instruction set.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Llvm {
    /// The target of modules; that of this machine where there is none.
    pub triple: Option<String>,
    /// How the names of its own intrinsics begin, where LLVM has any.
    pub prefix: Option<String>,
    /// The bits of a size in C (`size_t`).
    #[serde(default = "sixty_four")]
    pub size: u32,
    /// What `llc` is told besides.
    #[serde(default)]
    pub flags: Vec<String>,
}

impl Default for Llvm {
    fn default() -> Llvm {
        Llvm {
            triple: None,
            prefix: None,
            size: sixty_four(),
            flags: Vec::new(),
        }
    }
}

fn sixty_four() -> u32 {
    64
}

/// All models and features of an instruction set.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Targets {
    /// The architecture that features with a `+` are added to, where compilers want them so.
    march: Option<String>,
    /// Types of C that are structures of several registers, `*` for any characters: no cast
    /// makes one of them a register, or a register one of them.
    #[serde(default)]
    structures: Vec<String>,
    /// What LLVM has to know.
    #[serde(default)]
    llvm: Llvm,
    /// Vector registers, the narrowest first.
    #[serde(default)]
    registers: Vec<Register>,
    /// How instructions are timed, where this is known.
    timing: Option<Timing>,
    #[serde(default)]
    features: BTreeMap<String, Feature>,
    models: BTreeMap<String, Model>,
}

/// One feature: its spellings and what it cannot be without.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Feature {
    /// As compilers spell it, where one knows it.
    flag: Option<String>,
    /// The architecture that compilers want with it, where features are added to one.
    arch: Option<String>,
    /// As Linux spells it, where it runs on the machine.
    cpuinfo: Option<String>,
    /// As LLVM spells it, where that is not as compilers do; it may be several.
    #[serde(default)]
    llvm: Vec<String>,
    /// What compilers define when it may be used, where that is not their spelling in capitals.
    defines: Option<String>,
    /// What holds in C's preprocessor when it may be used, where nothing is defined for it.
    when: Option<String>,
    #[serde(default)]
    implies: Vec<String>,
}

/// One model: everything of `base`, and more.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Model {
    #[serde(default)]
    base: Option<String>,
    #[serde(default)]
    adds: Vec<String>,
}

impl Targets {
    /// The `targets.yaml` of an instruction set's folder.
    ///
    /// # Errors
    /// When it cannot be read or is wrong.
    pub fn load(folder: &Path) -> Result<Targets, Diagnostic> {
        let wrong = |error: String| Diagnostic::error(format!("targets.yaml: {error}"));
        let text = std::fs::read_to_string(folder.join("targets.yaml"))
            .map_err(|error| wrong(format!("cannot be read: {error}")))?;
        Targets::parse(&text).map_err(wrong)
    }

    /// Reads the data file.
    ///
    /// # Errors
    /// The YAML error with its line and column; a model or feature that names one that is
    /// not there.
    pub fn parse(text: &str) -> Result<Targets, String> {
        spelling::shallow(text)?;
        let targets: Targets = serde_yaml::from_str(text).map_err(|error| error.to_string())?;
        targets.checked()
    }

    /// What was read, if its names are right.
    ///
    /// # Errors
    /// A model or feature that names one that is not there, a name that is none, no model.
    pub fn checked(self) -> Result<Targets, String> {
        if self.models.is_empty() {
            return Err("there is no model: name one, `models: {m1: {}}`".to_owned());
        }
        self.check_names()?;
        Ok(self)
    }

    /// Whether every name that is used is defined, and no model is its own base.
    fn check_names(&self) -> Result<(), String> {
        let known = |owner: &str, name: &String| match self.features.contains_key(name) {
            true => Ok(()),
            false => {
                let near = suggest(name, self.features.keys().map(String::as_str));
                let meant = near.map_or(String::new(), |n| format!("; did you mean `{n}`?"));
                Err(format!(
                    "`{owner}` names `{name}`, which is not under `features`{meant}"
                ))
            }
        };
        for (owner, feature) in &self.features {
            Spelling::Feature.check("a feature", owner)?;
            if let Some(arch) = &feature.arch {
                Spelling::Feature.check(&format!("the architecture of `{owner}`"), arch)?;
            }
            if let Some(flag) = &feature.flag {
                Spelling::Flag.check(&format!("the flag of `{owner}`"), flag)?;
            }
            for name in &feature.llvm {
                Spelling::Feature.check(&format!("what LLVM calls `{owner}`"), name)?;
            }
            if let Some(name) = &feature.defines {
                Spelling::Identifier.check(&format!("what is defined for `{owner}`"), name)?;
            }
            if let Some(condition) = &feature.when {
                Spelling::Condition.check(&format!("`when` of `{owner}`"), condition)?;
            }
            for name in &feature.implies {
                known(owner, name)?;
            }
        }
        for class in &self.registers {
            let owner = class.title();
            if let Some(needs) = &class.needs {
                known(&owner, needs)?;
            }
            Spelling::CType.check(&format!("the type of {owner}"), &class.c_type)?;
            if let Some(held) = &class.held {
                Spelling::Identifier
                    .check(&format!("the constraint of {owner}"), &held.constraint)?;
            }
        }
        self.check_widths()?;
        self.timing.iter().try_for_each(Timing::check)?;
        self.check_llvm()?;
        if let Some(march) = &self.march {
            Spelling::Feature.check("the architecture", march)?;
        }
        for (owner, model) in &self.models {
            Spelling::Feature.check("a model", owner)?;
            for name in &model.adds {
                known(owner, name)?;
            }
            let mut base = model.base.as_ref();
            for _ in 0..=self.models.len() {
                let Some(name) = base else { break };
                let next = self.models.get(name);
                base = next
                    .ok_or_else(|| format!("`{owner}` is based on `{name}`, which is no model"))?
                    .base
                    .as_ref();
            }
            if base.is_some() {
                return Err(format!("`{owner}` is in the end based on itself"));
            }
        }
        Ok(())
    }

    /// Whether what LLVM is told is spelt as LLVM reads it.
    fn check_llvm(&self) -> Result<(), String> {
        if let Some(triple) = &self.llvm.triple {
            Spelling::Feature.check("the target of LLVM", triple)?;
        }
        if let Some(prefix) = &self.llvm.prefix {
            Spelling::Feature.check("the `prefix` of LLVM", prefix)?;
        }
        let flag = |flag: &String| {
            let bare = flag.strip_prefix('-').unwrap_or(flag);
            Spelling::Flag.check("a flag of `llc`", bare)
        };
        self.llvm.flags.iter().try_for_each(flag)?;
        match matches!(self.llvm.size, 16 | 32 | 64) {
            true => Ok(()),
            false => Err("the `size` of LLVM is 16, 32 or 64".to_owned()),
        }
    }

    /// Whether the widths of registers that are known are possible and in order.
    fn check_widths(&self) -> Result<(), String> {
        let known = self.registers.iter().filter_map(|r| Some((r.width?, r)));
        let known: Vec<(u32, &Register)> = known.collect();
        for (width, register) in &known {
            if width % 8 != 0 || *width == 0 {
                return Err(format!("{} are no whole bytes", register.title()));
            }
        }
        match known.windows(2).all(|w| w[0].0 < w[1].0) {
            true => Ok(()),
            false => Err("`registers` begins with the narrowest, each width once".to_owned()),
        }
    }

    /// How instructions are timed, where this is known.
    pub fn timing(&self) -> Option<&Timing> {
        self.timing.as_ref()
    }

    /// The same, where registers without a width have that of their type.
    ///
    /// # Errors
    /// A type that is not there, or widths that are not possible or not in order.
    pub fn with_types(mut self, types: &BTreeMap<String, u32>) -> Result<Targets, String> {
        for register in &mut self.registers {
            let known = types.get(&register.c_type).copied();
            register.width = register.width.or(known);
            if register.width.is_none() {
                let title = register.title();
                return Err(format!(
                    "{title} have no `width`, and the manifest has no such type"
                ));
            }
        }
        self.check_widths()?;
        Ok(self)
    }

    /// The registers that a processor with these features has, the narrowest first. Those whose
    /// width is not known are left out.
    pub fn registers(&self, features: &BTreeSet<String>) -> Vec<RegisterClass> {
        let has = |needs: &Option<String>| needs.as_ref().is_none_or(|n| features.contains(n));
        let all = self
            .registers
            .iter()
            .filter(|register| has(&register.needs));
        let class = |register: &Register| {
            Some(RegisterClass {
                width: register.width?,
                c_type: register.c_type.clone(),
                needs: register.needs.clone(),
                count: register.count.unwrap_or(REGISTERS),
                unrolled: register.unrolled,
                held: register.held.clone(),
            })
        };
        all.filter_map(class).collect()
    }

    /// Types of C that are structures of several registers, `*` for any characters.
    pub fn structures(&self) -> &[String] {
        &self.structures
    }

    /// Whether instructions may name this feature.
    pub fn has_feature(&self, name: &str) -> bool {
        self.features.contains_key(name)
    }

    /// The target of that name: `host`, a model, or features separated by commas.
    ///
    /// # Errors
    /// When a word is neither, with the nearest word that is.
    pub fn find(&self, asked: &str) -> Result<Target, Diagnostic> {
        if asked == "host" {
            return self.host();
        }
        let mut features = BTreeSet::new();
        for word in asked.split(',').map(str::trim) {
            if self.models.contains_key(word) {
                self.add_model(word, &mut features);
            } else {
                let name = self.feature(word).ok_or_else(|| self.unknown(word))?;
                self.add_feature(name, &mut features);
            }
        }
        let model = match self.models.contains_key(asked) {
            true => asked.to_owned(),
            false => self.nearest_model(&features),
        };
        Ok(Target {
            name: asked.to_owned(),
            model,
            features,
        })
    }

    /// The names of the models.
    pub fn models(&self) -> impl Iterator<Item = &str> {
        self.models.keys().map(String::as_str)
    }

    /// A processor with every feature that there is.
    pub fn all(&self) -> Target {
        let features: BTreeSet<String> = self.features.keys().cloned().collect();
        Target {
            name: "all".to_owned(),
            model: self.nearest_model(&features),
            features,
        }
    }

    /// This machine, by what the operating system says of it.
    ///
    /// # Errors
    /// When that cannot be read.
    pub fn host(&self) -> Result<Target, Diagnostic> {
        let text = std::fs::read_to_string("/proc/cpuinfo").map_err(|error| {
            let message = format!("cannot tell what this machine has: /proc/cpuinfo: {error}");
            let model = self.models().next().unwrap_or_default();
            Diagnostic::error(message).hint(format!("name a model, such as `--target {model}`"))
        })?;
        Ok(self.with_cpuinfo(&text))
    }

    /// A machine, by the text of its `/proc/cpuinfo`.
    fn with_cpuinfo(&self, text: &str) -> Target {
        let flags = text.lines().find(|line| line.starts_with("flags"));
        let words: BTreeSet<&str> = flags
            .and_then(|line| line.split_once(':'))
            .map(|(_, words)| words.split_whitespace().collect())
            .unwrap_or_default();
        let has = |feature: &Feature| {
            let spelt = feature.cpuinfo.as_deref();
            spelt.is_some_and(|name| words.contains(name))
        };
        let features = self.features.iter().filter(|(_, feature)| has(feature));
        let features: BTreeSet<String> = features.map(|(name, _)| name.clone()).collect();
        let model = self.nearest_model(&features);
        Target {
            name: "host".to_owned(),
            model,
            features,
        }
    }

    /// The model with the most of these features and none besides; among equals the last by
    /// name.
    fn nearest_model(&self, features: &BTreeSet<String>) -> String {
        let of = |name: &String| {
            let mut all = BTreeSet::new();
            self.add_model(name, &mut all);
            all
        };
        let within = self
            .models
            .keys()
            .map(|name| (of(name), name))
            .filter(|(all, _)| all.is_subset(features));
        within
            .max_by_key(|(all, name)| (all.len(), *name))
            .map_or_else(String::new, |(_, name)| name.clone())
    }

    /// Flags for a C compiler: one `-mFLAG` for each feature, also for those that others
    /// imply: what implies what is not the same for every compiler. Where features are added to an
    /// architecture it is one flag, of the latest architecture that a feature asks for.
    pub fn flags(&self, features: &BTreeSet<String>) -> Vec<String> {
        let known = features.iter().filter_map(|name| self.features.get(name));
        let known: Vec<&Feature> = known.collect();
        let flags = known.iter().filter_map(|feature| feature.flag.as_deref());
        let Some(march) = &self.march else {
            return flags.map(|flag| format!("-m{flag}")).collect();
        };
        let (added, asked): (Vec<&str>, Vec<&str>) = flags.partition(|flag| flag.starts_with('+'));
        let asked = asked.iter().filter_map(|flag| flag.strip_prefix("arch="));
        let asked = asked.chain(known.iter().filter_map(|f| f.arch.as_deref()));
        let latest = asked.chain([march.as_str()]).max().unwrap_or(march);
        vec![format!("-march={latest}{}", added.concat())]
    }

    /// A feature as compilers spell it.
    pub fn spelling(&self, feature: &str) -> Option<&str> {
        self.features.get(feature)?.flag.as_deref()
    }

    /// Every feature as compilers spell it: `-mFLAG`.
    pub fn spelt(&self) -> BTreeMap<String, String> {
        let each = self.features.iter();
        each.filter_map(|(name, feature)| Some((name.clone(), feature.flag.clone()?)))
            .collect()
    }

    /// What LLVM has to know.
    pub fn llvm(&self) -> &Llvm {
        &self.llvm
    }

    /// Features as LLVM spells them, as one list: `+a,+b`.
    pub fn llvm_features<'f>(&self, features: impl IntoIterator<Item = &'f String>) -> String {
        let spelt = |name: &String| -> Vec<String> {
            let Some(feature) = self.features.get(name) else {
                return Vec::new();
            };
            match (feature.llvm.as_slice(), &feature.flag) {
                ([], Some(flag)) => vec![format!("+{flag}")],
                (all, _) => all.iter().map(|name| format!("+{name}")).collect(),
            }
        };
        let mut all = Vec::new();
        for name in features.into_iter().flat_map(spelt) {
            if !all.contains(&name) {
                all.push(name);
            }
        }
        all.join(",")
    }

    /// Every feature with what holds in C's preprocessor when it may be used, and as LLVM spells
    /// it; without those of which either says nothing.
    pub fn reported(&self) -> (BTreeMap<String, String>, BTreeMap<String, String>) {
        let names = || self.features.keys().cloned();
        let condition = |name: &String| {
            let when = self.features.get(name)?.when.clone();
            when.or_else(|| Some(format!("defined({})", self.defined(name)?)))
        };
        let defined = names().filter_map(|name| Some((name.clone(), condition(&name)?)));
        let llvm = names().map(|name| (name.clone(), self.llvm_features([&name])));
        let llvm = llvm.filter(|(_, spelt)| !spelt.is_empty());
        (defined.collect(), llvm.collect())
    }

    /// What compilers define when they may use a feature, if anything.
    pub fn defined(&self, feature: &str) -> Option<String> {
        let feature = self.features.get(feature)?;
        let spelt = |flag: &String| format!("__{}__", flag.to_uppercase().replace('.', "_"));
        let plain = feature
            .flag
            .as_ref()
            .filter(|flag| !flag.contains(['+', '=']));
        feature.defines.clone().or_else(|| plain.map(spelt))
    }

    /// The features, and all that they imply.
    pub fn closure(&self, features: &BTreeSet<String>) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        for name in features {
            self.add_feature(name, &mut all);
        }
        all
    }

    /// The feature that a word means: spelt as instructions, compilers or Linux do, in
    /// either case.
    fn feature(&self, word: &str) -> Option<&str> {
        let same = |text: &str| plain(text) == plain(word);
        let spelt = |text: &Option<String>| text.as_deref().is_some_and(same);
        let mut all = self.features.iter();
        all.find(|(name, f)| same(name) || spelt(&f.flag) || spelt(&f.cpuinfo))
            .map(|(name, _)| name.as_str())
    }

    /// Adds a model's features.
    fn add_model(&self, name: &str, into: &mut BTreeSet<String>) {
        let mut next = self.models.get(name);
        while let Some(model) = next {
            for feature in &model.adds {
                self.add_feature(feature, into);
            }
            next = model.base.as_ref().and_then(|base| self.models.get(base));
        }
    }

    /// Adds a feature and what it implies.
    fn add_feature(&self, name: &str, into: &mut BTreeSet<String>) {
        if into.insert(name.to_owned())
            && let Some(feature) = self.features.get(name)
        {
            for implied in &feature.implies {
                self.add_feature(implied, into);
            }
        }
    }

    /// The complaint about a word, with the nearest known one.
    fn unknown(&self, word: &str) -> Diagnostic {
        let spelt =
            |(name, f): (&_, &Feature)| f.flag.clone().unwrap_or_else(|| String::clone(name));
        let features: Vec<String> = self.features.iter().map(spelt).collect();
        let models = self.models.keys().map(String::as_str);
        let names = models.clone().chain(features.iter().map(String::as_str));
        let names = names.chain(["host"]);
        let complaint = Diagnostic::error(format!("unknown target `{word}`"));
        match suggest(word, names) {
            Some(near) => complaint.hint(format!("did you mean `{near}`?")),
            None => complaint
                .with_note(format!(
                    "models are: host, {}",
                    models.collect::<Vec<_>>().join(", ")
                ))
                .hint(match &features[..] {
                    [one, other, ..] => {
                        format!("name a model, or features separated by commas: `{one},{other}`")
                    }
                    _ => "name a model".to_owned(),
                }),
        }
    }
}

/// A spelling without case and punctuation.
fn plain(text: &str) -> String {
    let kept = text.chars().filter(char::is_ascii_alphanumeric);
    kept.map(|c| c.to_ascii_lowercase()).collect()
}
