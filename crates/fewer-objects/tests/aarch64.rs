//! AArch64 objects: the same rules as on x86-64, on objects from the cross compiler.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use fewer_core::Digest;
use fewer_objects::reader::read_object;
use fewer_objects::summary::{ObjectSummary, Reference, Traits};
use tempfile::TempDir;

fn compile(source: &str, optimisation: &str) -> ObjectSummary {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("a.cpp"), source).unwrap();
    let status = Command::new("aarch64-linux-gnu-g++")
        .args([
            optimisation,
            "-ffunction-sections",
            "-fdata-sections",
            "-fmerge-constants",
            "-c",
            "a.cpp",
            "-o",
            "a.o",
        ])
        .current_dir(directory.path())
        .status();
    assert!(status.expect("g++-aarch64-linux-gnu must be installed for this test").success());
    read_object(&fs::read(directory.path().join("a.o")).unwrap())
}

/// Content by element name.
fn contents(summary: &ObjectSummary) -> BTreeMap<String, Digest> {
    (0..summary.elements.len() as u32)
        .map(|element| {
            let name = String::from_utf8_lossy(summary.element_name(element)).into_owned();
            (name, summary.elements[element as usize].content)
        })
        .collect()
}

fn changed(old: &str, new: &str) -> Vec<String> {
    let mut all = Vec::new();
    for optimisation in ["-O0", "-O2"] {
        let (old, new) = (contents(&compile(old, optimisation)), contents(&compile(new, optimisation)));
        let names: Vec<String> = new
            .iter()
            .filter(|(name, content)| old.get(*name) != Some(content))
            .map(|(name, _)| name.clone())
            .collect();
        all.push(names);
    }
    assert_eq!(all[0], all[1], "-O0 and -O2 agree");
    all.remove(0)
}

#[test]
fn references_lead_to_functions_data_and_exception_types() {
    let summary = compile(
        "struct E {}; int callee(int); extern int data; int table[] = {1, 2};\n\
         int caller(int n) { try { return callee(n) + data + table[n]; } catch (E&) { return 0; } }\n\
         static int setup() { return callee(1); } int started = setup();",
        "-O0",
    );
    let element = (0..summary.elements.len() as u32)
        .find(|element| summary.element_name(*element) == b"_Z6calleri")
        .expect("caller is an element");
    let mut reached = vec![element];
    let mut names: Vec<String> = Vec::new();
    let mut next = 0;
    while let Some(&element) = reached.get(next) {
        next += 1;
        for reference in summary.references_of(element) {
            match *reference {
                Reference::Element(target) if !reached.contains(&target) => reached.push(target),
                Reference::Element(_) => {}
                Reference::Symbol(symbol) => {
                    names.push(String::from_utf8_lossy(summary.symbol_name(symbol)).into_owned());
                }
                Reference::Common(_) => unreachable!("as read, nothing is common yet"),
            }
        }
    }
    for wanted in ["_Z6calleei", "data", "table", "DW.ref._ZTI1E"] {
        assert!(names.iter().any(|name| name == wanted), "{wanted} in {names:?}");
    }
    let initialisers: Vec<&[u8]> = (0..summary.elements.len() as u32)
        .filter(|element| summary.elements[*element as usize].traits.has(Traits::INITIALISER))
        .map(|element| summary.element_name(element))
        .collect();
    assert_eq!(initialisers.len(), 1);
    assert!(initialisers[0].starts_with(b"_GLOBAL__sub_I_"));
}

#[test]
fn only_the_function_whose_text_changed_changes() {
    let source = |text: &str, number: i32| {
        format!(
            "const char* words() {{ return \"{text}\"; }} int number() {{ return {number}; }}\n\
             double half(double d) {{ return d * 0.{number}; }} int same(int n) {{ return n + 1; }}"
        )
    };
    assert_eq!(changed(&source("one", 5), &source("one", 5)), Vec::<String>::new());
    assert_eq!(changed(&source("one", 5), &source("two", 5)), ["_Z5wordsv"]);
    assert_eq!(changed(&source("one", 5), &source("one", 6)), ["_Z4halfd", "_Z6numberv"]);
}

#[test]
fn a_shifted_line_is_no_change() {
    let source = |blank: &str| {
        format!("#include <cassert>\n{blank}int checked(int n) {{ assert(n > 0); return n; }}\n")
    };
    assert_eq!(changed(&source(""), &source("// a comment\n\n")), Vec::<String>::new());
}
