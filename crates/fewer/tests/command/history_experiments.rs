//! The experiments over a history: statistics, replays and generated merges, on real git repositories whose files are
//! the elements.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::workshop::{Project, ended, manifest_directory, wait_until};

/// Tests t1 {m}, t2 {p}, t3 {q}, t4 {m, p}.
const RULE: &str = "[files]\ntests = [\"tests/*\"]\ndependencies = [\n\
    { from = \"tests/t1\", to = [\"src/m\"] },\n{ from = \"tests/t2\", to = [\"src/p\"] },\n\
    { from = \"tests/t3\", to = [\"src/q\"] },\n{ from = \"tests/t4\", to = [\"src/m\", \"src/p\"] },\n]\n";

/// Lines far enough apart that edits of different ones merge.
const LINES: &str = "first\n\n\n\n\nsecond\n\n\n\n\nthird\n";

/// A repository with a rule for its files, whose `main` is empty but for the rule.
fn repository(rule: &str) -> Project {
    let project = Project::empty();
    project.git(&["init", "-q", "-b", "main"]);
    project.write("fewer.toml", rule);
    project
}

fn commit(project: &Project, name: &str) {
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "--allow-empty", "-m", name]);
    project.git(&["tag", name]);
}

fn change(project: &Project, name: &str, method: &str, line: &str) {
    project.edit(&format!("src/{method}"), line, &format!("{line} changed"));
    commit(project, name);
}

/// The paper's example up to n7.
fn branches() -> Project {
    let project = repository(RULE);
    ["m", "p", "q"].iter().for_each(|method| project.write(&format!("src/{method}"), LINES));
    ["t1", "t2", "t3", "t4"].iter().for_each(|test| project.write(&format!("tests/{test}"), test));
    commit(&project, "n1");
    project.git(&["checkout", "-q", "-b", "b1", "n1"]);
    change(&project, "n2", "m", "first");
    change(&project, "n3", "p", "first");
    project.git(&["checkout", "-q", "-b", "b2", "n1"]);
    change(&project, "n4", "m", "second");
    change(&project, "n5", "p", "second");
    project.git(&["checkout", "-q", "main"]);
    change(&project, "n6", "p", "third");
    change(&project, "n7", "q", "first");
    project
}

#[track_caller]
fn replay(project: &Project, arguments: &[&str]) -> Value {
    let command = [&["history", "replay", "--format", "json"], arguments].concat();
    project.fewer(&command).json(0)
}

/// Tests selected by S1, Sk, S0, S* and predict at a step; -1 where a strategy has no answer.
fn selected(step: &Value) -> [i64; 5] {
    ["s1", "sk", "s0", "s_star", "predict"].map(|strategy| step[strategy]["selected"].as_i64().unwrap_or(-1))
}

fn missed(step: &Value) -> [i64; 5] {
    ["s1", "sk", "s0", "s_star", "predict"].map(|strategy| step[strategy]["missed"].as_i64().unwrap_or(-1))
}

#[test]
fn the_merge_of_three_parents_selects_as_in_the_paper() {
    let project = branches();
    project.git(&["merge", "-q", "-m", "n8", "b1", "b2"]);
    let replayed = replay(&project, &["HEAD"]);
    assert_eq!(
        (&replayed["format"], &replayed["analyser"]),
        (&json!("fewer-history-replay/1"), &json!("files"))
    );
    assert_eq!(replayed["analysed"], json!({"commits": 8, "known": 0, "absent": 0}));
    let [step] = &replayed["steps"].as_array().unwrap()[..] else { panic!("one step: {replayed}") };
    assert_eq!(
        (&step["kind"], &step["parents"], &step["automatic"]),
        (&json!("merge"), &json!(3), &json!(true))
    );
    assert_eq!((&step["available"], selected(step)), (&json!(4), [4, 3, 3, 3, 3]));
    assert_eq!(missed(step), [0; 5]);
    assert_eq!((&step["s1"]["comparisons"], &step["sk"]["comparisons"]), (&json!(1), &json!(3)));
    assert_eq!((&step["chosen"]["strategy"], &step["chosen"]["selected"]), (&json!("S0"), &json!(3)));
    assert_eq!((step["s1_over_s0"].as_f64(), step["s0_over_sk"].as_f64()), (Some(4.0 / 3.0), Some(1.0)));
    let all = &replayed["merges"]["all"];
    assert_eq!(
        (all["s1"]["mean_share"].as_f64(), all["s_star"]["mean_share"].as_f64()),
        (Some(1.0), Some(0.75))
    );
    assert_eq!(all["s1_over_s0"], json!({"mean": 4.0 / 3.0, "steps": 1, "of_totals": 4.0 / 3.0}));
}

