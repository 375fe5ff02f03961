//! What a symbol's name alone tells: compiler counters, GoogleTest's own names, and what those mean.
//! Mangled names are read just far enough; demangling for people is done elsewhere.

use std::sync::OnceLock;

use memchr::memmem::Finder;

use crate::summary::TestRole;

/// A text that is looked for in very many names: what speeds up the search is made once.
pub struct Part {
    text: &'static [u8],
    finder: OnceLock<Finder<'static>>,
}

impl Part {
    pub const fn new(text: &'static [u8]) -> Part {
        Part { text, finder: OnceLock::new() }
    }

    pub fn is_in(&self, name: &[u8]) -> bool {
        self.tails(name).next().is_some()
    }

    /// What follows each place where it is found.
    fn tails<'n>(&'n self, name: &'n [u8]) -> impl Iterator<Item = &'n [u8]> {
        let finder = self.finder.get_or_init(|| Finder::new(self.text));
        finder.find_iter(name).map(|start| &name[start + self.text.len()..])
    }
}

/// A local name that a compiler made from a counter: it changes when unrelated code does, so it is no identity.
pub fn is_counter(name: &[u8]) -> bool {
    const PREFIXES: [&[u8]; 9] = [
        b".L",
        b"$",
        b"GCC_except_table",
        b"CSWTCH.",
        b"__cxx_global_var_init",
        b"__cxx_global_array_dtor",
        b"__const.",
        b"switch.table",
        b"anon.",
    ];
    // Most names are mangled, and begin like no prefix.
    let is_mangled = name.starts_with(b"_Z");
    if name.is_empty() || (!is_mangled && PREFIXES.iter().any(|prefix| name.starts_with(prefix))) {
        return true;
    }
    // `x.0`, `C.12`, `__func__.3`; but `f.cold`, `f.part.0` and `f.constprop.0` are clones with a stable name.
    let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 {
        return false;
    }
    let stem = &name[..name.len() - digits];
    let is_clone =
        [&b".part."[..], b".constprop.", b".isra.", b".lto_priv."].iter().any(|end| stem.ends_with(end));
    stem.ends_with(b".") && !is_clone
}

/// What the symbol is to GoogleTest. Generators are always local.
pub fn test_role(name: &[u8], is_local: bool) -> TestRole {
    if !name.starts_with(b"_Z") {
        return TestRole::None;
    }
    const HOOKS: [&[u8]; 4] =
        [b"14SetUpTestSuiteEv", b"17TearDownTestSuiteEv", b"13SetUpTestCaseEv", b"16TearDownTestCaseEv"];
    // Most names end otherwise, and are told by that.
    let takes_nothing = name.ends_with(b"Ev");
    if takes_nothing && (name.ends_with(b"_Test8TestBodyEv") || name.ends_with(b"E8TestBodyEv")) {
        TestRole::Body
    } else if takes_nothing && name.ends_with(b"E10CreateTestEv") && name.starts_with(b"_ZN7testing8internal")
    {
        TestRole::Factory
    } else if takes_nothing && HOOKS.iter().any(|hook| name.ends_with(hook)) {
        TestRole::SuiteHook
    } else if is_local && is_generator(name) {
        TestRole::Generator
    } else {
        TestRole::None
    }
}

fn is_generator(name: &[u8]) -> bool {
    static STEM: Part = Part::new(b"_EvalGenerat");
    STEM.tails(name).any(|rest| rest.starts_with(b"or_") || rest.starts_with(b"eName_"))
}

/// The symbols by which registration code refers to a test's factory. Following them would connect every test
/// with every other through the registration.
pub fn is_registration_target(name: &[u8]) -> bool {
    const FACTORIES: [&[u8]; 2] =
        [b"N7testing8internal15TestFactoryImplI", b"N7testing8internal15TestMetaFactoryI"];
    let Some(rest) = name.strip_prefix(b"_Z") else { return false };
    if let Some(vtable) = rest.strip_prefix(b"TV") {
        return FACTORIES.iter().any(|factory| vtable.starts_with(factory));
    }
    let is_constructor = [&b"C1Ev"[..], b"C2Ev", b"C5Ev"].iter().any(|end| rest.ends_with(end));
    is_constructor && FACTORIES.iter().any(|factory| rest.starts_with(factory))
}

/// A GoogleTest class read from `_ZN...8TestBodyEv`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TestClass<'n> {
    /// The nested name without its `N` and `E`. Example: `2ns14Plain_One_Test`.
    pub scope: &'n [u8],
    /// Example: `Plain_One_Test`, or `gtest_suite_TP_::Five` for type-parameterised tests.
    pub class: String,
    pub is_template: bool,
}

