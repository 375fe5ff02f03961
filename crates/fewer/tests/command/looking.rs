//! What each command starts of a project that is hostile in every way we know: programs with tests, build commands, CTest's
//! files, plans of Ninja, compilers and toolchains that cargo's files name, wrappers of Maven and Gradle, Java, git's settings.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::rust_run::OWN;
use crate::workshop::{Project, lines, manifest_directory};

/// What commands may start, by what is told in docs/security.md.
#[derive(Clone, Copy, PartialEq, Eq)]
enum May {
    Nothing,
    /// Test programs, CTest, cargo, rustc, Java and Ninja, to be told what there is to run.
    Ask,
    /// That, and the tests themselves.
    Test,
    /// The build, too.
    Build,
}

/// Every command of the contract, as it is typed. What it is asked about need not be there.
const COMMANDS: &[(&[&str], May)] = &[
    (&["status"], May::Nothing),
    (&["affected", "t.cpp"], May::Nothing),
    (&["affected", "--diff", "HEAD"], May::Nothing),
    (&["doctor"], May::Nothing),
    (&["init", "--force"], May::Nothing),
    (&["gc"], May::Nothing),
    (&["history", "stats"], May::Nothing),
    (&["history", "replay", "HEAD~1..HEAD"], May::Nothing),
    (&["history", "replay", "--analyser", "recorded", "HEAD~1..HEAD"], May::Nothing),
    (&["history", "replay", "--analyser", "java", "HEAD~1..HEAD"], May::Nothing),
    (&["history", "generate", "--versions", "2"], May::Nothing),
    (&["history", "compare-java", "--results", ".", "HEAD~1..HEAD"], May::Nothing),
    (&["forget", "nothing::Of.This"], May::Nothing),
    (&["reduce", "import", "t.cpp"], May::Nothing),
    (&["reduce", "build"], May::Nothing),
    (&["reduce", "evolve"], May::Nothing),
    (&["reduce", "evaluate"], May::Nothing),
    (&["reduce", "experiment", "HEAD~1..HEAD"], May::Nothing),
    (&["simulate"], May::Nothing),
    (&["completions", "bash"], May::Nothing),
    (&["man"], May::Nothing),
    (&["select", "--strategy", "predict"], May::Nothing),
    (&["select", "--merge", "HEAD", "HEAD~1"], May::Nothing),
    (&["why", "A"], May::Ask),
    (&["select"], May::Ask),
    (&["reduce", "collect"], May::Test),
    (&["run", "--no-build"], May::Test),
    (&["select", "--build"], May::Build),
    (&["run"], May::Build),
];

/// What leaves its name in the file `CANARY` when it is started, and which commands may start it.
const CANARIES: &[(&str, May)] = &[
    ("program", May::Ask),
    ("ctest", May::Ask),
    ("toolchain", May::Ask),
    ("java", May::Ask),
    ("build", May::Build),
    ("compiler", May::Build),
    ("maven", May::Build),
    ("gradle", May::Build),
    ("ninja", May::Build),
    ("git", May::Nothing),
    ("from the current directory", May::Nothing),
];

impl May {
    fn starts(self, canary: &str) -> bool {
        let (_, needs) = CANARIES.iter().find(|(name, _)| *name == canary).expect("a known canary");
        *needs != May::Nothing && *needs as u8 <= self as u8
    }
}

/// A command that leaves a name.
fn sing(name: &str) -> String {
    format!("echo {name} >> \"$CANARY\"")
}

struct Hostile {
    project: Project,
    settings: String,
}

impl Hostile {
    /// Everything but what a kind of project is built of.
    fn new(settings: &str) -> Hostile {
        let project = Project::empty();
        let settings = format!("build = '{}'\n{settings}", sing("build"));
        project.write("fewer.toml", &settings);
        project.write(".gitignore", "/target\n/build\n.fewer\n*.sang\n");
        project.write(".gitattributes", "* filter=sing diff=sing merge=sing\n");
        let hostile = Hostile { project, settings };
        for (name, place) in [
            ("git", "."),
            ("ninja", "build"),
            ("ctest", "build"),
            ("cargo", "."),
            ("java", "."),
            ("fewer-lab", "."),
        ] {
            hostile.script(&format!("{place}/{name}"), &sing("from the current directory"));
        }
        hostile
    }

