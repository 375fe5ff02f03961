//! The bundled example, built by its own Makefile: a bigger project with all kinds of tests.

use crate::workshop::{Project, lines, manifest_directory};

#[test]
fn the_example_runs_once_and_a_fix_selects_a_few_of_its_tests() {
    let project = Project::of_tree(&manifest_directory().join("../../examples/cpp"));
    project.write(".gitignore", "/build-make/\n");
    project.write("fewer.toml", "build-directory = \"build-make\"\n");
    project.commit_all();
    project.make();
    let first = project.fewer(&["run"]).expect(0);
    assert!(first.starts_with("67 ran (66 passed, 1 skipped), 0 reused, 1 left out (disabled)"), "{first}");
    let skipped = project.selected();
    assert_eq!(skipped.len(), 1, "{skipped:?}");
    project.git(&["apply", "history/02-refuse-integers-without-digits.patch"]);
    project.make();
    let selected = project.selected();
    assert!(selected.iter().any(|test| test.contains("RadixTest.ReadsIntegers")), "{selected:?}");
    assert!(selected.len() <= 4, "{selected:?}");
    project.fewer(&["run"]).expect(0);
    project.git(&["stash", "-q"]);
    project.make();
    assert_eq!(project.selected(), skipped);
    let affected = lines(&project.fewer(&["affected", "src/radix.cpp"]).expect(0));
    assert!(!affected.is_empty() && affected.len() < 20, "{affected:?}");
}
