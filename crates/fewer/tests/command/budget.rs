//! `fewer run --budget`, `--skip` and `--order`: what comes first, what is left out, and that nobody takes it for tested.

use std::fs;

use serde_json::{Value, json};

use crate::workshop::{Project, lines};

const AREA: &str = "shape_test::Shape.Area";
const PERIMETER: &str = "shape_test::Shape.Perimeter";
const SHOUTS: &str = "text_test::Text.Shouts";
/// Skips itself, so that it is due every time.
const WAITS: &str = "text_test::Text.Waits";

/// Code that one of these tests reaches, to be put in front of.
const AREA_CODE: (&str, &str) = ("src/shape.cpp", "return width * height;");
const PERIMETER_CODE: (&str, &str) = ("src/shape.cpp", "return 2 * (");
const SHOUTS_CODE: (&str, &str) = ("src/text.cpp", "return text + ");

/// Changes code so that it does the same in another way, each time anew.
fn touch(project: &Project, (file, code): (&str, &str)) {
    project.edit(file, code, &format!("{{ volatile int n = 1; (void)n; }} {code}"));
}

/// A change that all of these tests reach, compiled.
fn change_all(project: &Project) {
    [AREA_CODE, PERIMETER_CODE, SHOUTS_CODE].into_iter().for_each(|code| touch(project, code));
    project.make();
    assert_eq!(project.selected(), [AREA, PERIMETER, SHOUTS, WAITS]);
}

/// Commits what is there by somebody at a time, compiles it and runs what is due.
fn record(project: &Project, author: &str, time: &str, variables: &[(&str, &str)], code: i32) {
    let author = format!("--author={author} <{author}@example.org>");
    let date = format!("GIT_COMMITTER_DATE={time}");
    let identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
    let commit = ["commit", "-q", "-a", "-m", "a change", &author];
    project.command("env", &[&[date.as_str(), "git"], &identity[..], &commit].concat());
    project.make();
    project.fewer_with(variables, &["run"]).expect(code);
}

fn rule(project: &Project, algorithm: &str, window_h: Value, milestone_h: Value) {
    let record = json!({
        "format": "fewer-ranking/1", "algorithm": algorithm, "window_h": window_h, "milestone_h": milestone_h,
        "area": 0.664, "history": "history",
    });
    project.write(".fewer/ranking.json", &record.to_string());
}

fn ids(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect()
}

fn test<'d>(document: &'d Value, id: &str) -> &'d Value {
    document["tests"].as_array().unwrap().iter().find(|test| test["id"] == id).unwrap()
}

#[test]
fn a_failure_of_what_was_left_out_is_explained_by_the_change() {
    let project = Project::small();
    project.settle();
    project.edit("src/shape.cpp", "return width * height", "return width + height");
    project.make();
    project.fewer(&["run", "--skip", "100%"]).expect(0);
    let text = project.fewer(&["run"]).expect(1);
    assert!(text.contains("area(int, int)") && !text.contains("how the test is started"), "{text}");
}

#[test]
fn what_a_share_leaves_out_is_listed_and_runs_the_next_time() {
    let project = Project::small();
    project.settle();
    change_all(&project);
    let said = project.fewer(&["run", "--skip", "50%"]);
    assert!(
        said.stderr
            .contains("ranked by author-count/96h: the history of this project has not been simulated")
    );
    let text = said.expect(0);
    let warning =
        "2 tests that may have changed were not run, by budget; `fewer run` without a budget runs them:\n";
    assert!(text.contains("2 ran (") && text.contains(warning), "{text}");
    let listed: Vec<String> = lines(&text[text.find(warning).unwrap() + warning.len()..]);
    let left_out: Vec<&str> = listed.iter().map(|line| line.split_whitespace().next().unwrap()).collect();
    for (line, rank) in listed.iter().zip(["3 of 4", "4 of 4"]) {
        assert!(line.ends_with(&format!("not run, by budget: ranked {rank}")), "{text}");
    }
    let mut due: Vec<&str> = [&left_out[..], &[WAITS]].concat();
    due.sort_unstable();
    due.dedup();
    assert_eq!(project.selected(), due, "nothing is recorded of what was left out");
    let why = project.fewer(&["why", left_out[0]]).expect(0);
    assert!(why.contains("runs: "), "{why}");
    let next = project.fewer(&["run"]).expect(0);
    assert!(next.contains(&format!("{} ran (", due.len())) && !next.contains("budget"), "{next}");
    assert_eq!(project.selected(), [WAITS]);
}

