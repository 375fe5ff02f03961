//! Rust's tests that leave, lie, crash, hang, or need what only cargo gives them.

use super::Row;
use crate::rust_run::OWN;
use crate::workshop::Project;

const MANIFEST: &str = "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
const C: &str = "extern \"C\" {\n    fn _exit(code: i32) -> !;\n    fn atexit(f: extern \"C\" fn()) -> i32;\n    fn close(fd: i32) -> i32;\n\
                 \x20   fn fork() -> i32;\n    fn write(fd: i32, text: *const u8, length: usize) -> isize;\n}\n";

/// A package `p` of these files, tested by `cargo test` and by fewer itself.
fn package(files: &[(&str, &str)]) -> Row {
    with_arguments(files, &[])
}

/// The same, with arguments for `cargo test`, which fewer has from its settings.
fn with_arguments(files: &[(&str, &str)], arguments: &[&str]) -> Row {
    with_settings(files, arguments, "runner = \"cargo\"\n")
}

fn with_settings(files: &[(&str, &str)], arguments: &[&str], settings: &str) -> Row {
    let project = Project::empty();
    project.write(".gitignore", "/target\n");
    project.write("Cargo.toml", MANIFEST);
    project.write("src/lib.rs", "");
    let words = format!("{:?}", [&["--offline"], arguments].concat());
    project.write("fewer.toml", &format!("[cargo]\narguments = {words}\n{settings}"));
    for (path, text) in files {
        project.write(path, text);
    }
    project.commit_all();
    let row = Row::new(project, &[&[env!("CARGO"), "test", "--offline"], arguments].concat()).patience(120);
    OWN.iter().fold(row, |row, (name, value)| row.variable(name, value))
}

fn library(text: &str) -> Row {
    package(&[("src/lib.rs", &format!("#![allow(dead_code)]\n{C}{text}"))])
}

#[test]
fn a_test_that_leaves_with_code_0_in_any_way_has_not_passed() {
    library(
        "#[test] fn by_exit() { std::process::exit(0); }
         #[test] fn in_a_thread() { std::thread::spawn(|| std::process::exit(0)).join().unwrap(); }
         #[test] fn past_the_handlers() { unsafe { _exit(0) } }
         #[test] fn stays() {}",
    )
    .stays_red(&["p::by_exit", "p::in_a_thread", "p::past_the_handlers"]);
}

#[test]
fn a_test_that_prints_the_lines_of_a_pass_and_leaves_has_not_passed() {
    library(
        "#[test] fn forges() {
             let text = \"test forges ... ok\\nok forges\\n\\ntest result: ok. 1 passed; 0 failed; 0 ignored\\n\";
             println!(\"{text}\");
             unsafe { write(1, text.as_ptr(), text.len()); }
             std::process::exit(0);
         }",
    )
    .stays_red(&["p::forges"]);
}

#[test]
fn a_forked_child_that_returns_from_the_test_does_not_pass_it() {
    library(
        "#[test] fn forks() {
             if unsafe { fork() } > 0 {
                 std::thread::sleep(std::time::Duration::from_millis(300));
                 std::process::exit(0);
             }
         }",
    )
    .stays_red(&["p::forks"]);
}

#[test]
fn a_forked_child_that_ends_by_itself_is_no_failure() {
    library("#[test] fn forks() { if unsafe { fork() } == 0 { unsafe { _exit(3) } } }")
        .is_green(&["p::forks"]);
}

#[test]
fn a_test_that_aborts_or_overflows_its_stack_is_red() {
    library(
        "#[test] fn aborts() { std::process::abort(); }
         #[test] fn aborts_in_a_thread() { std::thread::spawn(|| std::process::abort()).join().unwrap(); }
         fn deep(n: u64) -> u64 { let kept = [n; 512]; if n == u64::MAX { 0 } else { deep(n + 1) + kept[(n % 512) as usize] } }
         #[test] fn overflows() { assert_eq!(std::hint::black_box(deep(1)), 0); }
         #[test] fn good() {}",
    )
    .is_red(&["p::aborts", "p::aborts_in_a_thread", "p::overflows"]);
}

