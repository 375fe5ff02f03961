//! What CMake's generated Makefiles or Ninja file and CTest's own files tell of programs: which test programs the target
//! `all` leaves out and the targets that build them, which are not made any more, and what each is linked from. Nothing is
//! started.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Test programs that building everything does not build.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeftOut {
    /// By path below the build directory, sorted.
    pub programs: Vec<String>,
    /// What to ask CMake for: one target that builds them all, or each of them.
    pub targets: Vec<String>,
}

impl LeftOut {
    /// What the build directory says; `None` where everything is built, or where it is not CMake's.
    pub fn find(build_directory: &Path) -> Option<LeftOut> {
        let plan = if build_directory.join("build.ninja").exists() {
            Plan::of_ninja(&fewer_files::read_to_string(&build_directory.join("build.ninja")).ok()?)
        } else {
            Plan::of_makefiles(build_directory)?
        };
        let mut declared = BTreeSet::new();
        declared_programs(build_directory, build_directory, &mut declared, &mut BTreeSet::new());
        plan.left_out(&declared)
    }

    /// Whether a command names what builds them.
    pub fn is_built_by(&self, command: &str) -> bool {
        self.targets.iter().all(|target| command.split_whitespace().any(|word| word == target))
    }

    /// The command that builds everything and these.
    pub fn build_command(&self, directory: &str) -> String {
        format!("cmake --build {directory} --target all {}", self.targets.join(" "))
    }
}

/// Of some programs, by path below the build directory, those that the build made once and does not make any more. Where its
/// files do not say both, a program is what the build makes.
pub fn left_over(build_directory: &Path, programs: &[&str]) -> BTreeSet<String> {
    let read = |name: &str| fewer_files::read_to_string(&build_directory.join(name)).ok();
    let found = if build_directory.join("build.ninja").exists() {
        read("build.ninja")
            .zip(read(".ninja_log"))
            .map(|(plan, log)| left_over_by_ninja(&plan, &log, programs))
    } else {
        read("CMakeFiles/Makefile2").map(|_| left_over_by_make(build_directory, programs))
    };
    found.unwrap_or_default()
}

/// What CMake's Makefiles link a program from; symbols alone cannot tell apart equal objects of two programs.
pub fn linked_from(build_directory: &Path, program: &str) -> Option<Vec<PathBuf>> {
    let path = build_directory.join(program);
    let directory = path.parent()?;
    let name = path.file_name()?.to_str()?;
    let words =
        fewer_files::read_to_string(&directory.join(format!("CMakeFiles/{name}.dir/link.txt"))).ok()?;
    let files = words.split_whitespace().map(|word| directory.join(word));
    let is_input = |file: &PathBuf| file.starts_with(build_directory) && *file != path && file.is_file();
    Some(files.filter(is_input).collect())
}

/// Ninja's log has what it ever made.
fn left_over_by_ninja(plan: &str, log: &str, programs: &[&str]) -> BTreeSet<String> {
    let includes_more = |line: &str| {
        line.starts_with("subninja ")
            || (line.starts_with("include ") && line != "include CMakeFiles/rules.ninja")
    };
    if plan.lines().any(includes_more) {
        return BTreeSet::new();
    }
    let plan = plan.replace("$\n", " ");
    let edges = plan.lines().filter_map(|line| line.strip_prefix("build "));
    let made: HashSet<String> = edges.flat_map(ninja_outputs).collect();
    let once: HashSet<&str> = log.lines().filter_map(|line| line.split('\t').nth(3)).collect();
    let is_left = |program: &&&str| once.contains(**program) && !made.contains(**program);
    programs.iter().filter(is_left).map(|program| program.to_string()).collect()
}

/// What an edge makes: the words before the colon, in Ninja's way of quoting.
fn ninja_outputs(edge: &str) -> Vec<String> {
    let mut outputs = vec![String::new()];
    let mut characters = edge.chars();
    while let Some(character) = characters.next() {
        match (character, outputs.last_mut()) {
            (':', _) => break,
            (' ' | '|', _) => outputs.push(String::new()),
            ('$', Some(output)) => output.extend(characters.next()),
            (other, Some(output)) => output.push(other),
            (_, None) => {}
        }
    }
    outputs.retain(|output| !output.is_empty());
    outputs
}

