//! What is missing in a build or makes selection coarser than it could be, told from what was read. Each finding
//! comes with the change that mends it, per build system.

use std::path::Path;

use fewer_objects::BuildTree;
use fewer_objects::scan::Scanned;
use fewer_objects::summary::ObjectSummary;
use serde::Serialize;

use crate::cmake_targets::{LeftOut, linked_from};
use crate::embedded_paths::objects_with_path;
use crate::examination::Examined;
use crate::names::readable;
use crate::precision::is_coarse;
use crate::project::Project;

/// How many examples a finding names.
const EXAMPLES: usize = 3;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Tests run without need, or nothing can be selected.
    Problem,
    /// It works, but could select fewer tests or reuse more.
    Advice,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Finding {
    pub severity: Severity,
    /// Stable, for scripts. Example: `function-sections`.
    pub id: &'static str,
    pub what: String,
    pub why: &'static str,
    pub examples: Vec<String>,
    pub fix: Vec<Fix>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Fix {
    /// Example: `CMake`.
    pub place: &'static str,
    pub change: String,
}

/// Everything that can be told of a build directory.
pub fn findings(
    root: &Path,
    build_directory: &Path,
    tree: &BuildTree,
    examined: &Examined<'_>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(no_tests(tree, examined));
    findings.extend(incomplete(examined));
    findings.extend(out_of_date(build_directory, examined));
    findings.extend(stripped(tree));
    findings.extend(unreadable(tree));
    findings.extend(unmapped(examined));
    findings.extend(sections(tree));
    findings.extend(merged_constants(tree));
    findings.extend(ambient_initialisers(examined));
    findings.extend(embedded_path(root, build_directory, tree));
    findings.extend(no_ctest(build_directory, examined));
    findings.sort_by_key(|finding| finding.severity);
    findings
}

/// Adding flags to every compilation, in each build system's own words.
pub fn compile_flags(flags: &str) -> Vec<Fix> {
    vec![
        Fix {
            place: "CMake",
            change: format!("add_compile_options({})", flags.replace("SOURCE", "${CMAKE_SOURCE_DIR}")),
        },
        Fix { place: "Make", change: format!("CXXFLAGS += {}", flags.replace("SOURCE", "$(CURDIR)")) },
        Fix {
            place: "AutoMake",
            change: format!("AM_CXXFLAGS += {}", flags.replace("SOURCE", "$(abs_top_srcdir)")),
        },
    ]
}

fn no_tests(tree: &BuildTree, examined: &Examined<'_>) -> Option<Finding> {
    if examined.analysis.targets().iter().any(|target| target.has_googletest) {
        return None;
    }
    let programs =
        tree.images.iter().filter(|image| !image.summary.is_library).map(|image| image.name.clone());
    let others = if examined.tests.is_empty() { "" } else { "; the tests of CTest run as whole programs" };
    Some(Finding {
        severity: if examined.tests.is_empty() { Severity::Problem } else { Severity::Advice },
        id: "no-googletest",
        what: format!("no GoogleTest program was found{others}"),
        why: "single tests can only be selected inside GoogleTest programs",
        examples: examples(programs),
        fix: vec![Fix {
            place: "any",
            change: "build the test programs, or name the directory they are in: build-directory = \"...\" in fewer.toml"
                .to_string(),
        }],
    })
}

fn incomplete(examined: &Examined<'_>) -> Option<Finding> {
    Some(Finding {
        severity: Severity::Problem,
        id: "ctest-unreadable",
        what: examined.incomplete.clone()?,
        why: "tests that are not in GoogleTest programs are known to CTest alone",
        examples: Vec::new(),
        fix: vec![Fix {
            place: "CMake",
            change: "make `ctest --show-only` succeed in the build directory".to_string(),
        }],
    })
}

/// What a build of everything does not build is stale sooner or later, or not there at all.
pub fn not_in_all(project: &Project, build_directory: &Path) -> Option<Finding> {
    let left_out = LeftOut::find(build_directory)?;
    let shown = project.shown(build_directory);
    if project.settings.build.as_ref().is_some_and(|build| left_out.is_built_by(&build.command)) {
        return None;
    }
    Some(Finding {
        severity: Severity::Problem,
        id: "not-in-all",
        what: format!(
            "{} that `cmake --build` does not build",
            count(left_out.programs.len(), "test program")
        ),
        why: "the target `all` leaves them out, so their tests are those of an older state, or missing",
        fix: vec![Fix {
            place: "any",
            change: format!("build = \"{}\" in fewer.toml", left_out.build_command(&shown)),
        }],
        examples: examples(left_out.programs.into_iter()),
    })
}

fn out_of_date(build_directory: &Path, examined: &Examined<'_>) -> Option<Finding> {
    let analysis = &examined.analysis;
    // An object may look like it is in a program, and be in another.
    let is_in = |object: &str, program: &str| {
        linked_from(build_directory, program)
            .is_none_or(|files| files.iter().any(|file| holds(build_directory, file, object)))
    };
    let stale: Vec<String> = analysis
        .targets()
        .iter()
        .filter_map(|target| {
            let object = analysis.stale_because(target).filter(|object| is_in(object, &target.name))?;
            Some(format!("{} is older than {object}", target.name))
        })
        .collect();
    (!stale.is_empty()).then(|| Finding {
        severity: Severity::Problem,
        id: "out-of-date",
        what: format!("{} are older than their objects", count(stale.len(), "program")),
        why: "what runs is not what the objects say, so all their tests run every time",
        examples: examples(stale.into_iter()),
        fix: vec![Fix {
            place: "any",
            change: "build again; build = \"...\" in fewer.toml does so before every run".to_string(),
        }],
    })
}

/// Whether a file that is linked is the object, or the archive that it is a member of.
fn holds(build_directory: &Path, file: &Path, object: &str) -> bool {
    let archive = object.split_once('(').map_or(object, |(archive, _)| archive);
    file == build_directory.join(archive)
        || file
            .canonicalize()
            .is_ok_and(|file| build_directory.join(archive).canonicalize().is_ok_and(|path| path == file))
}

fn stripped(tree: &BuildTree) -> Option<Finding> {
    let stripped =
        tree.images.iter().filter(|image| image.summary.has_googletest && image.summary.is_stripped());
    let names: Vec<String> = stripped.map(|image| image.name.clone()).collect();
    (!names.is_empty()).then(|| Finding {
        severity: Severity::Problem,
        id: "stripped",
        what: format!("{} have no symbol table", count(names.len(), "test program")),
        why: "it cannot be told which objects are in them, so any change selects all their tests",
        examples: examples(names.into_iter()),
        fix: vec![Fix {
            place: "any",
            change: "link test programs without -s and do not strip them".to_string(),
        }],
    })
}

fn unreadable(tree: &BuildTree) -> Option<Finding> {
    let opaque: Vec<String> = tree
        .objects
        .iter()
        .filter(|object| object.summary.is_opaque())
        .map(|object| format!("{}: {}", object.name, object.summary.notes.join("; ")))
        .collect();
    (!opaque.is_empty()).then(|| Finding {
        severity: Severity::Problem,
        id: "unreadable-objects",
        what: format!("{} cannot be read", count(opaque.len(), "object")),
        why: "every test of a program depends on the whole of each such object",
        examples: examples(opaque.into_iter()),
        fix: vec![
            Fix {
                place: "CMake",
                change: "set(CMAKE_INTERPROCEDURAL_OPTIMIZATION OFF) for the build that is tested"
                    .to_string(),
            },
            Fix { place: "Make", change: "leave out -flto for the build that is tested".to_string() },
            Fix { place: "AutoMake", change: "configure without -flto in CXXFLAGS".to_string() },
        ],
    })
}

fn unmapped(examined: &Examined<'_>) -> Option<Finding> {
    let tests: Vec<String> = examined.unmapped().map(|(id, cause)| format!("{id}: {cause}")).collect();
    (!tests.is_empty()).then(|| Finding {
        severity: Severity::Advice,
        id: "unmapped-tests",
        what: format!("{} run every time", count(tests.len(), "test")),
        why: "it cannot be seen what they reach",
        examples: examples(tests.into_iter()),
        fix: vec![Fix {
            place: "any",
            change: "see the causes; exclude = [...] in fewer.toml leaves programs alone that are not tests"
                .to_string(),
        }],
    })
}

fn sections(tree: &BuildTree) -> Option<Finding> {
    let coarse: Vec<String> =
        tree.objects.iter().filter(|object| is_coarse(object)).map(|object| object.name.clone()).collect();
    (!coarse.is_empty()).then(|| Finding {
        severity: Severity::Advice,
        id: "function-sections",
        what: format!("{} of {} objects keep several functions or variables in one section", coarse.len(), tree.objects.len()),
        why: "a change to one function then counts as a change to all in its section: more tests run than need to. \
              Measured by g++ -O0 on the bundled example: 84 % of the tests selected per commit without sections, 73 % with \
              them, 4 % with -fmerge-constants too; 7 to 13 % more disk, at most 14 % more time to build",
        examples: examples(coarse.into_iter()),
        fix: compile_flags("-ffunction-sections -fdata-sections"),
    })
}

/// At -O0 g++ puts all string literals of a file into one section.
fn merged_constants(tree: &BuildTree) -> Option<Finding> {
    let has_literals = |object: &&Scanned<ObjectSummary>| {
        let summary = &object.summary;
        let count = summary.elements.len() as u32;
        summary.compiler.contains("GCC")
            && (0..count).any(|element| summary.element_name(element) == b".rodata")
    };
    let objects: Vec<String> = tree
        .objects
        .iter()
        .filter(has_literals)
        .filter(|object| !is_coarse(object))
        .map(|object| object.name.clone())
        .collect();
    (!objects.is_empty()).then(|| Finding {
        severity: Severity::Advice,
        id: "merge-constants",
        what: format!("{} keep all their string literals in one section", count(objects.len(), "object")),
        why: "a changed string then counts as a change to every function of the file that uses one (g++ at -O0). Measured on \
              the bundled example: 73 % of the tests selected per commit without the flag, 4 % with it; 1 % more disk, \
              no more time to build",
        examples: examples(objects.into_iter()),
        fix: compile_flags("-fmerge-constants"),
    })
}

/// What runs before `main` and may have an effect on any test.
fn ambient_initialisers(examined: &Examined<'_>) -> Option<Finding> {
    let ambient: Vec<String> = examined
        .analysis
        .ambient_initialisers()
        .iter()
        .map(|(initialiser, cause)| format!("{}: {}", readable(initialiser), readable(cause)))
        .collect();
    (!ambient.is_empty()).then(|| Finding {
        severity: Severity::Advice,
        id: "ambient-initialisers",
        what: format!("{} of global variables may change what any test does", count(ambient.len(), "initialiser")),
        why: "they call something with an effect on the whole process, so a change in anything they reach selects all tests of \
              their programs",
        examples: examples(ambient.into_iter()),
        fix: vec![Fix {
            place: "any",
            change: "if no test depends on it, do it on first use, in a function with a static variable, instead of before main"
                .to_string(),
        }],
    })
}

fn embedded_path(root: &Path, build_directory: &Path, tree: &BuildTree) -> Option<Finding> {
    let objects = objects_with_path(build_directory, tree, root);
    (!objects.is_empty()).then(|| Finding {
        severity: Severity::Advice,
        id: "file-prefix-map",
        what: format!("{} hold the path of this checkout (from __FILE__)", count(objects.len(), "object")),
        why: "in another directory or on another machine they differ, so outcomes are not reused there",
        examples: examples(objects.into_iter()),
        fix: compile_flags("-ffile-prefix-map=SOURCE=."),
    })
}

fn no_ctest(build_directory: &Path, examined: &Examined<'_>) -> Option<Finding> {
    let is_cmake = build_directory.join("CMakeCache.txt").exists();
    (is_cmake && !examined.has_ctest).then(|| Finding {
        severity: Severity::Advice,
        id: "no-ctest",
        what: "the CMake project declares no tests for CTest".to_string(),
        why: "GoogleTest programs are found anyway, but programs without GoogleTest are only tests if CTest says so",
        examples: Vec::new(),
        fix: vec![Fix { place: "CMake", change: "enable_testing() in the top-level CMakeLists.txt, and add_test(...)".to_string() }],
    })
}

pub fn examples(all: impl Iterator<Item = String>) -> Vec<String> {
    let all: Vec<String> = all.collect();
    let more = all.len().saturating_sub(EXAMPLES);
    let mut examples: Vec<String> = all.into_iter().take(EXAMPLES).collect();
    if more > 0 {
        examples.push(format!("and {more} more"));
    }
    examples
}

fn count(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