/// The class of a `TestBody` symbol; `None` if the name is of another shape.
pub fn test_class(symbol: &[u8]) -> Option<TestClass<'_>> {
    let scope = symbol.strip_prefix(b"_ZN")?.strip_suffix(b"8TestBodyEv")?;
    let mut parts: Vec<&[u8]> = Vec::new();
    let mut rest = scope;
    let mut is_template = false;
    while let Some(&byte) = rest.first() {
        match byte {
            b'0'..=b'9' => {
                let (part, after) = source_name(rest)?;
                parts.push(part);
                rest = after;
            }
            b'L' => rest = &rest[1..],
            b'S' if rest.get(1) == Some(&b't') => rest = &rest[2..],
            b'S' => rest = &rest[rest.iter().position(|&byte| byte == b'_')? + 1..],
            // Template arguments: of the class itself, since test classes are never inside a template.
            b'I' => {
                is_template = true;
                break;
            }
            b'B' => rest = source_name(&rest[1..])?.1,
            _ => return None,
        }
    }
    let class = String::from_utf8_lossy(parts.last()?).into_owned();
    let suite = parts.len().checked_sub(2).map(|index| String::from_utf8_lossy(parts[index]).into_owned());
    let class = match suite {
        Some(suite) if suite.starts_with("gtest_suite_") || suite.starts_with("gtest_case_") => {
            format!("{suite}::{class}")
        }
        Some(_) | None => class,
    };
    Some(TestClass { scope, class, is_template })
}

/// The vtable symbol of a class by its nested name.
pub fn vtable_of(scope: &[u8]) -> Vec<u8> {
    [b"_ZTV", type_name(scope).as_slice()].concat()
}

/// The type-info symbol of a class by its nested name.
pub fn typeinfo_of(scope: &[u8]) -> Vec<u8> {
    [b"_ZTI", type_name(scope).as_slice()].concat()
}

/// A member function without arguments of a class by its nested name. Example: `14SetUpTestSuite`.
pub fn member_of(scope: &[u8], member: &str) -> Vec<u8> {
    [b"_ZN", scope, member.as_bytes(), b"Ev"].concat()
}

/// The nested name in a type-info symbol: `_ZTIN2ns4BaseE` and `_ZTI4Base` give `2ns4Base` and `4Base`.
pub fn scope_of_typeinfo(symbol: &[u8]) -> Option<&[u8]> {
    let name = symbol.strip_prefix(b"_ZTI")?;
    match name.strip_prefix(b"N") {
        Some(nested) => nested.strip_suffix(b"E"),
        None => Some(name),
    }
}

/// A class's mangled type: nested names are wrapped in `N...E`, a single one is not.
fn type_name(scope: &[u8]) -> Vec<u8> {
    match source_name(scope) {
        Some((_, rest)) if rest.is_empty() || rest[0] == b'I' => scope.to_vec(),
        Some(_) | None => [b"N", scope, b"E"].concat(),
    }
}

/// `5hello...` gives `hello` and the rest.
fn source_name(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let length: usize = std::str::from_utf8(&text[..digits]).ok()?.parse().ok()?;
    text[digits..].split_at_checked(length)
}

pub fn contains(text: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(text, part).is_some()
}

/// A symbol's name for people; names that are neither C++ nor Rust are left as they are.
pub fn demangled(name: &str) -> String {
    if let Some(text) = rust_name(name) {
        return text;
    }
    let symbol = cpp_demangle::Symbol::new(name);
    match symbol.ok().and_then(|symbol| symbol.demangle().ok()) {
        Some(text) => text,
        None => name.to_string(),
    }
}

/// The path of a Rust item, without the hash that the compiler adds; of a section with such a name both. `None` for what
/// is not Rust: the older mangling is told from that of C++ by its hash.
pub fn rust_name(name: &str) -> Option<String> {
    if let Some(at) =
        ["._ZN", "._R"].iter().find_map(|start| name.find(start)).filter(|_| name.starts_with('.'))
    {
        let (section, symbol) = (&name[..at], &name[at + 1..]);
        return rust_name(symbol).map(|text| format!("{text} in {section}"));
    }
    let is_older = || name.starts_with("_ZN") && has_rust_hash(name.as_bytes());
    if !name.starts_with("_R") && !is_older() {
        return None;
    }
    rustc_demangle::try_demangle(name).ok().map(|symbol| format!("{symbol:#}"))
}