/// The files of a deleted target stay, but `Makefile2` does not name it any more.
fn left_over_by_make(build_directory: &Path, programs: &[&str]) -> BTreeSet<String> {
    let Some(plan) = Plan::of_makefiles(build_directory) else { return BTreeSet::new() };
    let nodes: BTreeSet<&String> = plan.needs.keys().filter(|node| node.ends_with(".dir")).collect();
    let made: BTreeSet<String> = nodes.iter().filter_map(|node| linked_by(build_directory, node)).collect();
    let suspects: BTreeSet<&str> =
        programs.iter().copied().filter(|program| !made.contains(*program)).collect();
    if suspects.is_empty() {
        return BTreeSet::new();
    }
    // Commands of the user's own may make it, too.
    let rules: Vec<String> = nodes
        .iter()
        .filter_map(|node| fewer_files::read_to_string(&build_directory.join(node).join("build.make")).ok())
        .collect();
    let is_mentioned = |program: &str| {
        let name = program.rsplit('/').next().unwrap_or(program);
        rules.iter().any(|rule| {
            rule.split(|c: char| c.is_whitespace() || "/:\"'".contains(c)).any(|word| word == name)
        })
    };
    let mut targets = Vec::new();
    target_directories(build_directory, "", &mut targets);
    targets
        .iter()
        .filter(|node| !nodes.contains(node))
        .filter_map(|node| linked_by(build_directory, node))
        .filter(|program| suspects.contains(program.as_str()) && !is_mentioned(program))
        .collect()
}

/// Every `CMakeFiles/*.dir` below a directory, by path below the build directory.
fn target_directories(build_directory: &Path, below: &str, found: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(build_directory.join(below)) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        match below.rsplit('/').next() == Some("CMakeFiles") {
            true if name.ends_with(".dir") => found.push(path),
            true => {}
            false => target_directories(build_directory, &path, found),
        }
    }
}

/// What a target of the Makefiles links, by path below the build directory.
fn linked_by(build_directory: &Path, node: &str) -> Option<String> {
    let (below, _) = node.split_once("CMakeFiles/")?;
    let link = fewer_files::read_to_string(&build_directory.join(node).join("link.txt")).ok()?;
    let output = link.split_once(" -o ")?.1.split_whitespace().next()?.trim_matches('"');
    Some(below_directory(&format!("{below}{output}")))
}

/// What needs what, by the names that the generated files use.
#[derive(Default)]
struct Plan {
    needs: HashMap<String, Vec<String>>,
    programs: BTreeMap<String, Program>,
    /// Targets that only stand for others and start nothing, with the name that CMake takes.
    groups: BTreeMap<String, String>,
}

struct Program {
    target: String,
    /// Below the build directory.
    path: String,
    has_googletest: bool,
}

impl Plan {
    /// From `CMakeFiles/Makefile2`, and the files of each target.
    fn of_makefiles(build_directory: &Path) -> Option<Plan> {
        let text = fewer_files::read_to_string(&build_directory.join("CMakeFiles/Makefile2")).ok()?;
        let mut plan = Plan::default();
        let node = |name: &str| name.trim().strip_suffix("/all").unwrap_or(name.trim()).to_string();
        for line in text.lines().filter(|line| !line.starts_with(['\t', '#', '.'])) {
            let Some((whole, part)) = line.split_once(':') else { continue };
            let is_all = |name: &str| name.trim() == "all" || name.trim().ends_with("/all");
            if is_all(whole) {
                let needs = plan.needs.entry(node(whole)).or_default();
                needs.extend(is_all(part).then(|| node(part)));
            }
        }
        let nodes: Vec<String> = plan.needs.keys().filter(|node| node.ends_with(".dir")).cloned().collect();
        for node in nodes {
            plan.add_makefile_target(build_directory, node);
        }
        Some(plan)
    }

