//! The references that bitcode tells against those of the machine code of the same compilation, function by function.
//! Every difference must follow from a rule that is named here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use fewer_objects::bitcode::read_bitcode;
use fewer_objects::reader::read_object;
use fewer_objects::summary::{ObjectSummary, Reference};
use rayon::prelude::*;

use crate::compilers::run;

type Names = BTreeMap<String, BTreeSet<String>>;

/// Why one level knows a reference that the other does not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Rule {
    /// Copying and filling memory is a call only where it is large.
    SmallCopy,
    /// Handlers of exceptions that nothing throws are not made, nor is what they alone need.
    DeadHandler,
    /// The compiler's own helpers: thread-local storage, the stack's guard, the table of offsets.
    Helper,
    /// The tables of all functions' handlers are one section, unless the functions are in groups.
    SharedTable,
    /// Whether a value is constant is decided when code is made, and what follows from it.
    DecidedBranch,
}

/// A compilation: where, and what.
struct Unit {
    directory: PathBuf,
    source: String,
    flags: Vec<&'static str>,
}

/// Members of the standard library in numbers: clang makes all of a class that is instantiated by name.
const STANDARD_LIBRARY: &str = r"
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
template class std::vector<std::string>;
template class std::deque<std::string>;
template class std::list<std::string>;
template class std::map<int, std::string>;
template class std::unordered_map<std::string, int>;
template class std::basic_regex<char>;
template class std::__detail::_Compiler<std::regex_traits<char>>;
template class std::basic_stringstream<char>;
template class std::function<int(int)>;
bool matches(const std::string &text, const std::regex &pattern) { return std::regex_search(text, pattern); }
";

#[test]
fn bitcode_and_machine_code_of_the_example_refer_to_the_same() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/cpp");
    let mut units: Vec<Unit> = Vec::new();
    for part in ["src", "tests"] {
        for entry in fs::read_dir(example.join(part)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "cpp") {
                let source = format!("{part}/{}", path.file_name().unwrap().to_string_lossy());
                units.push(Unit { directory: example.clone(), source, flags: vec!["-Iinclude"] });
            }
        }
    }
    assert!(units.len() > 10, "only {} files of the example", units.len());
    differ_by_rules_only("clang++-14", &units, 6000);
}

#[test]
fn bitcode_and_machine_code_of_larger_libraries_refer_to_the_same() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("library.cpp"), STANDARD_LIBRARY).unwrap();
    let googletest = Path::new("/usr/src/googletest");
    let units = [
        Unit {
            directory: googletest.join("googletest"),
            source: "src/gtest-all.cc".to_string(),
            flags: vec!["-I.", "-Iinclude"],
        },
        Unit {
            directory: googletest.join("googlemock"),
            source: "src/gmock-all.cc".to_string(),
            flags: vec!["-I.", "-Iinclude", "-I../googletest/include"],
        },
        Unit {
            directory: directory.path().to_path_buf(),
            source: "library.cpp".to_string(),
            flags: Vec::new(),
        },
    ];
    for compiler in ["clang++-14", "clang++-22"] {
        differ_by_rules_only(compiler, &units, 7000);
    }
}

/// Fails unless a rule stands behind every difference, and with fewer functions than there must be.
fn differ_by_rules_only(compiler: &str, units: &[Unit], least_functions: usize) {
    let output = tempfile::tempdir().unwrap();
    let compared: Vec<Compared> = units
        .par_iter()
        .enumerate()
        .map(|(index, unit)| compare(compiler, unit, &output.path().join(index.to_string())).unwrap())
        .collect();
    let unexplained: Vec<&String> = compared.iter().flat_map(|compared| &compared.unexplained).collect();
    let functions: usize = compared.iter().map(|compared| compared.functions).sum();
    let mut rules: BTreeMap<Rule, usize> = BTreeMap::new();
    compared
        .iter()
        .flat_map(|compared| &compared.rules)
        .for_each(|rule| *rules.entry(*rule).or_default() += 1);
    eprintln!("{compiler}: {functions} functions and tables; differences by rule: {rules:?}");
    assert!(functions > least_functions, "only {functions} functions");
    assert!(
        unexplained.is_empty(),
        "{compiler}: {} differences:\n{}",
        unexplained.len(),
        shown(&unexplained)
    );
}

fn shown(differences: &[&String]) -> String {
    differences.iter().take(60).map(|text| text.as_str()).collect::<Vec<_>>().join("\n")
}

/// What two readings of one compilation have in common.
struct Compared {
    functions: usize,
    rules: Vec<Rule>,
    unexplained: Vec<String>,
}