#[test]
fn a_cherry_pick_and_a_revert_select_as_in_the_paper() {
    let project = branches();
    project.git(&["checkout", "-q", "-b", "picked", "n7"]);
    project.git(&["cherry-pick", "-x", "n2"]);
    project.git(&["checkout", "-q", "-b", "reverted", "n7"]);
    project.git(&["revert", "--no-edit", "n6"]);
    let picked = replay(&project, &["picked"]);
    let step = &picked["steps"][0];
    assert_eq!((&step["kind"], selected(step)), (&json!("cherry-pick"), [2, -1, 1, 1, 1]));
    assert_eq!(step["of"], project.output("git", &["rev-parse", "n2"]));
    let reverted = replay(&project, &["reverted"]);
    let step = &reverted["steps"][0];
    assert_eq!((&step["kind"], selected(step)), (&json!("revert"), [2, -1, 0, 0, 0]));
    assert_eq!(
        (&picked["cherry_picks"]["all"]["steps"], &reverted["reverts"]["all"]["steps"]),
        (&json!(1), &json!(1))
    );
    let table = project.fewer(&["history", "replay", "picked"]).expect(0);
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("commit") && lines[1].contains("cherry-pick"), "{table}");
    let end_of_s1 = lines[0].find(" S1").unwrap() + 3;
    assert!(lines[1][..end_of_s1].ends_with(" 2"), "aligned:\n{table}");
    assert!(lines.iter().any(|line| line.starts_with("changed, yet left out")), "{table}");
}

#[test]
fn a_picked_commit_whose_message_is_silent_is_found_by_its_patch() {
    let project = branches();
    project.git(&["cherry-pick", "n2"]);
    // Made in the same second, only the dates tell the copy from the original.
    project.git(&["commit", "-q", "--amend", "--no-edit", "--date", "2020-01-01T00:00:00"]);
    assert_eq!(replay(&project, &["n1..HEAD"])["steps"], json!([]));
    let replayed = replay(&project, &["n1..HEAD", "--patch-ids"]);
    let step = &replayed["steps"][0];
    assert_eq!((&step["kind"], selected(step)), (&json!("cherry-pick"), [2, -1, 1, 1, 1]));
    let again = replay(&project, &["n1..HEAD", "--patch-ids"]);
    assert_eq!(again["steps"], replayed["steps"], "what is known tells the same");
}