#[test]
fn an_exit_code_of_1_after_the_last_test_is_red() {
    library(
        "extern \"C\" fn leak() { unsafe { _exit(1) } }\n#[test] fn leaks() { unsafe { atexit(leak); } }",
    )
    .is_red(&["p::leaks"]);
}

#[test]
fn a_panic_in_a_thread_that_nobody_waits_for_is_no_failure() {
    library(
        "#[test] fn a() { std::thread::spawn(|| panic!()); }
         #[test] fn b() { std::thread::sleep(std::time::Duration::from_millis(50)); }",
    )
    .is_green(&["p::a", "p::b"]);
}

#[test]
fn an_error_and_a_panic_that_does_not_come_are_red() {
    library(
        "#[test] #[should_panic] fn stays_calm() {}
         #[test] #[should_panic(expected = \"one\")] fn says_another() { panic!(\"two\\nok says_another\") }
         #[test] fn returns_an_error() -> Result<(), String> { Err(\"no\".into()) }",
    )
    .is_red(&["p::stays_calm", "p::says_another", "p::returns_an_error"]);
}

#[test]
fn a_test_that_is_ignored_does_not_fail() {
    library("#[test] #[ignore = \"why\"] fn broken() { panic!() }\n#[test] fn good() {}")
        .is_green(&["p::good"]);
}

#[test]
fn a_test_that_closes_its_output_passes() {
    library("#[test] fn closes() { unsafe { close(1); close(2); } }").is_green(&["p::closes"]);
}

#[test]
fn a_test_that_floods_its_output_or_removes_temporary_files_passes() {
    library(
        "#[test] fn floods() { let bytes = [0xff, b'\\n', 0xfe, 0]; for _ in 0..20000 { unsafe { write(1, bytes.as_ptr(), 4); } } }
         #[test] fn cleans_up() {
             for word in std::env::args().filter(|word| word.contains(\"fewer-libtest\")) {
                 std::fs::remove_dir_all(std::path::Path::new(&word).parent().unwrap()).unwrap();
             }
         }",
    )
    .is_green(&["p::floods", "p::cleans_up"]);
}

#[test]
fn what_is_printed_before_the_harness_begins_hides_no_test() {
    library(
        "extern \"C\" fn early() { println!(\"early: test\"); }
         #[used] #[link_section = \".init_array\"] static EARLY: extern \"C\" fn() = early;
         #[test] fn leaves() { std::process::exit(0); }
         #[test] fn good() {}",
    )
    .stays_red(&["p::leaves", "p::*"]);
}

#[test]
fn bytes_that_are_no_text_do_not_hide_a_failure() {
    library("#[test] fn fails() { let bytes = [0xff, 0xfe, 0]; unsafe { write(1, bytes.as_ptr(), 3); } panic!() }")
        .is_red(&["p::fails"]);
}

#[test]
fn a_test_that_hangs_is_red() {
    library(
        "#[test] fn hangs() { std::thread::sleep(std::time::Duration::from_secs(7)); panic!() }
         #[test] fn good() {}",
    )
    .is_red(&["p::hangs"]);
}

#[test]
fn of_equal_names_in_several_targets_the_one_that_fails_is_red() {
    let row = package(&[
        ("src/lib.rs", "#[test] fn same() {}"),
        ("src/main.rs", "fn main() {}\n#[test] fn same() {}"),
        ("tests/p.rs", "#[test] fn same() { panic!() }"),
    ]);
    row.is_red(&["p/p::same"]);
    assert_eq!(super::found(&row.run().1, "p/bin/p::same")[0].0, "reuse");
}

/// A harness that lists tests as Rust's does, whatever else it is asked.
const LISTS_ALWAYS: &str = "fn main() {
    if std::env::args().any(|word| word == \"--list\") { return println!(\"one: test\\ntwo: test\"); }
    std::process::exit(CODE)
}";

const OWN_MAIN: &str = "[[test]]\nname = \"own\"\nharness = false\n";

fn own_main(text: &str) -> Row {
    package(&[("Cargo.toml", &format!("{MANIFEST}{OWN_MAIN}")), ("tests/own.rs", text)])
}

