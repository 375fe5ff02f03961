//! The references that the reader finds, against those that LLVM's own disassembler prints.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use fewer_objects::bitcode::read_bitcode;
use fewer_objects::summary::{ObjectSummary, Reference};
use rayon::prelude::*;

use crate::compilers::{CLANGS, Language, compile, run};

/// A real program: GoogleTest's header, the standard library, and one of everything that refers to something.
const SOURCE: &str = r#"
#include <gtest/gtest.h>
#include <functional>
#include <map>
#include <memory>
struct Shape { virtual ~Shape() = default; virtual int area() const = 0; };
struct Square : Shape { int side = 2; int area() const override { return side * side; } };
struct Both : Square, virtual std::exception { const char *what() const noexcept override { return "both"; } };
extern "C" int real(int n) { return n + 1; }
extern "C" int other(int) __attribute__((alias("real")));
static int (*table[])(int) = {real, other};
thread_local std::map<std::string, int> counts{{"a", 1}};
int use(int n) { std::function<int(int)> f = [n](int m) { return n + m + table[n](m); }; return f(counts["a"]); }
class Fix : public testing::Test { protected: std::unique_ptr<Shape> shape{new Both}; };
TEST_F(Fix, Area) { EXPECT_EQ(4, shape->area()); EXPECT_THROW(throw Both(), std::exception); }
TEST(Plain, Use) { EXPECT_EQ(6, use(1)) << "text"; }
"#;

type Names = BTreeMap<String, BTreeSet<String>>;

#[test]
fn every_reference_that_the_disassembler_prints_is_found_and_no_other() {
    let directory = tempfile::tempdir().unwrap();
    let cases: Vec<(&str, &str)> =
        CLANGS.iter().map(|clang| (*clang, "-O0")).chain([(CLANGS[0], "-O2"), (CLANGS[4], "-O2")]).collect();
    let failures: Vec<String> = cases
        .par_iter()
        .filter_map(|(clang, level)| {
            let place = directory.path().join(format!("{clang}{level}"));
            differences(clang, level, &place).err().map(|why| format!("{clang} {level}: {why}"))
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn differences(clang: &str, level: &str, directory: &Path) -> Result<(), String> {
    let path = compile(clang, Language::Cpp, SOURCE, &["-std=c++17", level, "-g"], directory)?;
    let mut disassembler = Command::new(clang.replace("clang", "llvm-dis"));
    disassembler.arg(&path).args(["-o", "-"]);
    let printed = printed(&String::from_utf8_lossy(&run(disassembler)?));
    let summary = read_bitcode(&fs::read(&path).map_err(|error| error.to_string())?);
    if !summary.notes.is_empty() {
        return Err(summary.notes.join("; "));
    }
    let read = read(&summary);
    if read.len() < 100 && level == "-O0" {
        return Err(format!("only {} elements", read.len()));
    }
    let mut wrong = Vec::new();
    for (name, targets) in &printed {
        let none = BTreeSet::new();
        let found = read.get(name).unwrap_or(&none);
        let missing: Vec<&String> = targets.difference(found).collect();
        let extra: Vec<&String> = found.difference(targets).filter(|extra| !is_of_runtime(extra)).collect();
        if !read.contains_key(name) || !missing.is_empty() || !extra.is_empty() {
            wrong.push(format!("{name}: missing {missing:?}, extra {extra:?}"));
        }
    }
    let unknown: Vec<&String> = read.keys().filter(|name| !printed.contains_key(*name)).collect();
    if wrong.is_empty() && unknown.is_empty() {
        return Ok(());
    }
    wrong.truncate(8);
    Err(format!("{}\nnot printed: {unknown:?}", wrong.join("\n")))
}

/// Functions that operations become in the end; see the reader's list.
fn is_of_runtime(name: &str) -> bool {
    matches!(name, "memcpy" | "memmove" | "memset" | "_Unwind_Resume")
}

/// What each element refers to, by name. Initialisers of variables share the name of their section.
fn read(summary: &ObjectSummary) -> Names {
    let text = |name: &[u8]| stable(&String::from_utf8_lossy(name));
    let mut names = Names::new();
    for element in 0..summary.elements.len() as u32 {
        let targets = names.entry(text(summary.element_name(element))).or_default();
        targets.extend(summary.references_of(element).iter().map(|reference| match *reference {
            Reference::Element(target) => text(summary.element_name(target)),
            Reference::Symbol(symbol) => text(symbol_behind(summary.symbol_name(symbol))),
            Reference::Common(_) => panic!("a reader makes no packs"),
        }));
        targets.retain(|target| !target.starts_with("virtual call "));
    }
    names
}

/// The function that lies in an entry of a virtual table; other names as they are.
fn symbol_behind(name: &[u8]) -> &[u8] {
    match name.strip_prefix(b"virtual entry ") {
        Some(entry) => entry.splitn(2, |&byte| byte == b' ').last().unwrap_or(entry),
        None => name,
    }
}

fn stable(name: &str) -> String {
    if name.starts_with("__cxx_global_var_init") || name.starts_with("__tls_init") {
        return ".text.startup".to_string();
    }
    name.to_string()
}

/// What every definition mentions in a disassembly, without what is for the compiler itself.
fn printed(text: &str) -> Names {
    let mut names = Names::new();
    let mut current: Option<String> = None;
    for line in text.lines() {
        let is_definition = line.starts_with("define ");
        if is_definition || line.starts_with('@') {
            let mut mentioned = mentions(line).into_iter();
            let Some(name) = mentioned.next().filter(|name| !name.starts_with("llvm.")) else { continue };
            if !is_definition && (line.contains(" external ") || line.contains(" extern_weak ")) {
                continue;
            }
            let name = stable(&name);
            names.entry(name.clone()).or_default().extend(mentioned.map(|name| stable(&name)));
            current = is_definition.then_some(name);
        } else if line == "}" {
            current = None;
        } else if let Some(name) = &current
            && !line.contains("@llvm.dbg.")
            && !line.trim_start().starts_with("#dbg_")
        {
            names.entry(name.clone()).or_default().extend(mentions(line).iter().map(|name| stable(name)));
        }
    }
    for targets in names.values_mut() {
        targets.retain(|target| !target.starts_with("llvm."));
    }
    names
}

/// The names behind an `@`, outside of texts.
fn mentions(line: &str) -> Vec<String> {
    let bytes = line.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'@' if bytes.get(at + 1) == Some(&b'"') => {
                let length = line[at + 2..].find('"').unwrap_or(0);
                found.push(line[at + 2..at + 2 + length].to_string());
                at += length + 3;
            }
            b'@' => {
                let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_.$-".contains(byte);
                let length = bytes[at + 1..].iter().take_while(is_part).count();
                found.push(line[at + 1..at + 1 + length].to_string());
                at += length + 1;
            }
            b'"' => at += line[at + 1..].find('"').map_or(bytes.len(), |length| length + 2),
            _ => at += 1,
        }
    }
    found
}