/// `17h`, sixteen digits, and the end of the name or of all but a clone's suffix.
fn has_rust_hash(name: &[u8]) -> bool {
    static START: Part = Part::new(b"17h");
    START.tails(name).any(|rest| {
        rest.len() > 16
            && rest[..16].iter().all(u8::is_ascii_hexdigit)
            && rest[16] == b'E'
            && rest.get(17).is_none_or(|&byte| byte == b'.')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_told_from_names() {
        for name in [
            ".LC0",
            "GCC_except_table12",
            "CSWTCH.4",
            "x.0",
            "__func__.1",
            "C.0.1",
            "__cxx_global_var_init.2",
            "$x",
            "",
        ] {
            assert!(is_counter(name.as_bytes()), "{name}");
        }
        for name in
            ["_ZL6helperv", "helper", "f.cold", "f.part.0", "f.constprop.0", "x1", "_GLOBAL__sub_I_a.cpp"]
        {
            assert!(!is_counter(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn generators_are_told_from_names_that_look_alike() {
        for name in [
            "_ZL24gtest_ASu_EvalGenerator_v",
            "_ZL27gtest_ASu_EvalGenerateName_RKi",
            "_ZL9_EvalGeneratx_EvalGenerator_v",
        ] {
            assert_eq!(test_role(name.as_bytes(), true), TestRole::Generator, "{name}");
            assert_eq!(test_role(name.as_bytes(), false), TestRole::None, "{name}");
        }
        for name in
            ["_ZL24gtest_ASu_EvalGeneratorv", "_ZL24gtest_ASu_EvalGenerates_v", "gtest_ASu_EvalGenerator_"]
        {
            assert_eq!(test_role(name.as_bytes(), true), TestRole::None, "{name}");
        }
    }

    #[test]
    fn every_kind_of_test_class_is_read_from_its_body() {
        let cases = [
            ("_ZN14Plain_One_Test8TestBodyEv", "Plain_One_Test", false),
            ("_ZN2ns12Fix_Two_Test8TestBodyEv", "Fix_Two_Test", false),
            ("_ZN12_GLOBAL__N_113Typ_Four_TestIiE8TestBodyEv", "Typ_Four_Test", true),
            ("_ZN12_GLOBAL__N_113Typ_Four_TestISt6vectorIiSaIiEEE8TestBodyEv", "Typ_Four_Test", true),
            ("_ZN12_GLOBAL__N_115gtest_suite_TP_4FiveIiE8TestBodyEv", "gtest_suite_TP_::Five", true),
            ("_ZN7testing6A_Test8TestBodyEv", "A_Test", false),
        ];
        for (symbol, class, is_template) in cases {
            let read = test_class(symbol.as_bytes()).unwrap_or_else(|| panic!("{symbol}"));
            assert_eq!((read.class.as_str(), read.is_template), (class, is_template), "{symbol}");
        }
        assert_eq!(test_class(b"_ZN3Foo3BarEv"), None);
        assert_eq!(test_class(b"_ZN99Foo8TestBodyEv"), None);
    }

    #[test]
    fn class_members_have_the_names_the_compiler_gives_them() {
        assert_eq!(vtable_of(b"14Plain_One_Test"), b"_ZTV14Plain_One_Test");
        assert_eq!(vtable_of(b"2ns12Fix_Two_Test"), b"_ZTVN2ns12Fix_Two_TestE");
        assert_eq!(vtable_of(b"13Typ_Four_TestIiE"), b"_ZTV13Typ_Four_TestIiE");
        assert_eq!(member_of(b"2ns3Fix", "14SetUpTestSuite"), b"_ZN2ns3Fix14SetUpTestSuiteEv");
        assert_eq!(scope_of_typeinfo(b"_ZTIN2ns3FixE"), Some(&b"2ns3Fix"[..]));
        assert_eq!(scope_of_typeinfo(b"_ZTI3Fix"), Some(&b"3Fix"[..]));
    }

    #[test]
    fn names_of_rust_are_told_from_those_of_cpp() {
        for (symbol, name) in [
            (
                "_ZN52_$LT$tool..rules..Double$u20$as$u20$engine..Rule$GT$5apply17h867fd0d37158d515E",
                "<tool::rules::Double as engine::Rule>::apply",
            ),
            (
                "_ZN6engine5chain28_$u7b$$u7b$closure$u7d$$u7d$17hf55ca479f990be8aE",
                "engine::chain::{{closure}}",
            ),
            ("_ZN6engine5chain17hf55ca479f990be8aE.llvm.123", "engine::chain"),
            ("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"),
            ("_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>"),
            (".gcc_except_table._ZN6engine5chain17hf55ca479f990be8aE", "engine::chain in .gcc_except_table"),
            ("_ZN6abacus5Lexer4nextEi", "abacus::Lexer::next(int)"),
            ("_ZN6abacus5tableE", "abacus::table"),
            ("_ZN12_GLOBAL__N_15tableE", "(anonymous namespace)::table"),
            ("_Rest", "_Rest"),
            ("main", "main"),
        ] {
            assert_eq!(demangled(symbol), name);
        }
    }

    #[test]
    fn registration_is_recognised_by_its_targets() {
        assert!(is_registration_target(b"_ZTVN7testing8internal15TestFactoryImplI14Plain_One_TestEE"));
        assert!(is_registration_target(b"_ZN7testing8internal15TestFactoryImplI14Plain_One_TestEC2Ev"));
        assert!(is_registration_target(b"_ZN7testing8internal15TestMetaFactoryI14Par_Three_TestEC1Ev"));
        assert!(!is_registration_target(b"_ZN7testing8internal15TestFactoryImplI1AE10CreateTestEv"));
        assert!(!is_registration_target(b"_ZTV14Plain_One_Test"));
    }
}