#[test]
fn a_harness_that_does_not_know_ignored_tests_is_one_test_which_fails() {
    own_main(&LISTS_ALWAYS.replace("CODE", "1")).is_red(&["p/own::one", "p/own::two", "p/own::*"]);
}

#[test]
fn a_harness_that_does_not_know_ignored_tests_is_one_test_which_passes() {
    own_main(&LISTS_ALWAYS.replace("CODE", "0")).is_green(&["p/own::*"]);
}

#[test]
fn a_main_function_that_looks_at_no_argument_is_judged_by_its_exit_code() {
    own_main("fn main() { panic!() }").is_red(&["p/own::*"]);
    own_main("fn main() { println!(\"test x ... FAILED\") }").is_green(&["p/own::*"]);
}

#[test]
fn documentation_that_fails_or_compiles_against_its_word_is_red() {
    package(&[("src/lib.rs", "/// ```\n/// assert_eq!(1, 2);\n/// ```\npub fn a() {}\n")])
        .is_red(&["p/doc::*"]);
    package(&[("src/lib.rs", "/// ```compile_fail\n/// let one = 1;\n/// ```\npub fn a() {}\n")])
        .is_red(&["p/doc::*"]);
}

const BROKEN_DOCUMENTATION: &str = "/// ```\n/// assert_eq!(1, 2);\n/// ```\npub fn documented() {}\n";

#[test]
fn targets_that_the_arguments_leave_out_are_left_out() {
    let files = [
        ("src/lib.rs", &*format!("{BROKEN_DOCUMENTATION}#[test] fn fine() {{}}\n")),
        ("tests/broken.rs", "#[test] fn fails() { panic!() }"),
    ];
    with_arguments(&files, &["--lib"]).is_green(&["p::fine"]);
}

#[test]
fn what_stands_behind_two_dashes_holds_for_documentation_too() {
    let library = format!(
        "{BROKEN_DOCUMENTATION}#[test] fn documented_elsewhere() {{ panic!() }}\n#[test] fn fine() {{}}\n"
    );
    with_arguments(&[("src/lib.rs", &*library)], &["--", "--skip", "documented", "--test-threads=1"])
        .is_green(&["p::fine"]);
    let ignored = "/// ```ignore\n/// assert_eq!(1, 2);\n/// ```\npub fn documented() {}\n#[test] #[ignore] fn broken() { panic!() }\n";
    with_arguments(&[("src/lib.rs", ignored)], &["--", "--include-ignored"])
        .is_red(&["p::broken", "p/doc::*"]);
}

#[test]
fn packages_that_the_arguments_leave_out_are_left_out() {
    let member = |name: &str| MANIFEST.replace("\"p\"", &format!("\"{name}\""));
    let files = [
        ("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\"]\nresolver = \"2\"\n"),
        ("a/Cargo.toml", &*format!("{}[features]\nloud = []\n", member("a"))),
        (
            "a/src/lib.rs",
            "/// ```\n/// a::is_loud();\n/// ```\n#[cfg(feature = \"loud\")]\npub fn is_loud() {}\n#[test] fn fine() { is_loud() }\n",
        ),
        ("b/Cargo.toml", &*member("b")),
        ("b/src/lib.rs", &*format!("{BROKEN_DOCUMENTATION}#[test] fn fails() {{ panic!() }}\n")),
    ];
    with_arguments(&files, &["--workspace", "--exclude", "b", "--features", "loud"])
        .is_green(&["a::fine", "a/doc::*"]);
}

#[test]
fn targets_that_are_tests_by_their_manifest_are_run_and_others_are_not() {
    let manifest =
        format!("{MANIFEST}[lib]\ntest = false\ndoctest = false\n[[example]]\nname = \"e\"\ntest = true\n");
    let library = format!("{BROKEN_DOCUMENTATION}#[test] fn fails() {{ panic!() }}\n");
    let files = |body: &str| format!("fn main() {{}}\n#[test] fn shown() {{ {body} }}\n");
    package(&[("Cargo.toml", &*manifest), ("src/lib.rs", &*library), ("examples/e.rs", &files(""))])
        .is_green(&["p/example/e::shown"]);
    package(&[("Cargo.toml", &*manifest), ("src/lib.rs", &*library), ("examples/e.rs", &files("panic!()"))])
        .is_red(&["p/example/e::shown"]);
}