    fn add_makefile_target(&mut self, build_directory: &Path, node: String) {
        let Some((_, target)) = node.split_once("CMakeFiles/") else { return };
        let target = target.trim_end_matches(".dir").to_string();
        let read = |name: &str| fewer_files::read_to_string(&build_directory.join(&node).join(name)).ok();
        if let Some(link) = read("link.txt") {
            let path = linked_by(build_directory, &node).filter(|path| !path.contains(".so"));
            if let Some(path) = path {
                let program = Program { target, path, has_googletest: names_googletest(&link) };
                self.programs.insert(node, program);
            }
        } else if let Some(rules) = read("build.make") {
            let own = rules.split("# Rule to build all files").next().unwrap_or_default();
            let is_group =
                own.contains("# Utility rule file") && !own.lines().any(|line| line.starts_with('\t'));
            if is_group {
                self.groups.insert(node, target);
            }
        }
    }

    fn of_ninja(text: &str) -> Plan {
        let mut plan = Plan::default();
        let mut phony: HashMap<String, bool> = HashMap::new();
        let mut program = None;
        for line in text.lines() {
            if let Some(value) = line.strip_prefix("  LINK_LIBRARIES = ") {
                let program = program.as_ref().and_then(|program| plan.programs.get_mut(program));
                if let Some(program) = program {
                    program.has_googletest |= names_googletest(value);
                }
            }
            let Some((outputs, made)) = line.strip_prefix("build ").and_then(|edge| edge.split_once(": "))
            else {
                continue;
            };
            let mut words = made.split_whitespace().filter(|word| !word.starts_with('|'));
            let rule = words.next().unwrap_or_default();
            let needs: Vec<String> = words.map(str::to_string).collect();
            let Some(output) = outputs.split_whitespace().next().map(str::to_string) else { continue };
            if rule.contains("_EXECUTABLE_LINKER__") {
                let has_googletest = needs.iter().any(|need| names_googletest(need));
                let made = Program { target: output.clone(), path: output.clone(), has_googletest };
                plan.programs.insert(output.clone(), made);
                program = Some(output.clone());
            }
            phony.insert(output.clone(), rule == "phony");
            plan.needs.insert(output, needs);
        }
        for name in plan.needs.keys() {
            let own = match name.rsplit_once('/') {
                Some((below, name)) => format!("{below}/CMakeFiles/{name}"),
                None => format!("CMakeFiles/{name}"),
            };
            if phony.get(name) == Some(&true) && phony.get(&own) == Some(&true) {
                plan.groups.insert(name.clone(), name.clone());
            }
        }
        plan
    }

    /// Everything that is built with a target.
    fn built_with<'p>(&'p self, target: &'p str) -> HashSet<&'p str> {
        let mut built = HashSet::new();
        let mut due = vec![target];
        while let Some(target) = due.pop() {
            if built.insert(target) {
                due.extend(self.needs.get(target).into_iter().flatten().map(String::as_str));
            }
        }
        built
    }

    fn left_out(&self, declared: &BTreeSet<String>) -> Option<LeftOut> {
        let built = self.built_with("all");
        let is_test = |program: &Program| program.has_googletest || declared.contains(&program.path);
        let missing: BTreeMap<&str, &Program> = self
            .programs
            .iter()
            .filter(|(node, program)| !built.contains(node.as_str()) && is_test(program))
            .map(|(node, program)| (node.as_str(), program))
            .collect();
        if missing.is_empty() {
            return None;
        }
        let size_of = |(node, name): (&String, &String)| {
            let built = self.built_with(node);
            let has_all = missing.keys().all(|node| built.contains(node));
            has_all.then(|| (built.len(), name.clone()))
        };
        let group = self.groups.iter().filter_map(size_of).min().map(|(_, name)| vec![name]);
        let each = || missing.values().map(|program| program.target.clone()).collect();
        let mut programs: Vec<String> = missing.values().map(|program| program.path.clone()).collect();
        programs.sort();
        Some(LeftOut { programs, targets: group.unwrap_or_else(each) })
    }
}

fn names_googletest(text: &str) -> bool {
    ["gtest", "gmock"].iter().any(|name| text.contains(name))
}