    fn script(&self, path: &str, command: &str) {
        self.project.write(path, &format!("#!/bin/sh\n{command}\n"));
        fs::set_permissions(self.project.file(path), Permissions::from_mode(0o755)).unwrap();
    }

    /// Two commits, and settings of git that name programs.
    fn commit(&self) {
        let project = &self.project;
        project.commit_all();
        project.write("second.txt", "");
        project.commit_all();
        let git = sing("git");
        for key in [
            "core.fsmonitor",
            "core.sshCommand",
            "core.pager",
            "alias.status",
            "alias.log",
            "filter.sing.clean",
            "filter.sing.smudge",
            "filter.sing.process",
            "diff.sing.command",
            "diff.sing.textconv",
            "merge.sing.driver",
        ] {
            let value = if key.starts_with("alias") { format!("!{git}") } else { git.clone() };
            project.git(&["config", key, &value]);
        }
        for hook in ["post-checkout", "post-index-change", "reference-transaction"] {
            self.script(&format!(".git/hooks/{hook}"), &git);
        }
    }

    /// What a command starts.
    fn started_by(&self, command: &[&str], path: &str) -> BTreeSet<String> {
        let song = self.project.file("song.sang");
        let _ = fs::remove_file(&song);
        let variables = [OWN[0], OWN[1], ("CANARY", song.to_str().unwrap()), ("PATH", path)];
        let ended = self.project.fewer_with(&variables, command);
        assert!(!ended.stderr.contains("Usage:"), "{}", ended.stderr);
        self.project.write("fewer.toml", &self.settings);
        lines(&fs::read_to_string(&song).unwrap_or_default()).into_iter().collect()
    }

    /// Before anything is recorded and afterwards, with a `PATH` that leads here: only a command that starts something may
    /// follow it.
    fn assert_only_what_is_told(&self, expected: &[&str]) {
        let path = std::env::var("PATH").unwrap();
        let relative = format!(".:build:{path}");
        let mut all = BTreeSet::new();
        for _ in 0..2 {
            for (command, may) in COMMANDS {
                let path = if *may == May::Nothing { &relative } else { &path };
                let started = self.started_by(command, path);
                let wrong: Vec<&String> = started.iter().filter(|canary| !may.starts(canary)).collect();
                assert!(wrong.is_empty(), "fewer {command:?} starts {wrong:?}");
                all.extend(started);
            }
            assert!(!self.project.file("build/made-by-ninja").exists(), "Ninja makes what its plan names");
        }
        let all: BTreeSet<&str> = all.iter().map(String::as_str).collect();
        assert_eq!(all, expected.iter().copied().collect(), "these can sing");
    }
}

#[test]
fn a_build_of_cpp_is_only_started_as_the_documents_say() {
    let hostile = Hostile::new("build-directory = 'build'\n");
    let project = &hostile.project;
    project.write("CMakeLists.txt", "");
    project.write("build/CMakeCache.txt", "");
    project.write(
        "t.cpp",
        "#include <gtest/gtest.h>\n#include <cstdio>\n#include <cstdlib>\n\
         static int early = [] { if (FILE* f = std::fopen(std::getenv(\"CANARY\"), \"a\")) { std::fputs(\"program\\n\", f); \
         std::fclose(f); } return 0; }();\nTEST(S, A) {}\nclass P : public testing::TestWithParam<int> {};\nTEST_P(P, B) {}\n\
         INSTANTIATE_TEST_SUITE_P(I, P, testing::Values(1, 2));\n",
    );
    project.write(
        "build/CTestTestfile.cmake",
        "execute_process(COMMAND sh -c [[echo ctest >> \"$CANARY\"]])\nadd_test(script \"/bin/true\")\n",
    );
    project.write(
        "build/build.ninja",
        "builddir = made-by-ninja\nrule sing\n  command = echo ninja >> \"$$CANARY\"\n  generator = 1\n\
         build build.ninja: sing always\nbuild always: phony\nbuild t: phony t.o\n",
    );
    project.command("g++", &["-c", "t.cpp", "-o", "build/t.o"]);
    project.command("g++", &["build/t.o", "-o", "build/t", "-lgtest_main", "-lgtest", "-lpthread"]);
    hostile.commit();
    hostile.assert_only_what_is_told(&["build", "ctest", "program"]);
}

