//! Edits of the generated project, one source file each: what they change, and how many programs have to be linked
//! again. Making them and measuring what follows is not done here.

use crate::generate::Project;

/// One edited source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Example: `source/base/planner.cpp`.
    pub path: String,
    pub text: String,
    /// How many programs hold the object that is made of it.
    pub programs: usize,
}

impl Edit {
    /// An edit of the file: of a constant that a function uses, or of a test, which gets one more statement.
    /// `None` if the file has neither.
    pub fn of(project: &Project, path: &str) -> Option<Edit> {
        let before = project.files.get(path)?;
        let text = match before.contains(REVISION) {
            true => before.replace(REVISION, "kRevision = 2"),
            false => with_statement(before)?,
        };
        Some(Edit { path: path.to_string(), text, programs: programs(project, path)? })
    }

    /// Of every source file that can be edited, in the order of their paths.
    pub fn all(project: &Project) -> Vec<Edit> {
        let sources = project.files.keys().filter(|path| path.ends_with(".cpp"));
        sources.filter_map(|path| Edit::of(project, path)).collect()
    }

    /// The first of those in about half of the programs.
    pub fn of_middle_library(project: &Project) -> Option<Edit> {
        let half = project.links.len() / 2;
        Edit::all(project).into_iter().min_by_key(|edit| edit.programs.abs_diff(half))
    }

    /// The first of a file with tests.
    pub fn of_test(project: &Project) -> Option<Edit> {
        Edit::all(project).into_iter().find(|edit| edit.path.starts_with(TESTS))
    }

    /// That many of all, evenly spread: always the same.
    pub fn sample(project: &Project, count: usize) -> Vec<Edit> {
        let all = Edit::all(project);
        let place = |index: usize| (2 * index + 1) * all.len() / (2 * count);
        (0..count).filter_map(|index| all.get(place(index)).cloned()).collect()
    }
}

const REVISION: &str = "kRevision = 1";
const TESTS: &str = "source/tests/";

/// The text with a statement more in its first test.
fn with_statement(text: &str) -> Option<String> {
    let mut lines: Vec<&str> = text.lines().collect();
    let test = lines.iter().position(|line| line.starts_with("TEST") && line.ends_with('{'))?;
    lines.insert(test + 1, "  EXPECT_NE(std::string(\"edited\"), \"\");");
    Some(lines.join("\n") + "\n")
}

/// How many programs are linked with the object of a source file, or with the library that holds it.
fn programs(project: &Project, path: &str) -> Option<usize> {
    let input = match path.strip_prefix(TESTS) {
        Some(test) => format!("obj/tests/{}.o", test.strip_suffix(".cpp")?),
        None => format!("lib/lib{}.a", path.split('/').nth(1)?),
    };
    Some(project.links.iter().filter(|link| link.arguments.contains(&input)).count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Parameters;

    #[test]
    fn every_edit_changes_its_file_and_an_object_of_some_program() {
        let project = Project::generate(&Parameters::default());
        let edits = Edit::all(&project);
        assert!(edits.len() >= 290, "{}", edits.len());
        for edit in &edits {
            assert_ne!(project.files[&edit.path], edit.text, "{}", edit.path);
            assert!((1..=24).contains(&edit.programs), "{edit:?}");
        }
    }

    #[test]
    fn the_edits_measured_are_of_objects_in_all_in_half_and_in_one_of_the_programs() {
        let project = Project::generate(&Parameters::default());
        let lowest = Edit::of(&project, &project.edit.0).unwrap();
        assert_eq!((lowest.programs, &lowest.text), (24, &project.edit.1));
        assert!((8..=16).contains(&Edit::of_middle_library(&project).unwrap().programs));
        assert_eq!(Edit::of_test(&project).unwrap().programs, 1);
    }

    #[test]
    fn a_sample_is_spread_over_libraries_and_tests() {
        let project = Project::generate(&Parameters::default());
        let sample = Edit::sample(&project, 9);
        let mut directories: Vec<&str> =
            sample.iter().filter_map(|edit| edit.path.split('/').nth(1)).collect();
        directories.dedup();
        assert_eq!(sample.len(), 9);
        assert!(directories.len() >= 7 && directories.contains(&"tests"), "{directories:?}");
    }
}