#[test]
fn variables_and_runners_of_cargos_configuration_are_there() {
    let configuration = "[env]\nGREETING = \"hello\"\nDATA = { value = \"data.txt\", relative = true }\n\
                         [target.'cfg(unix)']\nrunner = [\"sh\", \"run it.sh\"]\n";
    let library = "#[test] fn greets() { assert_eq!(std::env::var(\"GREETING\").unwrap(), \"hello\"); }
         #[test] fn reads() { assert!(std::fs::read_to_string(std::env::var(\"DATA\").unwrap()).is_ok()); }
         #[test] fn is_prepared() { assert_eq!(std::env::var(\"PREPARED\").unwrap(), \"yes\"); }";
    let row = package(&[
        (".cargo/config.toml", configuration),
        ("run it.sh", "PREPARED=yes exec \"$@\"\n"),
        ("data.txt", "1\n"),
        ("src/lib.rs", library),
    ]);
    row.is_green(&["p::greets", "p::reads", "p::is_prepared"]);
    row.project.write("run it.sh", "PREPARED=no exec \"$@\"\n");
    row.is_red(&["p::is_prepared"]);
}

/// `b` needs what `a` leaves in a static.
const SHARED: &str = "use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    static IS_READY: AtomicBool = AtomicBool::new(false);
    #[test] fn a() { IS_READY.store(true, SeqCst); }
    #[test] fn b() {
        let is_ready = (0..100).any(|_| { std::thread::sleep(std::time::Duration::from_millis(5)); IS_READY.load(SeqCst) });
        assert!(is_ready);
    }
    #[test] fn c() {}\n";

#[test]
fn tests_that_need_each_other_in_one_process_pass_as_under_cargo_with_a_note() {
    let row = package(&[("src/lib.rs", SHARED)]);
    let (_, _, shown) = row.run();
    assert!(shown.contains("processes = \"program\""), "{shown}");
    row.is_green(&["p::a", "p::b", "p::c"]);
    row.project.write("src/lib.rs", &format!("{SHARED}#[test] fn d() {{ panic!() }}\n"));
    row.is_red(&["p::d"]);
    assert_eq!(super::found(&row.run().1, "p::b")[0].0, "reuse");
}

#[test]
fn each_test_has_a_process_of_its_own_where_the_settings_say_so() {
    with_settings(&[("src/lib.rs", SHARED)], &[], "runner = \"cargo\"\nprocesses = \"test\"\n")
        .stays_red(&["p::b"]);
}

/// What one test does to a static is no part of what the other one reaches, and each has a process of its own.
#[test]
fn limit_a_test_that_fails_only_beside_another_one_is_not_selected_by_an_edit_of_that() {
    let library = |added: u32| {
        format!(
            "use std::sync::atomic::{{AtomicU32, Ordering::SeqCst}};
             static COUNT: AtomicU32 = AtomicU32::new(0);
             pub fn add(n: u32) -> u32 {{ COUNT.fetch_add(n, SeqCst) + n }}
             #[test] fn a() {{ add({added}); }}
             #[test] fn b() {{ std::thread::sleep(std::time::Duration::from_millis(300)); assert_eq!(add(1), 1); }}"
        )
    };
    let row = package(&[("src/lib.rs", &library(0))]);
    row.is_green(&["p::a", "p::b"]);
    row.project.write("src/lib.rs", &library(1));
    assert!(!row.own_runner_is_green());
    let (code, document, shown) = row.run();
    assert_eq!(code, Some(0), "{shown}");
    assert_eq!(super::found(&document, "p::b")[0].0, "reuse", "{shown}");
}