fn compare(compiler: &str, unit: &Unit, output: &Path) -> Result<Compared, String> {
    fs::create_dir_all(output).map_err(|error| error.to_string())?;
    let (bitcode, code) = (output.join("a.bc"), output.join("a.o"));
    let mut compile = Command::new(compiler);
    compile.current_dir(&unit.directory).args(["-std=c++17", "-O0", "-w", "-c", "-emit-llvm"]);
    compile.args(&unit.flags).arg(&unit.source).arg("-o").arg(&bitcode);
    run(compile)?;
    let mut make = Command::new(compiler);
    make.args(["-O0", "-w", "-c", "-ffunction-sections", "-fdata-sections"]).arg(&bitcode);
    make.arg("-o").arg(&code);
    run(make)?;
    let read = |path: &Path| fs::read(path).map_err(|error| error.to_string());
    let (bitcode, code) = (read_bitcode(&read(&bitcode)?), read_object(&read(&code)?));
    if !bitcode.notes.is_empty() || !code.notes.is_empty() {
        return Err(format!("{:?} {:?}", bitcode.notes, code.notes));
    }
    let places = places(&code);
    let (bitcode, code) = (names(&bitcode, &places), names(&code, &places));
    let mut compared = Compared { functions: 0, rules: Vec::new(), unexplained: Vec::new() };
    let unknown = code.keys().filter(|name| !bitcode.contains_key(*name));
    compared.unexplained.extend(unknown.map(|name| format!("{}: {name}: only machine code", unit.source)));
    for (name, told) in &bitcode {
        // What nothing needs is not made.
        let Some(made) = code.get(name) else { continue };
        compared.functions += 1;
        for target in told.symmetric_difference(made) {
            match explain(name, target, told.contains(target)) {
                Some(rule) => compared.rules.push(rule),
                None => {
                    let side = if told.contains(target) { "bitcode" } else { "machine code" };
                    compared.unexplained.push(format!("{}: {name} -> {target}: only {side}", unit.source));
                }
            }
        }
    }
    Ok(compared)
}

/// The rule behind a reference that only one of the levels has.
fn explain(name: &str, target: &str, is_of_bitcode: bool) -> Option<Rule> {
    const HELPERS: [&str; 4] =
        ["__tls_get_addr", "_GLOBAL_OFFSET_TABLE_", "__stack_chk_fail", "_TLS_MODULE_BASE_"];
    match (target, is_of_bitcode) {
        ("memcpy" | "memmove" | "memset", _) => Some(Rule::SmallCopy),
        ("_Unwind_Resume" | "__clang_call_terminate" | "__gxx_personality_v0", true) => {
            Some(Rule::DeadHandler)
        }
        (_, false) if HELPERS.contains(&target) => Some(Rule::Helper),
        (_, false) if target.starts_with("_ZTI") => Some(Rule::SharedTable),
        (_, true) if name.starts_with("_ZSt9__advance") => Some(Rule::DecidedBranch),
        _ => None,
    }
}

/// One name per element of an object: those of the others, which are aliases, stand for the same.
fn places(code: &ObjectSummary) -> BTreeMap<String, String> {
    let mut places = BTreeMap::new();
    for symbol in code.symbols.iter().filter(|symbol| (symbol.element as usize) < code.elements.len()) {
        let element = String::from_utf8_lossy(code.element_name(symbol.element)).into_owned();
        places.insert(String::from_utf8_lossy(code.name(symbol.name)).into_owned(), element);
    }
    places
}

/// What each named element refers to by name, directly or through what has no name of its own: texts, exception
/// tables, initialisers of single variables.
fn names(summary: &ObjectSummary, places: &BTreeMap<String, String>) -> Names {
    let mut has_symbol = vec![false; summary.elements.len()];
    for symbol in &summary.symbols {
        if let Some(has_symbol) = has_symbol.get_mut(symbol.element as usize) {
            *has_symbol = true;
        }
    }
    let reading = Reading { summary, has_symbol, places };
    let mut names = Names::new();
    for element in 0..summary.elements.len() as u32 {
        if let Some(name) = reading.name(element) {
            let mut targets = BTreeSet::new();
            reading.gather(element, &mut targets, &mut BTreeSet::new());
            names.entry(name).or_default().extend(targets);
        }
    }
    for (name, targets) in &mut names {
        targets.remove(name);
    }
    names
}

struct Reading<'r> {
    summary: &'r ObjectSummary,
    has_symbol: Vec<bool>,
    places: &'r BTreeMap<String, String>,
}

impl Reading<'_> {
    fn gather(&self, element: u32, targets: &mut BTreeSet<String>, seen: &mut BTreeSet<u32>) {
        if !seen.insert(element) {
            return;
        }
        for reference in self.summary.references_of(element) {
            match *reference {
                Reference::Element(target) => match self.name(target) {
                    Some(name) => drop(targets.insert(name)),
                    None => self.gather(target, targets, seen),
                },
                Reference::Symbol(symbol) => {
                    let name = String::from_utf8_lossy(self.summary.symbol_name(symbol)).into_owned();
                    targets.extend(symbol_of(&name).map(|name| self.placed(name)));
                }
                Reference::Common(_) => panic!("a reader makes no packs"),
            }
        }
    }

    /// The name of an element that has a symbol.
    fn name(&self, element: u32) -> Option<String> {
        let name = String::from_utf8_lossy(self.summary.element_name(element)).into_owned();
        (self.has_symbol[element as usize] && !name.starts_with("DW.ref.")).then(|| self.placed(&name))
    }

    fn placed(&self, name: &str) -> String {
        self.places.get(name).cloned().unwrap_or_else(|| name.to_string())
    }
}

/// The symbol behind a reference by name; `None` for calls through tables, which machine code does not tell.
fn symbol_of(name: &str) -> Option<&str> {
    if name.starts_with("virtual call ") {
        return None;
    }
    match name.strip_prefix("virtual entry ") {
        Some(entry) => entry.split_once(' ').map(|(_, function)| function),
        None => Some(name.strip_prefix("DW.ref.").unwrap_or(name)),
    }
}
