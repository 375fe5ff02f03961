//! The generated project itself: the same text every time, as large as promised, and a small one of its kind
//! built by the real tools, with tests that pass.

use std::process::Command;

use fewer_bench::cache::Built;
use fewer_bench::generate::{Parameters, Project};
use fewer_bench::link;

fn small() -> Parameters {
    Parameters {
        libraries: 2,
        units_per_library: 7,
        executables_per_library: 1,
        test_units_per_executable: 2,
        flags: "-O0 -ffunction-sections -fdata-sections".to_string(),
        ..Parameters::default()
    }
}

#[test]
fn the_same_parameters_give_the_same_text() {
    let (one, two) = (Project::generate(&Parameters::default()), Project::generate(&Parameters::default()));
    assert_eq!(one.files, two.files);
    let other = Project::generate(&Parameters { seed: 3, ..Parameters::default() });
    assert_ne!(one.files, other.files);
}

#[test]
fn the_project_is_as_large_as_the_benchmark_promises() {
    let project = Project::generate(&Parameters::default());
    assert!(project.translation_units >= 300, "{}", project.translation_units);
    assert!(project.tests >= 2000, "{}", project.tests);
    assert_eq!(project.links.len(), 24);
}

#[test]
fn a_small_project_builds_links_and_passes_its_tests() {
    let cache = tempfile::tempdir().unwrap();
    let built = Built::below(cache.path(), Project::generate(&small())).unwrap();
    assert_eq!(built.listed_tests().unwrap(), built.project.tests);
    for link in &built.project.links {
        let tests = Command::new(built.build_directory().join(&link.executable)).output().unwrap();
        assert!(tests.status.success(), "{}", String::from_utf8_lossy(&tests.stdout));
    }
    assert!(link::all(&built).unwrap() > std::time::Duration::ZERO);
    an_edit_changes_one_object_for_its_duration(&built);
}

fn an_edit_changes_one_object_for_its_duration(built: &Built) {
    let objects = || {
        let archive = built.build_directory().join("lib/libbase.a");
        std::fs::read(archive).unwrap()
    };
    let before = objects();
    let during = built.while_edited(|| Ok(objects())).unwrap();
    assert_ne!(before, during);
    assert_eq!(before, objects());
}