#[test]
fn documents_mark_what_was_left_out() {
    let project = Project::small();
    project.settle();
    change_all(&project);
    let run = project.fewer(&["run", "--skip", "75", "--format", "json", "--junit", "report.xml"]).json(0);
    assert_eq!(run["summary"]["left_out"], 4, "three by budget, one disabled: {run}");
    let (order, left_out) = (ids(&run["ranking"]["order"]), ids(&run["ranking"]["left_out"]));
    assert_eq!((order.len(), &order[1..]), (4, &left_out[..]));
    assert_eq!(
        (&run["ranking"]["algorithm"], &run["ranking"]["window_h"]),
        (&"author-count".into(), &96.into())
    );
    for (id, rank) in left_out.iter().zip(2..) {
        let test = test(&run, id);
        assert_eq!((&test["decision"], &test["reason"]), (&"left-out".into(), &"budget".into()), "{test}");
        assert_eq!((&test["evidence"]["rank"], &test["evidence"]["of"]), (&rank.into(), &4.into()), "{test}");
        assert!(test["outcome"].is_null() && test["duration_s"].is_null(), "{test}");
    }
    let report = fs::read_to_string(project.file("report.xml")).unwrap();
    assert_eq!(report.matches("<skipped message=\"not run, by budget: ranked ").count(), 3, "{report}");
    let next = project.fewer(&["run", "--format", "json"]).json(0);
    assert!(next.get("ranking").is_none() && next["summary"]["left_out"] == 1, "{next}");
}

#[test]
fn a_budget_is_filled_from_the_top_by_recorded_durations_divided_among_jobs() {
    let project = Project::small();
    project.fewer_with(&[("PERIMETER_SLEEPS", "2")], &["run"]).expect(0);
    change_all(&project);
    let run = project.fewer(&["run", "--budget", "1s", "-j", "1", "--format", "json"]).json(0);
    assert_eq!(ids(&run["ranking"]["left_out"]), [PERIMETER], "{run}");
    assert_eq!(test(&run, AREA)["outcome"], "passed");
    let text = project.fewer(&["run", "--budget", "1s", "-j", "1"]).expect(0);
    assert!(
        text.contains("1 test that may have changed was not run, by budget; `fewer run` without"),
        "{text}"
    );
    let wide = project.fewer(&["run", "--budget", "1s", "-j", "4", "--format", "json"]).json(0);
    assert_eq!(test(&wide, PERIMETER)["outcome"], "passed");
    assert!(ids(&wide["ranking"]["left_out"]).is_empty(), "{wide}");
}

#[test]
fn a_budget_before_anything_has_run_leaves_nothing_out_and_says_why() {
    let project = Project::small();
    let said = project.fewer(&["run", "--budget", "1s"]);
    assert!(said.stderr.contains("nobody knows what fits into the budget: nothing is left out"), "{said:?}");
    assert!(said.expect(0).contains("6 ran (5 passed, 1 skipped)"));
}

#[test]
fn a_failure_counts_more_than_what_was_left_out_and_both_are_told() {
    let project = Project::small();
    project.settle();
    change_all(&project);
    // By duration any of them may be the first.
    project.write("fewer.toml", "always = [\"shape_test::Shape.Area\"]\n");
    let text = project.fewer_with(&[("AREA_FAILS", "1")], &["run", "--skip", "75%", "-q"]).expect(1);
    assert!(text.contains("FAILED shape_test::Shape.Area"), "{text}");
    assert!(text.contains("3 tests that may have changed were not run, by budget"), "{text}");
}

#[test]
fn known_trouble_and_what_is_always_wanted_come_first_whatever_the_history_says() {
    let project = Project::small();
    project.settle();
    touch(&project, SHOUTS_CODE);
    record(&project, "B", "2026-01-01T10:00:00Z", &[], 0);
    rule(&project, "author-count", json!(1_000_000), Value::Null);
    touch(&project, AREA_CODE);
    project.make();
    project.fewer_with(&[("AREA_FAILS", "1")], &["run"]).expect(1);
    [AREA_CODE, PERIMETER_CODE, SHOUTS_CODE].into_iter().for_each(|code| touch(&project, code));
    project.edit("tests/text_test.cpp", "namespace {", "TEST(Text, Fresh) { SUCCEED(); }\nnamespace {");
    project.make();
    let order = |arguments: &[&str]| -> Vec<String> {
        let run = project.fewer(&[&["run", "--skip", "100", "--format", "json"], arguments].concat()).json(0);
        ids(&run["ranking"]["order"]).iter().map(|id| id.to_string()).collect()
    };
    let plain = order(&[]);
    let mut first = plain[..2].to_vec();
    first.sort();
    assert_eq!(first, [AREA, "text_test::Text.Fresh"], "failed last time, and new: {plain:?}");
    assert_eq!(plain[2], SHOUTS, "two authors: {plain:?}");
    project.write("fewer.toml", "always = [\"Perimeter\"]\n");
    let always = order(&[]);
    assert!(always[..3].contains(&PERIMETER.to_string()) && always[3] == SHOUTS, "{always:?}");
    let all = order(&["--all"]);
    assert!(all[..3].contains(&PERIMETER.to_string()) && all[..3].contains(&AREA.to_string()), "{all:?}");
}