/// The whole program that a failure is confirmed with does not hold the test that would have written the file.
#[test]
fn limit_a_test_that_needs_a_file_of_another_program_fails_when_only_it_is_selected() {
    let reads = |limit: u32| {
        format!(
            "#[test] fn reads() {{ let limit = {limit}; assert_eq!(std::fs::read_to_string(\"target/x\").unwrap_or_default(), \"1\", \"{{limit}}\"); }}"
        )
    };
    let writes = "#[test] fn writes() { std::fs::write(\"target/x\", \"1\").unwrap(); }";
    let row = package(&[("tests/a.rs", writes), ("tests/b.rs", &reads(5))]);
    assert!(row.own_runner_is_green());
    row.is_green(&["a::writes", "b::reads"]);
    std::fs::remove_file(row.project.file("target/x")).unwrap();
    row.project.write("tests/b.rs", &reads(6));
    let (code, document, shown) = row.run();
    assert_eq!(code, Some(1), "{shown}");
    assert_eq!(super::found(&document, "a::writes")[0].0, "reuse", "{shown}");
}

#[test]
fn in_a_process_for_the_whole_program_the_one_that_ends_it_is_found() {
    let library = format!(
        "{SHARED}#[test] fn aborts() {{ std::process::abort() }}
         #[test] fn fails() {{ panic!(\"for a reason\") }}
         #[test] fn leaves() {{ std::process::exit(0) }}"
    );
    let row = with_settings(&[("src/lib.rs", &*library)], &[], "processes = \"program\"\n");
    row.stays_red(&["p::aborts", "p::fails", "p::leaves"]);
    let (_, document, shown) = row.run();
    assert!(
        ["p::a", "p::b", "p::c"].iter().all(|test| super::found(&document, test)[0].0 == "reuse"),
        "{shown}"
    );
    assert!(shown.contains("for a reason"), "{shown}");
}

#[test]
fn a_thread_that_an_earlier_test_left_is_red_in_a_process_for_the_whole_program() {
    let library = "#[test] fn a() { std::thread::spawn(|| { std::thread::sleep(std::time::Duration::from_millis(200)); std::process::abort() }); }
         #[test] fn b() { std::thread::sleep(std::time::Duration::from_millis(600)); }";
    with_settings(&[("src/lib.rs", library)], &[], "processes = \"program\"\n").is_red(&["p::a", "p::b"]);
}

#[test]
fn with_nextest_a_test_that_leaves_with_code_0_has_not_passed() {
    let library = format!(
        "#![allow(dead_code)]\n{C}#[test] fn by_exit() {{ println!(\"test by_exit ... ok\\n\\ntest result: ok. 1 passed; 0 failed\"); std::process::exit(0); }}
         #[test] fn past_the_handlers() {{ unsafe {{ _exit(0) }} }}
         #[test] fn is_prepared() {{ assert_eq!(std::env::var(\"PREPARED\").unwrap(), \"yes\"); }}
         #[test] #[ignore] fn is_ignored() {{}}
         #[test] fn stays() {{ assert_eq!(std::env::var(\"NEXTEST\").as_deref(), Ok(\"1\")); }}"
    );
    let files = [
        ("src/lib.rs", &*library),
        ("run.sh", "PREPARED=yes exec \"$@\"\n"),
        (".cargo/config.toml", "[target.x86_64-unknown-linux-gnu]\nrunner = \"sh run.sh\"\n"),
    ];
    let path =
        format!("{}:{}", crate::rust_nextest::nextest_directory().display(), std::env::var("PATH").unwrap());
    let arguments = ["--", "--include-ignored"];
    let row = with_settings(&files, &arguments, "runner = \"nextest\"\n").variable("PATH", &path);
    row.stays_red(&["p::by_exit", "p::past_the_handlers"]);
    let (_, document, shown) = row.run();
    for test in ["p::is_prepared", "p::stays", "p::is_ignored"] {
        assert_eq!(super::found(&document, test)[0].0, "reuse", "{test}\n{shown}");
    }
}

#[test]
fn with_nextest_tests_that_need_each_other_pass_as_under_cargo() {
    let path =
        format!("{}:{}", crate::rust_nextest::nextest_directory().display(), std::env::var("PATH").unwrap());
    let row = with_settings(&[("src/lib.rs", SHARED)], &[], "").variable("PATH", &path);
    row.is_green(&["p::a", "p::b", "p::c"]);
}
