//! A deterministic C++ project of realistic shape: layered static libraries and GoogleTest executables, with a
//! `build.ninja`. All of it is text in memory; writing and building it is the cache's business.

mod layout;
mod ninja;
mod template;
mod test_text;
mod unit_text;

use std::collections::BTreeMap;

pub use ninja::Link;

use layout::Layout;

/// How large the project is, and how it is compiled.
#[derive(Clone, Debug)]
pub struct Parameters {
    pub seed: u64,
    /// At most 12.
    pub libraries: usize,
    /// From 6 (each kind of unit once) to 24.
    pub units_per_library: usize,
    pub executables_per_library: usize,
    pub test_units_per_executable: usize,
    pub flags: String,
}

/// What a developer compiles with between two edits: no optimisation and debug information (CMake's `Debug`),
/// so that builds are fast and debuggers useful; one section per function and variable, which the analysis needs
/// to tell them apart; and merged constants, which g++ does not do by itself without optimisation.
pub const DEVELOPER_FLAGS: &str = "-O0 -g -ffunction-sections -fdata-sections -fmerge-constants";

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters {
            seed: 2,
            libraries: 12,
            units_per_library: 20,
            executables_per_library: 2,
            test_units_per_executable: 3,
            flags: DEVELOPER_FLAGS.to_string(),
        }
    }
}

/// A project as text, and what is known of it without building it.
#[derive(Clone, Debug)]
pub struct Project {
    /// By path below the project's directory; `build/build.ninja` is one of them.
    pub files: BTreeMap<String, String>,
    pub links: Vec<Link>,
    pub translation_units: usize,
    pub tests: usize,
    /// A source file of the library that every executable links, and its text after an edit of one function.
    pub edit: (String, String),
}

impl Project {
    pub fn generate(parameters: &Parameters) -> Project {
        let layout = Layout::draw(parameters);
        let mut files = BTreeMap::from([
            ("source/precompiled/std.h".to_string(), include_str!("../templates/std.h").to_string()),
            ("source/precompiled/gtest.h".to_string(), include_str!("../templates/gtest.h").to_string()),
        ]);
        let mut tests = 0;
        for library in 0..layout.libraries.len() {
            add_library(&layout, library, &mut files);
            tests += add_tests(&layout, parameters, library, &mut files);
        }
        let ninja = ninja::write(&layout, parameters);
        files.insert("build/build.ninja".to_string(), ninja.text);
        let edited = format!("source/{}/{}.cpp", layout.libraries[0].name, layout.libraries[0].units[1].name);
        let edit = files[&edited].replace("kRevision = 1", "kRevision = 2");
        let translation_units = files.keys().filter(|path| path.ends_with(".cpp")).count();
        Project { files, links: ninja.links, translation_units, tests, edit: (edited, edit) }
    }
}

fn add_library(layout: &Layout, library: usize, files: &mut BTreeMap<String, String>) {
    let name = layout.libraries[library].name;
    for (index, unit) in layout.libraries[library].units.iter().enumerate() {
        let path = format!("source/{name}/{}", unit.name);
        files.insert(format!("{path}.h"), unit_text::header(layout, library, index));
        files.insert(format!("{path}.cpp"), unit_text::source(layout, library, index));
    }
}

/// Adds the tests of a library and says how many they are.
fn add_tests(
    layout: &Layout,
    parameters: &Parameters,
    library: usize,
    files: &mut BTreeMap<String, String>,
) -> usize {
    let name = layout.libraries[library].name;
    files.insert(format!("source/tests/{name}_fixture.h"), test_text::fixture(layout, library));
    let mut tests = 0;
    for number in 0..parameters.executables_per_library * parameters.test_units_per_executable {
        let unit = test_text::test_unit(layout, parameters, library, number);
        files.insert(format!("source/tests/{name}_{number}_test.cpp"), unit.text);
        tests += unit.tests;
    }
    tests
}