#[test]
fn a_build_of_cargo_is_only_started_as_the_documents_say() {
    let hostile = Hostile::new("[cargo]\narguments = ['--workspace']\n");
    let project = &hostile.project;
    let toolchain = project.output("rustc", &["--print=sysroot"]);
    project.write("Cargo.toml", "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    project.write("build.rs", &format!("fn main() {{ {EARLY} sing(\"compiler\"); }}"));
    project.write(
        "src/lib.rs",
        &format!(
            "#[cfg(test)]\nmod tests {{\n{EARLY}\nextern \"C\" fn early() {{ sing(\"program\"); }}\n\
             #[used]\n#[unsafe(link_section = \".init_array\")]\nstatic EARLY: extern \"C\" fn() = early;\n\
             #[test]\nfn adds() {{}}\n}}\n"
        ),
    );
    for tool in ["cargo", "rustc", "rustdoc"] {
        let real = PathBuf::from(&toolchain).join("bin").join(tool);
        hostile.script(
            &format!("toolchain/bin/{tool}"),
            &format!("{}\nexec {} \"$@\"", sing("toolchain"), real.display()),
        );
    }
    project.command("ln", &["-s", &format!("{toolchain}/lib"), "toolchain/lib"]);
    let path = project.file("toolchain");
    project.write("rust-toolchain.toml", &format!("[toolchain]\npath = '{}'\n", path.display()));
    hostile.script("wrapper.sh", &format!("{}\nexec \"$@\"", sing("compiler")));
    project.write(".cargo/config.toml", "[build]\nrustc-wrapper = './wrapper.sh'\n");
    hostile.commit();
    hostile.assert_only_what_is_told(&["build", "compiler", "program", "toolchain"]);
}

/// The canary of Rust code.
const EARLY: &str = "fn sing(name: &str) { use std::io::Write; if let Some(path) = std::env::var_os(\"CANARY\") { let mut file = \
                     std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap(); writeln!(file, \"{name}\").unwrap(); } }";

#[test]
fn tools_of_java_are_only_started_as_the_documents_say() {
    let console = "[java]\ntest-classes = ['out']\ncommand = './java.sh'\nlauncher = 'launcher.jar'\n";
    for (settings, canaries) in [
        ("", &["maven"][..]),
        ("[java]\ntool = 'gradle'\n", &["build", "gradle"]),
        ("[java]\ntool = 'maven'\ncommand = './maven.sh'\n", &["maven"]),
        (console, &["build", "java"]),
    ] {
        let hostile = Hostile::new(settings);
        hostile.project.write("pom.xml", "<project/>");
        hostile.project.write("build.gradle", "");
        hostile.project.write("src/test/java/demo/AloneTest.java", "package demo; class AloneTest {}\n");
        hostile.project.write("out/launcher.jar", "");
        hostile.project.write("launcher.jar", "");
        for (script, name) in
            [("mvnw", "maven"), ("maven.sh", "maven"), ("gradlew", "gradle"), ("java.sh", "java")]
        {
            hostile.script(script, &sing(name));
        }
        hostile.commit();
        hostile.assert_only_what_is_told(canaries);
    }
}

#[test]
fn every_command_is_in_the_table_of_what_it_starts() {
    let document = manifest_directory().join("../../docs/security.md");
    let document = fs::read_to_string(document).unwrap();
    let table = document.split("## What each command starts").nth(1).expect("the table is there");
    let table = table.split("\n## ").next().unwrap();
    let help = Project::empty().fewer(&["--help"]).expect(0);
    let commands = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = commands.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
    for name in names.filter(|name| *name != "help") {
        assert!(COMMANDS.iter().any(|(command, _)| command[0] == name), "{name} is not tried");
        assert!(table.contains(&format!("`{name}")), "{name} is not in the table of docs/security.md");
    }
}

const TWO_TESTS: &str = "#include <gtest/gtest.h>\nTEST(S, A) {}\nTEST(S, B) {}\n";
/// What the symbols of a program do not name.
const BY_NUMBER: &str = "#include <gtest/gtest.h>\nclass P : public testing::TestWithParam<int> {};\nTEST_P(P, B) {}\n\
                         INSTANTIATE_TEST_SUITE_P(I, P, testing::Values(1, 2));\n";

/// A program below `build`, which CMake is said to have set up.
fn program(text: &str) -> Project {
    let project = Project::empty();
    project.write("CMakeLists.txt", "");
    project.write("build/CMakeCache.txt", "");
    project.write(".gitignore", "/build\n.fewer\n");
    build(&project, text);
    project.commit_all();
    project
}

fn build(project: &Project, text: &str) {
    project.write("t.cpp", text);
    project.command("g++", &["-c", "t.cpp", "-o", "build/t.o"]);
    project.command("g++", &["build/t.o", "-o", "build/t", "-lgtest_main", "-lgtest", "-lpthread"]);
}

#[track_caller]
fn assert_affected(project: &Project, tests: &[&str], note: Option<&str>) {
    let ended = project.fewer(&["affected", "t.cpp"]);
    match note {
        Some(note) => assert!(ended.stderr.contains(note), "{}", ended.stderr),
        None => assert_eq!(ended.stderr, ""),
    }
    assert_eq!(lines(&ended.expect(0)), tests);
}

const NOT_ASKED: &str =
    "only the program can tell its tests, and it has not been asked yet: `fewer run` does so";

#[test]
fn tests_are_named_by_the_program_where_nothing_is_recorded() {
    let project = program(TWO_TESTS);
    assert_affected(&project, &["t::S.A", "t::S.B"], None);
    build(&project, &TWO_TESTS.replace("S, B", "S, DISABLED_B"));
    assert_affected(&project, &["t::S.A", "t::S.DISABLED_B"], None);
    for unclear in [BY_NUMBER, &TWO_TESTS.replace("S, B", "S, B_C")] {
        build(&project, unclear);
        assert_affected(&project, &["t::*"], Some(NOT_ASKED));
    }
    build(&project, TWO_TESTS);
    project.command("strip", &["build/t"]);
    assert_affected(&project, &["t::*"], Some(NOT_ASKED));
}

#[test]
fn tests_that_are_not_known_are_stood_for_by_their_program() {
    let project = program(BY_NUMBER);
    assert_affected(&project, &["t::*"], Some(NOT_ASKED));
    project.settle();
    assert_affected(&project, &["t::I/P.B/0", "t::I/P.B/1"], None);
    // Built anew, and not run.
    build(&project, &format!("{BY_NUMBER}TEST(More, Later) {{}}\n"));
    let anew = "t: it was built anew since it told its tests, and may have more: `fewer run` asks again";
    assert_affected(&project, &["t::*", "t::I/P.B/0", "t::I/P.B/1"], Some(anew));
    project.settle();
    assert_affected(&project, &["t::I/P.B/0", "t::I/P.B/1", "t::More.Later"], None);
}

#[test]
fn what_was_told_at_the_last_run_stands_for_what_would_be_told() {
    let project = program(TWO_TESTS);
    let declare = |names: &[&str]| {
        let entries = names.iter().map(|name| format!("add_test({name} \"/bin/true\")\n"));
        project.write("build/CTestTestfile.cmake", &entries.collect::<String>());
    };
    declare(&["first"]);
    let not_asked = "only `ctest` can tell which tests its files declare, and it has not been asked yet";
    assert_affected(&project, &["ctest::*", "t::S.A", "t::S.B"], Some(not_asked));
    project.settle();
    assert_affected(&project, &["ctest::first", "t::S.A", "t::S.B"], None);
    declare(&["first", "second"]);
    let changed = "CTest's files have changed since `ctest` was asked";
    assert_affected(&project, &["ctest::*", "ctest::first", "t::S.A", "t::S.B"], Some(changed));
    let doctor = project.fewer(&["doctor"]).expect(0);
    assert!(doctor.contains(changed), "{doctor}");
    project.settle();
    assert_affected(&project, &["ctest::first", "ctest::second", "t::S.A", "t::S.B"], None);
}
