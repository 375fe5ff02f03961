//! GoogleTest programs that crash, lie, leak, fork, or name two tests alike.

use super::Row;
use crate::workshop::Project;

/// A program `build/t` of one source; with GoogleTest's `main` unless it has its own.
fn program(source: &str) -> Row {
    program_of(&[("t.cpp", source)], &[])
}

fn program_of(sources: &[(&str, &str)], flags: &[&str]) -> Row {
    let project = Project::empty();
    project.write(".gitignore", "build/\n.fewer/\n");
    let mut objects = Vec::new();
    for (name, text) in sources {
        project.write(name, text);
        let object = format!("build/{}", name.replace(".cpp", ".o"));
        std::fs::create_dir_all(project.file("build")).unwrap();
        let compile = ["-std=c++17", "-ffunction-sections", "-fdata-sections", "-c", name, "-o", &object];
        project.command("g++", &[&compile[..], flags].concat());
        objects.push(object);
    }
    let mut link: Vec<&str> = objects.iter().map(String::as_str).collect();
    link.extend(["-o", "build/t"]);
    link.extend(flags);
    if !sources.iter().any(|(_, text)| text.contains("int main(")) {
        link.push("-lgtest_main");
    }
    link.extend(["-lgtest", "-lpthread"]);
    project.command("g++", &link);
    project.commit_all();
    Row::new(project, &["build/t"])
}

#[test]
fn two_tests_of_one_name_of_which_one_fails() {
    let a = "#include <gtest/gtest.h>\nnamespace { TEST(S, Same) { EXPECT_EQ(1, 2); } }\n";
    let b = "#include <gtest/gtest.h>\nnamespace { TEST(S, Same) {} TEST(S, Other) {} }\n";
    program_of(&[("a.cpp", a), ("b.cpp", b)], &[]).is_red(&["t::S.Same"]);
}
