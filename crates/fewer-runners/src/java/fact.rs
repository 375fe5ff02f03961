//! What a build tool tells while it works, one line of JSON per fact. The tellers are `FewerSpy.java` for Maven and
//! `fewer.init.gradle` for Gradle.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(crate) enum Fact {
    /// The tool began, with these modules.
    Session {
        modules: Vec<PathBuf>,
        java_home: PathBuf,
        java: String,
        #[serde(default)]
        not_run: Vec<String>,
    },
    Module(ModuleFact),
    /// Running the tests of a module began or ended.
    Tests {
        end: GoalEnd,
        directory: PathBuf,
        goal: String,
        reports: PathBuf,
        message: String,
        /// What the build says that keeps single classes from being left out. Example: `suiteXmlFiles`.
        #[serde(default)]
        whole: String,
    },
    /// Something else failed.
    Goal {
        end: GoalEnd,
        directory: PathBuf,
        goal: String,
        message: String,
    },
    /// The teller itself has trouble.
    Problem {
        what: String,
    },
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct ModuleFact {
    pub(crate) directory: PathBuf,
    pub(crate) build: PathBuf,
    pub(crate) classes: Vec<PathBuf>,
    pub(crate) test_classes: Vec<PathBuf>,
    pub(crate) sources: Vec<PathBuf>,
    pub(crate) resources: Vec<PathBuf>,
    pub(crate) dependencies: Vec<DependencyFact>,
    #[serde(default)]
    pub(crate) task: String,
    #[serde(default)]
    pub(crate) goals: Vec<String>,
    #[serde(default)]
    pub(crate) has_excludes: bool,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct DependencyFact {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) path: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum GoalEnd {
    Started,
    Succeeded,
    Failed,
}

/// The facts of a file, in order. The last line may be cut off when the tool was killed.
pub(crate) fn parse(text: &str) -> Result<Vec<Fact>, serde_json::Error> {
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(serde_json::from_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_read_but_for_a_line_that_was_cut_off() {
        let text = "{\"event\": \"problem\", \"what\": \"x\"}\n{\"event\": \"tests\", \"end\": \"failed\", \"directory\": \"/p\", \
                    \"goal\": \"g\", \"reports\": \"/p/r\", \"message\": \"m\"}\n{\"event\": \"prob";
        let facts = parse(text).unwrap();
        assert_eq!(facts[0], Fact::Problem { what: "x".into() });
        assert!(
            matches!(&facts[1], Fact::Tests { end: GoalEnd::Failed, reports, .. } if reports.ends_with("r"))
        );
        assert_eq!(facts.len(), 2);
        assert!(parse("{}\n").is_err());
    }
}