#[test]
fn a_merge_finished_by_hand_has_neither_s0_nor_predict() {
    let project = branches();
    project.git(&["merge", "-q", "--no-commit", "b1"]);
    project.edit("src/q", "third", "by hand");
    commit(&project, "n8");
    let replayed = replay(&project, &["HEAD"]);
    let step = &replayed["steps"][0];
    assert_eq!((&step["automatic"], selected(step)), (&json!(false), [4, 3, -1, 3, -1]));
    assert_eq!(
        (&step["s0"], &step["predict"], &step["s1_over_s0"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    assert_eq!(step["chosen"]["strategy"], "S1", "the branches are short");
    assert_eq!(replayed["merges"]["automatic"]["steps"], 0);
    let table = project.fewer(&["history", "replay", "HEAD"]).expect(0);
    assert!(table.contains("S1/S0: there is no merge at which S0 selects any test"), "{table}");
}

/// One branch makes t reach m, the other changes m.
#[test]
fn what_s0_leaves_out_although_it_changed_is_told() {
    let project = repository(
        "[files]\ntests = [\"tests/*\"]\ndependencies = [\n\
         { from = \"tests/{test}\", to = [\"uses/{test}/*\"] }, { from = \"uses/{test}/{name}\", to = [\"src/{name}\"] },\n]\n",
    );
    project.write("src/m", "m");
    project.write("tests/t", "t");
    commit(&project, "n1");
    project.git(&["checkout", "-q", "-b", "callee"]);
    project.write("src/m", "m changed");
    commit(&project, "n2");
    project.git(&["checkout", "-q", "main"]);
    project.write("uses/t/m", "calls m");
    commit(&project, "n3");
    project.git(&["merge", "-q", "-m", "n4", "callee"]);
    let replayed = replay(&project, &["HEAD"]);
    let step = &replayed["steps"][0];
    assert_eq!(selected(step), [1, 1, 0, 1, 1]);
    assert_eq!(missed(step), [0, 0, 1, 0, 0], "S0 is unsafe when a change alters what a test reaches");
    assert_eq!(replayed["merges"]["all"]["s0"]["missed"], 1);
}

#[test]
fn a_longer_replay_goes_on_where_a_shorter_one_ended() {
    let project = branches();
    project.git(&["merge", "-q", "-m", "n8", "b1", "b2"]);
    project.git(&["tag", "n8"]);
    assert_eq!(replay(&project, &["b1"])["analysed"], json!({"commits": 3, "known": 0, "absent": 0}));
    let said = project.fewer(&["history", "replay", "n8"]).stderr;
    assert!(said.contains("3 of 8 commits were known from an earlier replay"), "{said}");
    let again = replay(&project, &["n8"]);
    assert_eq!(again["analysed"], json!({"commits": 8, "known": 8, "absent": 0}));
    assert_eq!(selected(&again["steps"][0]), [4, 3, 3, 3, 3]);
    // A part of it, whose start builds on commits outside.
    assert_eq!(replay(&project, &["n6..n7"])["analysed"], json!({"commits": 2, "known": 2, "absent": 0}));
    project.edit("fewer.toml", "tests/t4\", to = [", "tests/t4\", to = [\"src/q\", ");
    let other = replay(&project, &["n8"]);
    assert_eq!(other["analysed"]["known"], 0, "another rule, other results");
}

#[test]
fn ctrl_c_keeps_what_was_analysed() {
    let project = linear(1200, 1500);
    let child = project.start(&[], &["history", "replay", "HEAD"]);
    let log = project.file(".fewer/store.sqlite-wal");
    wait_until(|| fs::metadata(&log).is_ok_and(|log| log.len() > 200_000));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let interrupted = ended(child);
    assert_eq!((interrupted.code, interrupted.stdout.as_str()), (Some(130), ""), "{}", interrupted.stderr);
    let analysed = replay(&project, &["HEAD"])["analysed"].clone();
    let known = analysed["known"].as_u64().unwrap();
    assert!((1..1200).contains(&known), "{analysed}");
    assert_eq!(replay(&project, &["HEAD"])["analysed"]["known"], 1200);
}

/// A linear history of so many commits over so many tests; commit i changes the source of test i.
fn linear(commits: usize, tests: usize) -> Project {
    let project = repository(
        "[files]\ntests = [\"tests/*\"]\ndependencies = [{ from = \"tests/{name}\", to = [\"src/{name}\"] }]\n",
    );
    let mut stream = String::from("blob\nmark :1\ndata 1\nt\n");
    for commit in 0..commits {
        let text = format!("{commit}");
        stream.push_str(&format!(
            "commit refs/heads/main\ncommitter A <a@example.org> {} +0000\ndata 1\nc\n",
            1_000_000_000 + commit
        ));
        if commit == 0 {
            (0..tests)
                .for_each(|test| stream.push_str(&format!("M 644 :1 tests/{test}\nM 644 :1 src/{test}\n")));
        }
        let test = commit % tests;
        stream.push_str(&format!("M 644 inline src/{test}\ndata {}\n{text}\n", text.len()));
    }
    project.write(".git/stream", &stream);
    project.command("sh", &["-c", "git fast-import --quiet < .git/stream"]);
    project
}

#[test]
fn fifty_versions_give_24_histories_and_68_merges() {
    let project = linear(60, 7);
    let generated = project.fewer(&["history", "generate", "--versions", "50", "--format", "json"]).json(0);
    assert_eq!(generated["format"], "fewer-history-generate/1");
    assert_eq!((&generated["versions"], &generated["layout"]), (&json!(50), &json!("versions")));
    assert_eq!(generated["newest"], project.output("git", &["rev-parse", "main"]));
    assert_eq!(generated["oldest"], project.output("git", &["rev-parse", "main~49"]));
    let graphs = generated["graphs"].as_array().unwrap();
    assert_eq!(graphs.len(), 24);
    let merges: u64 = graphs.iter().map(|graph| graph["steps"].as_u64().unwrap()).sum();
    assert_eq!((merges, &generated["all"]["steps"]), (68, &json!(68)));
    // Version i changes test i mod 7. With branches of one commit the merge stands three versions after the
    // start: S1 selects three tests; the branches are the first and both first changes: S0 selects one, and
    // leaves out what only the merge has.
    let [first, ..] = &graphs[..] else { panic!("a graph") };
    assert_eq!((&first["branch_commits"], &first["steps"]), (&json!(1), &json!(16)));
    assert_eq!((&first["s1"]["selected"], &first["s0"]["selected"]), (&json!(48), &json!(16)));
    assert_eq!((first["s1_over_s0"]["mean"].as_f64(), &first["s0"]["missed"]), (Some(3.0), &json!(16)));
    let csv = project.fewer(&["history", "generate", "--versions", "50", "--format", "csv"]).expect(0);
    let rows = parse_csv(&csv);
    assert_eq!((rows.len(), rows[0][0].as_str(), rows[24][0].as_str()), (25, "branch_commits", "24"));
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{csv}");
    let table = project.fewer(&["history", "generate", "--versions", "50"]).expect(0);
    assert!(table.contains("24 histories, 68 merges"), "{table}");
}

#[test]
fn laid_out_changes_make_automatic_merges_at_which_s0_misses_nothing() {
    let project = linear(60, 7);
    let command = ["history", "generate", "--versions", "50", "--layout", "changes", "--format", "json"];
    let generated = project.fewer(&command).json(0);
    let graphs = generated["graphs"].as_array().unwrap();
    assert_eq!((graphs.len(), &generated["all"]["steps"]), (24, &json!(68)));
    assert_eq!(generated["all"]["s0"]["missed"], 0);
    // Up to three commits per branch no test is changed by both, from seven on every one is.
    for graph in graphs {
        let (branch, merges) = (graph["branch_commits"].as_u64().unwrap(), graph["steps"].as_u64().unwrap());
        let selected = graph["s0"]["selected"].as_u64().unwrap();
        match branch {
            1..=3 => assert_eq!(selected, 0, "{branch}"),
            7.. => assert_eq!(
                (selected, graph["s1_over_s0"]["mean"].as_f64()),
                (7 * merges, Some(1.0)),
                "{branch}"
            ),
            _ => assert!(selected > 0 && selected < 7 * merges, "{branch}: {graph}"),
        }
    }
}

#[test]
fn a_history_that_is_too_short_is_told() {
    let project = linear(10, 3);
    let said = project.fewer(&["history", "generate", "--versions", "50"]).refused(2);
    assert!(said.contains("there are only 10 versions") && said.contains("--versions 10"), "{said}");
    let said = project.fewer(&["history", "generate", "--versions", "5", "main~3..main"]).refused(2);
    assert!(said.contains("there are only 4 versions"), "{said}");
    project.fewer(&["history", "generate", "--versions", "3"]).refused(2);
}

#[test]
fn statistics_agree_with_git_and_leave_nothing_behind() {
    let project = branches();
    project.command("rm", &["fewer.toml"]);
    project.git(&["merge", "-q", "-m", "octopus", "b1", "b2"]);
    project.git(&["revert", "--no-edit", "n6"]);
    project.git(&["checkout", "-q", "-b", "side", "n7"]);
    project.git(&["cherry-pick", "-x", "n2"]);
    project.git(&["merge", "-q", "--no-commit", "-s", "ours", "b2"]);
    commit(&project, "by-hand");
    let rebased = ["commit", "-q", "--allow-empty", "-m", "rebased", "--author", "B <b@example.org>"];
    project.git(&rebased);
    let stats = project.fewer(&["history", "stats", "--format", "json"]).json(0);
    let git = |arguments: &[&str]| -> u64 { project.output("git", arguments).parse().unwrap() };
    assert_eq!(stats["format"], "fewer-history-stats/1");
    assert_eq!(stats["commits"], git(&["rev-list", "--count", "--all"]));
    assert_eq!(stats["merges"], git(&["rev-list", "--count", "--merges", "--all"]));
    assert_eq!(stats["main"]["commits"], git(&["rev-list", "--count", "--first-parent", "main"]));
    assert_eq!(stats["main"]["merges"], git(&["rev-list", "--count", "--first-parent", "--merges", "main"]));
    let counts =
        ["authors", "rebases", "cherry_picks", "reverts"].map(|field| stats[field].as_u64().unwrap());
    assert_eq!(counts, [2, 1, 1, 1]);
    assert_eq!(stats["operations_share"].as_f64(), Some(5.0 / stats["commits"].as_f64().unwrap()));
    assert_eq!(stats["auto_merges"], json!({"automatic": 1, "manual": 1, "impossible": 0, "share": 0.5}));
    assert!(!project.file(".fewer").exists());
    let csv = parse_csv(&project.fewer(&["history", "stats", "--format", "csv"]).expect(0));
    let column = |name: &str| csv[0].iter().position(|known| known == name).unwrap();
    assert_eq!((csv.len(), csv[0].len(), csv[1].len()), (2, 16, 16));
    assert_eq!(csv[1][column("merges")], "2");
    let range =
        project.fewer(&["history", "stats", "n1..n7", "--no-auto-merges", "--format", "json"]).json(0);
    assert_eq!(
        (&range["commits"], &range["merges"], &range["auto_merges"]),
        (&json!(2), &json!(0), &Value::Null)
    );
    let table = project.fewer(&["history", "stats"]).expect(0);
    assert!(table.contains("auto merges / merges") && table.contains("50.0 %"), "{table}");
}

#[test]
fn a_replay_as_csv_has_a_line_per_step() {
    let project = branches();
    project.git(&["merge", "-q", "-m", "n8", "b1", "b2"]);
    project.git(&["revert", "--no-edit", "n7"]);
    let rows = parse_csv(&project.fewer(&["history", "replay", "HEAD", "--format", "csv"]).expect(0));
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| row.len() == 22), "{rows:?}");
    let column = |name: &str| rows[0].iter().position(|known| known == name).unwrap();
    let cells = |row: usize| {
        ["kind", "s1", "sk", "s0", "s_star", "predict"].map(|name| rows[row][column(name)].as_str())
    };
    assert_eq!(cells(1), ["merge", "4", "3", "3", "3", "3"]);
    assert_eq!(cells(2), ["revert", "1", "", "1", "0", "0"], "the merge affected t3 as seen from b1");
}

#[test]
fn graphs_can_come_from_documents() {
    let project = branches();
    project.git(&["merge", "-q", "-m", "n8", "b1", "b2"]);
    project.command("rm", &["fewer.toml"]);
    let graphs = project.file("graphs");
    for commit in project.output("git", &["rev-list", "HEAD"]).lines() {
        write_graph(&project, &graphs, commit);
    }
    let arguments = ["HEAD", "--graphs", graphs.to_str().unwrap()];
    let replayed = replay(&project, &arguments);
    assert_eq!((&replayed["analyser"], selected(&replayed["steps"][0])), (&json!("graphs"), [4, 3, 3, 3, 3]));
    assert_eq!(replay(&project, &arguments)["analysed"]["known"], 8);
    let missing = project.output("git", &["rev-parse", "n2"]);
    fs::remove_file(graphs.join(format!("{missing}.json"))).unwrap();
    let replayed = replay(&project, &arguments);
    assert_eq!(
        replayed["analysed"],
        json!({"commits": 8, "known": 6, "absent": 1}),
        "n3 was kept as what it changed in n2"
    );
    let step = &replayed["steps"][0];
    assert_eq!((selected(step), &step["s0"]["has_gaps"]), ([4, 3, 4, 3, 3], &json!(true)));
    fs::write(graphs.join(format!("{missing}.json")), "{\"format\": \"fewer-graph/9\"}").unwrap();
    let said = project.fewer(&["history", "replay", "HEAD", "--graphs", "graphs"]).refused(2);
    assert!(said.contains(&missing) && said.contains("'fewer-graph/9'"), "{said}");
}

/// The tests and methods of a commit as `fewer-graph/1`.
fn write_graph(project: &Project, graphs: &Path, commit: &str) {
    let listing = project.output("git", &["ls-tree", "-r", commit]);
    let elements: Vec<Value> = listing
        .lines()
        .filter(|line| !line.ends_with("fewer.toml"))
        .map(|line| {
            let (description, path) = line.split_once('\t').unwrap();
            let references = match path {
                "tests/t1" => vec!["src/m"],
                "tests/t2" => vec!["src/p"],
                "tests/t3" => vec!["src/q"],
                "tests/t4" => vec!["src/m", "src/p"],
                _ => vec![],
            };
            json!({"name": path, "content": description, "references": references, "inputs": [path]})
        })
        .collect();
    let tests: Vec<Value> = (1..=4)
        .map(|test| json!({"id": format!("T::t{test}"), "roots": [format!("tests/t{test}")]}))
        .collect();
    let document = json!({"format": "fewer-graph/1", "elements": elements, "tests": tests});
    fs::create_dir_all(graphs).unwrap();
    fs::write(graphs.join(format!("{commit}.json")), document.to_string()).unwrap();
}

#[test]
fn recorded_states_are_replayed_without_a_rule() {
    let project = Project::of_tree(&manifest_directory().join("tests/command/worked_example"));
    project.git(&["init", "-q", "-b", "main"]);
    let run = || {
        project.make();
        project.fewer(&["run"]).expect(0);
    };
    let record = |name: &str| {
        commit(&project, name);
        run();
    };
    record("n1");
    project.git(&["checkout", "-q", "-b", "b1"]);
    project.edit("src/m.cpp", "int first = ", "int first = 10 + ");
    record("n2");
    project.git(&["checkout", "-q", "main"]);
    project.edit("src/p.cpp", "int first = ", "int first = 10 + ");
    record("n3");
    project.git(&["merge", "-q", "-m", "n4", "b1"]);
    let unknown = replay(&project, &["HEAD", "--analyser", "recorded"]);
    assert_eq!((&unknown["steps"], &unknown["left_out"]["not_recorded"]), (&json!([]), &json!(1)));
    run();
    let replayed = replay(&project, &["HEAD", "--analyser", "recorded"]);
    let step = &replayed["steps"][0];
    assert_eq!((selected(step), missed(step)), ([3, 1, 1, 1, 1], [0; 5]));
    assert_eq!((&replayed["analyser"], &replayed["analysed"]), (&json!("recorded"), &Value::Null));
}

#[test]
fn a_project_below_the_top_of_its_repository_has_its_own_paths() {
    let project = Project::empty();
    project.git(&["init", "-q", "-b", "main"]);
    project.write("part/fewer.toml", "[files]\ntests = [\"t*\"]\n");
    project.write("part/t1", "1");
    project.write("t2", "not of the part");
    commit(&project, "n1");
    project.git(&["checkout", "-q", "-b", "side"]);
    project.write("part/t1", "2");
    commit(&project, "n2");
    project.git(&["checkout", "-q", "main"]);
    project.write("t2", "3");
    commit(&project, "n3");
    project.git(&["merge", "-q", "-m", "n4", "side"]);
    let replayed = project.fewer(&["-C", "part", "history", "replay", "HEAD", "--format", "json"]).json(0);
    let step = &replayed["steps"][0];
    assert_eq!((&step["available"], selected(step)), (&json!(1), [1, 0, 0, 0, 0]));
}

#[test]
fn steps_whose_branches_part_before_the_range_are_counted_not_judged() {
    let project = branches();
    project.git(&["merge", "-q", "-m", "n8", "b1", "b2"]);
    let replayed = replay(&project, &["n6..HEAD"]);
    assert_eq!((&replayed["steps"], &replayed["left_out"]["before_range"]), (&json!([]), &json!(1)));
    let ended = project.fewer(&["history", "replay", "n6..HEAD"]);
    assert!(
        ended.stderr.contains("not judged: 1 because their branches part before the range begins"),
        "{}",
        ended.stderr
    );
    assert_eq!(ended.stdout, "no merge, cherry-pick or revert to judge\n");
    assert_eq!(selected(&replay(&project, &["n1..HEAD"])["steps"][0]), [4, 3, 3, 3, 3], "the start counts");
}

#[test]
fn what_is_missing_is_told_with_what_to_do() {
    let project = linear(5, 1);
    for (arguments, words) in [
        (&["history", "replay", "nowhere"][..], &["`nowhere`", "git log --all"][..]),
        (&["history", "replay", "HEAD...main"], &["no range of the form A..B"]),
        (&["history", "replay", "HEAD", "--graphs", "no-such"], &["no-such is not a directory"]),
    ] {
        let said = project.fewer(arguments).refused(2);
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    }
    project.write("fewer.toml", "");
    let said = project.fewer(&["history", "replay", "HEAD"]).refused(2);
    assert!(said.contains("no table [files]") && said.contains("--graphs DIR"), "{said}");
    let shallow = Project::empty();
    let origin = format!("file://{}", project.path().display());
    shallow.command("git", &["clone", "-q", "--depth", "2", &origin, "clone"]);
    shallow.write("clone/fewer.toml", "[files]\ntests = [\"tests/*\"]\n");
    let said = shallow.fewer(&["-C", "clone", "history", "replay", "HEAD"]).refused(2);
    assert!(said.contains("shallow clone") && said.contains("git fetch --unshallow"), "{said}");
    let said = Project::empty().fewer(&["history", "stats"]).refused(2);
    assert!(said.contains("is in no git repository"), "{said}");
}

/// Cells of lines; the files here have no line breaks inside of cells.
fn parse_csv(text: &str) -> Vec<Vec<String>> {
    text.lines().map(|line| line.split(',').map(str::to_string).collect()).collect()
}