/// Without the steps up that CMake writes. Example: `bin/t` of `tests/../bin/t`.
fn below_directory(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The programs below the build directory that CTest's files name.
fn declared_programs(
    build_directory: &Path,
    directory: &Path,
    declared: &mut BTreeSet<String>,
    read: &mut BTreeSet<PathBuf>,
) {
    // A file may name its own directory.
    if !directory.canonicalize().is_ok_and(|directory| read.insert(directory)) {
        return;
    }
    let Ok(text) = fewer_files::read_to_string(&directory.join("CTestTestfile.cmake")) else { return };
    for line in text.lines() {
        let words = line.split('"').skip(1).step_by(2);
        if line.starts_with("add_test(") {
            let paths = words.filter_map(|word| Path::new(word).strip_prefix(build_directory).ok());
            declared.extend(paths.map(|path| path.to_string_lossy().into_owned()));
        } else if line.starts_with("subdirs(") {
            words.for_each(|word| declared_programs(build_directory, &directory.join(word), declared, read));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NINJA: &str = "\
build t: CXX_EXECUTABLE_LINKER__t_ CMakeFiles/t.dir/t.cpp.o | /usr/lib/libgtest.a
build sub/v: CXX_EXECUTABLE_LINKER__v_Debug sub/CMakeFiles/v.dir/v.cpp.o
  LINK_LIBRARIES = -lgtest_main
build tool: CXX_EXECUTABLE_LINKER__tool_ CMakeFiles/tool.dir/tool.cpp.o
build u: CXX_EXECUTABLE_LINKER__u_ CMakeFiles/u.dir/u.cpp.o || liba.a
build tests: phony CMakeFiles/tests t sub/v
build CMakeFiles/tests | ${cmake_ninja_workdir}CMakeFiles/tests: phony t sub/v
build check: phony CMakeFiles/check t sub/v
build CMakeFiles/check | ${cmake_ninja_workdir}CMakeFiles/check: CUSTOM_COMMAND t sub/v
";

    fn left_out(text: &str, declared: &[&str]) -> Option<LeftOut> {
        Plan::of_ninja(text).left_out(&declared.iter().map(|path| path.to_string()).collect())
    }

    #[test]
    fn a_target_that_builds_all_that_is_left_out_is_preferred_unless_it_runs_something() {
        let found = left_out(&format!("{NINJA}build all: phony u\n"), &[]).unwrap();
        assert_eq!((found.programs, found.targets), (vec!["sub/v".into(), "t".into()], vec!["tests".into()]));
    }

    #[test]
    fn without_such_a_target_each_program_is_named() {
        let without = NINJA.replace(
            "build CMakeFiles/tests | ${cmake_ninja_workdir}CMakeFiles/tests: phony",
            "build x: phony",
        );
        let found = left_out(&format!("{without}build all: phony u t\n"), &[]).unwrap();
        assert_eq!((found.programs, found.targets), (vec!["sub/v".into()], vec!["sub/v".into()]));
        assert_eq!(left_out(&format!("{NINJA}build all: phony u t sub/v\n"), &[]), None);
    }

    #[test]
    fn a_program_is_a_test_where_ctest_names_it() {
        let text = format!("{NINJA}build all: phony t sub/v\n");
        assert_eq!(left_out(&text, &[]), None);
        assert_eq!(left_out(&text, &["u"]).unwrap().programs, ["u"]);
    }

    #[test]
    fn a_program_that_ninja_made_once_and_has_no_rule_for_is_left_over() {
        let log = "# ninja log v5\n0\t1\t2\told\tabc\n0\t1\t2\tt\tabc\n0\t1\t2\twith space\tabc\n";
        let plan = format!("{NINJA}build with$ space: CXX_EXECUTABLE_LINKER__w_ w.o\n");
        let of = |plan: &str, programs: &[&str]| left_over_by_ninja(plan, log, programs);
        assert_eq!(of(&plan, &["old", "t", "by_hand", "with space"]), BTreeSet::from(["old".to_string()]));
        assert!(of(&format!("subninja more.ninja\n{plan}"), &["old"]).is_empty(), "it may be made there");
    }
}
