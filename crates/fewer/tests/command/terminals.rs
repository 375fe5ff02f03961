//! What names, outputs and files of a project say reaches a terminal harmless, and other formats as it is.

use std::fs;

use crate::workshop::{Ended, Project};

/// Titles, clearing, answers, colours, C1, DEL, turned writing.
const HOSTILE: &str = "a\\x1b]0;owned\\x07\\x1b[2J\\x1b[6n\\x1bPq\\x1b\\\\\\302\\2332J\\x7f\\xe2\\x80\\xaez";

/// With a failing test whose name, output and message are hostile.
fn hostile() -> Project {
    let project = Project::empty();
    let source = format!(
        "#include <cstdio>\n#include <gtest/gtest.h>\n\
         struct F : testing::Test {{ void TestBody() override {{ std::puts(\"out {HOSTILE}\"); FAIL() << \"why {HOSTILE}\"; }} }};\n\
         int main(int c, char** v) {{ testing::InitGoogleTest(&c, v);\n\
         for (const char* name : {{\"{HOSTILE}\", \"two\\nlines\"}})\n\
         testing::RegisterTest(\"S\", name, nullptr, nullptr, __FILE__, __LINE__, []() -> F* {{ return new F; }});\n\
         return RUN_ALL_TESTS(); }}\n"
    );
    project.write("t.cpp", &source);
    fs::create_dir(project.file("build")).unwrap();
    project.command("g++", &["-c", "t.cpp", "-o", "build/t.o"]);
    project.command("g++", &["build/t.o", "-o", "build/t", "-lgtest", "-lpthread"]);
    project.commit_all();
    project
}

/// No control character but newlines, tabs and colours; no turned writing.
#[track_caller]
fn assert_harmless(of: &str, ended: &Ended) {
    for text in [&ended.stdout, &ended.stderr] {
        let mut plain = String::new();
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once("\x1b[") {
            plain.push_str(before);
            let end = after.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(after.len());
            assert!(after[end..].starts_with('m'), "{of}: {text:?}");
            rest = &after[end + 1..];
        }
        plain.push_str(rest);
        let bad = plain.find(|c: char| {
            (c.is_control() && c != '\n' && c != '\t') || matches!(c, '\u{202a}'..='\u{202e}')
        });
        assert_eq!(bad, None, "{of}: {text:?}");
    }
}

#[test]
fn names_and_outputs_reach_a_terminal_without_control_sequences() {
    let project = hostile();
    for arguments in [
        &["run", "-v"][..],
        &["run"],
        &["run", "--format", "json"],
        &["select", "-v"],
        &["select", "--format", "json"],
        &["select", "--format", "gtest-filter"],
        &["why", "two"],
        &["why", "a\x1b]0;x\x07"],
        &["status"],
        &["doctor"],
        &["affected", "no\x1b[2Jfile"],
        &["forget", "\u{202e}\x1b]0;x\x07"],
    ] {
        let ended = project.fewer(&[&["--color", "always"], arguments].concat());
        assert_harmless(&arguments.join(" "), &ended);
    }
    let text = project.fewer(&["run", "--all"]);
    assert!(text.stdout.contains("out a\\u001b]0;owned\\u0007\\u001b[2J"), "{}", text.stdout);
}

#[test]
fn a_name_is_one_line_of_a_list_and_found_as_it_is_listed() {
    let project = hostile();
    let listed = project.fewer(&["select"]).expect(0);
    let shown = "t::S.a\\u001b]0;owned\\u0007\\u001b[2J\\u001b[6n\\u001bPq\\u001b\\\\u009b2J\\u007f\\u202ez";
    assert_eq!(listed, format!("{shown}\nt::S.two\\u000alines\n"));
    let why = project.fewer(&["why", shown, "--format", "json"]).json(0);
    assert_eq!(why["id"], "t::S.a\x1b]0;owned\x07\x1b[2J\x1b[6n\x1bPq\x1b\\\u{9b}2J\x7f\u{202e}z");
}

#[test]
fn a_filter_still_selects_a_test_whose_name_a_terminal_would_obey() {
    let project = hostile();
    let filters = project.fewer(&["select", "--format", "gtest-filter"]).expect(0);
    let filter = filters.trim_end().split_once('\t').unwrap().1;
    let listed = project.output("build/t", &["--gtest_list_tests", &format!("--gtest_filter={filter}")]);
    assert!(listed.contains("owned") && listed.contains("two"), "{filter}: {listed}");
}

#[test]
fn junit_of_names_that_a_terminal_would_obey_is_well_formed() {
    let project = hostile();
    project.fewer(&["run", "--junit", "junit.xml"]).expect(1);
    let document = fs::read(project.file("junit.xml")).unwrap();
    assert!(!document.iter().any(|byte| *byte < 0x20 && !b"\n\t\r".contains(byte)));
    let mut reader = quick_xml::Reader::from_reader(document.as_slice());
    let (mut buffer, mut cases) = (Vec::new(), 0);
    loop {
        match reader.read_event_into(&mut buffer).unwrap() {
            quick_xml::events::Event::Eof => break,
            quick_xml::events::Event::Start(tag) if tag.name().as_ref() == "testcase" => cases += 1,
            _ => {}
        }
        buffer.clear();
    }
    assert_eq!(cases, 2);
}

#[test]
fn the_build_output_and_paths_in_messages_reach_a_terminal_without_control_sequences() {
    let project = Project::small();
    project.write("fewer.toml", "build = '''printf 'go \\033]0;owned\\007\\033[2J\\r\\n'; exit 1'''\n");
    let ended = project.fewer(&["--color", "always", "run", "-v"]);
    assert_harmless("build", &ended);
    assert!(format!("{ended:?}").contains("u001b]0;owned"), "{ended:?}");
    ended.expect(3);
    let odd = "odd\x1b]0;owned\x07";
    project.write(&format!("{odd}/fewer.toml"), "[nonsense\n");
    project.command("git", &["init", "-q", odd]);
    let refused = project.fewer(&["--color", "always", "-C", odd, "run"]);
    assert_harmless("a path", &refused);
    assert_eq!(refused.code, Some(2), "{refused:?}");
}

#[test]
fn subjects_of_commits_reach_a_terminal_without_control_sequences() {
    let project = Project::empty();
    project.write("a.txt", "a\n");
    project.commit_all();
    for number in 0..2 {
        project.write("a.txt", &format!("{number}\n"));
        project.git(&["commit", "-q", "-a", "-m", "subject \x1b]0;owned\x07 \x1b[2J"]);
    }
    for arguments in [&["history", "stats"][..], &["history", "replay", "HEAD~1..HEAD"]] {
        assert_harmless(&arguments.join(" "), &project.fewer(&[&["--color", "always"], arguments].concat()));
    }
}