#[test]
fn the_test_that_most_authors_affected_begins_first() {
    let project = Project::small();
    project.settle();
    let hour = |hour: u32| format!("2026-01-01T{hour}:00:00Z");
    touch(&project, SHOUTS_CODE);
    record(&project, "B", &hour(10), &[], 0);
    touch(&project, SHOUTS_CODE);
    record(&project, "C", &hour(11), &[], 0);
    rule(&project, "author-count", json!(1_000_000), Value::Null);
    change_all(&project);
    let began = |arguments: &[&str]| -> Vec<String> {
        let said = project.fewer(&[&["run", "-v", "-j", "1", "--all"], arguments].concat());
        let outcome = |line: &str| line.trim_start().strip_prefix("passed ").map(str::to_string);
        let began = said.stderr.lines().filter_map(outcome).collect();
        said.expect(0);
        began
    };
    let run = project.fewer(&["run", "--order", "--format", "json"]).json(0);
    assert_eq!(ids(&run["ranking"]["order"])[0], SHOUTS, "{run}");
    assert!(ids(&run["ranking"]["left_out"]).is_empty());
    assert!(began(&["--order"])[0].starts_with("text_test::"), "the program with the first test");
    project.write("fewer.toml", "always = [\"shape_test::*\"]\n");
    assert!(began(&["--order"])[0].starts_with("shape_test::"));
}

#[test]
fn transitions_are_read_from_the_records_of_commits() {
    let project = Project::small();
    project.edit("src/shape.h", "#", "// First.\n#");
    record(&project, "A", "2026-01-01T10:00:00Z", &[], 0);
    touch(&project, AREA_CODE);
    record(&project, "A", "2026-01-01T12:00:00Z", &[("AREA_FAILS", "1")], 1);
    touch(&project, AREA_CODE);
    record(&project, "A", "2026-01-01T14:00:00Z", &[], 0);
    for hour in 15..18 {
        touch(&project, PERIMETER_CODE);
        record(&project, "A", &format!("2026-01-01T{hour}:00:00Z"), &[], 0);
    }
    change_all(&project);
    for (algorithm, milestone, first) in
        [("transition-count", json!(1), AREA), ("affected-count", Value::Null, PERIMETER)]
    {
        rule(&project, algorithm, json!(1_000_000), milestone);
        let said = project.fewer(&["run", "--skip", "100%", "--format", "json"]);
        let words = "it did best in the simulation of history, with 0.66 of the area safe";
        assert!(said.stderr.contains(words), "{}", said.stderr);
        let run = said.json(0);
        assert_eq!(ids(&run["ranking"]["order"])[0], first, "{algorithm}: {run}");
    }
}

#[test]
fn the_status_tells_of_tests_that_the_last_run_left_out() {
    let project = Project::small();
    project.settle();
    change_all(&project);
    project.fewer(&["run", "--skip", "100%"]).expect(0);
    let text = project.fewer(&["status"]).expect(0);
    assert!(text.contains("not run   4 that may have changed; `fewer run` runs them"), "{text}");
    assert!(text.contains("outcomes  none"), "{text}");
    assert_eq!(project.fewer(&["status", "--format", "json"]).json(0)["left_out_of_last_run"], 4);
    project.settle();
    assert_eq!(project.fewer(&["status", "--format", "json"]).json(0)["left_out_of_last_run"], 0);
}

#[test]
fn a_ranking_that_cannot_be_read_is_refused_and_not_ignored() {
    let project = Project::small();
    project.settle();
    project.write(".fewer/ranking.json", "{\"format\": \"fewer-ranking/1\", \"algorithm\": \"luck\"}");
    let said = project.fewer(&["run", "--order"]).refused(2);
    assert!(
        said.contains("ranking.json cannot be understood; delete it, or let `fewer simulate run`"),
        "{said}"
    );
    rule(&project, "author-count", Value::Null, Value::Null);
    let said = project.fewer(&["run", "--order"]).refused(2);
    assert!(said.contains("which this version does not know"), "{said}");
    project.fewer(&["run"]).expect(0);
    let said = project.fewer(&["run", "--skip", "150%"]).refused(2);
    assert!(said.contains("'150%' is not a share: give something between 0% and 100%"), "{said}");
}

#[test]
fn a_simulation_of_the_records_tells_what_to_rank_by() {
    let project = Project::small();
    project.settle();
    touch(&project, AREA_CODE);
    record(&project, "B", "2030-01-01T10:00:00Z", &[("AREA_FAILS", "1")], 1);
    project.fewer(&["simulate", "import", "store", "-o", "raw"]).expect(0);
    project.fewer(&["simulate", "clean", "raw", "-o", "history"]).expect(0);
    let restricted = ["simulate", "run", "history", "-o", "some", "--algorithm", "author-count"];
    project.fewer(&restricted).expect(0);
    assert!(!project.file(".fewer/ranking.json").exists(), "one algorithm is not the best of all");
    let said = project.fewer(&["simulate", "run", "history", "-o", "results"]);
    assert!(said.stderr.contains("from now on `fewer run --budget`, --skip and --order rank"), "{said:?}");
    let text = fs::read_to_string(project.file(".fewer/ranking.json")).unwrap();
    let record: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&record["format"], &record["history"]), (&"fewer-ranking/1".into(), &"history".into()));
    let run = project.fewer(&["run", "--order", "--format", "json"]);
    assert!(run.stderr.contains("it did best in the simulation of history"), "{}", run.stderr);
    assert_eq!(run.json(0)["ranking"]["algorithm"], record["algorithm"]);
}
