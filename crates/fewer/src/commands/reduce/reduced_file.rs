//! `fewer-reduced.toml`: a reduced suite for people to review and to commit. Every kept test with the reason, every
//! other one with the kept tests that make it redundant. Moving a test from one list to the other is respected.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use fewer_core::TestId;
use fewer_core::reduction::{Algorithm, RequirementKind};
use serde::Deserialize;
use serde::de::IgnoredAny;

pub const FILE_NAME: &str = "fewer-reduced.toml";
const FORMAT: &str = "fewer-reduced/1";

const HEAD: &str = "\
# A reduced test suite, written by `fewer reduce`. `fewer run --reduced` runs only what is kept here of what is selected.
# Review it: moving a test from [[left-out]] to [[kept]] keeps it for good; a test that is in neither list is new and runs.
";

/// The file.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ReducedFile {
    format: String,
    pub kind: RequirementKind,
    pub algorithm: Algorithm,
    /// The revision at which the suite was reduced.
    pub commit: Option<String>,
    /// The revision that it was carried to since.
    pub evolved_to: Option<String>,
    #[serde(default)]
    pub kept: Vec<KeptTest>,
    #[serde(default)]
    pub left_out: Vec<LeftOutTest>,
}

#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct KeptTest {
    pub test: TestId,
    #[serde(default)]
    pub reason: String,
    /// Left over in an entry that was moved here from the other list.
    #[serde(default)]
    because_of: IgnoredAny,
}

#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LeftOutTest {
    pub test: TestId,
    /// Kept tests that together satisfy all that it satisfies.
    #[serde(default)]
    pub because_of: Vec<TestId>,
}

impl KeptTest {
    pub fn new(test: TestId, reason: String) -> KeptTest {
        KeptTest { test, reason, because_of: IgnoredAny }
    }
}

impl ReducedFile {
    pub fn new(kind: RequirementKind, algorithm: Algorithm, commit: Option<String>) -> ReducedFile {
        let (kept, left_out) = (Vec::new(), Vec::new());
        ReducedFile { format: FORMAT.to_string(), kind, algorithm, commit, evolved_to: None, kept, left_out }
    }

    pub fn read(path: &Path) -> anyhow::Result<ReducedFile> {
        let text = fewer_files::read_to_string(path).with_context(|| {
            format!("cannot read the reduced suite {}; `fewer reduce build` makes one", path.display())
        })?;
        let file: ReducedFile = match toml::from_str(&text) {
            Ok(file) => file,
            Err(error) => {
                let before = error.span().map_or("", |span| text.get(..span.start).unwrap_or_default());
                let line = before.matches('\n').count() + 1;
                bail!("{}:{line}: {}", path.display(), error.message());
            }
        };
        if file.format != FORMAT {
            bail!(
                "{}: expected format = \"{FORMAT}\", found \"{}\"; update fewer",
                path.display(),
                file.format
            );
        }
        let both: Vec<TestId> = file.reduced().intersection(&file.left_out_tests()).cloned().collect();
        if let Some(test) = both.first() {
            bail!("{}: {test} is both kept and left out; take it out of one list", path.display());
        }
        Ok(file)
    }

    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        fs::write(path, self.text()).with_context(|| format!("cannot write {}", path.display()))
    }

    /// `R_i`.
    pub fn reduced(&self) -> BTreeSet<TestId> {
        self.kept.iter().map(|kept| kept.test.clone()).collect()
    }

    /// `O_i`.
    pub fn full(&self) -> BTreeSet<TestId> {
        self.reduced().union(&self.left_out_tests()).cloned().collect()
    }

    fn left_out_tests(&self) -> BTreeSet<TestId> {
        self.left_out.iter().map(|test| test.test.clone()).collect()
    }

    fn text(&self) -> String {
        let mut text = HEAD.to_string();
        let total = self.kept.len() + self.left_out.len();
        let _ = writeln!(text, "# {} of {total} tests are kept.", self.kept.len());
        let _ = writeln!(text, "format = {}", quoted(FORMAT));
        let _ = writeln!(text, "kind = {}", quoted(self.kind.word()));
        let _ = writeln!(text, "algorithm = {}", quoted(self.algorithm.word()));
        for (key, commit) in [("commit", &self.commit), ("evolved-to", &self.evolved_to)] {
            if let Some(commit) = commit {
                let _ = writeln!(text, "{key} = {}", quoted(commit));
            }
        }
        for KeptTest { test, reason, .. } in &self.kept {
            let _ = writeln!(text, "\n[[kept]]\ntest = {}", quoted(&test.to_string()));
            if !reason.is_empty() {
                let _ = writeln!(text, "reason = {}", quoted(reason));
            }
        }
        for LeftOutTest { test, because_of } in &self.left_out {
            let _ = writeln!(text, "\n[[left-out]]\ntest = {}", quoted(&test.to_string()));
            let tests: Vec<String> = because_of.iter().map(|test| quoted(&test.to_string())).collect();
            match &tests[..] {
                [] => text.push_str("# It satisfies nothing.\n"),
                [only] => drop(writeln!(text, "because-of = [{only}]")),
                several => drop(writeln!(text, "because-of = [\n    {},\n]", several.join(",\n    "))),
            }
        }
        text
    }
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_string()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let mut file = ReducedFile::new(RequirementKind::Mutants, Algorithm::Exact, Some("abc".into()));
        let id = |name: &str| TestId::new("unit/core_test", name);
        file.kept.push(KeptTest::new(id("A.B<\"x\">"), "it alone satisfies 3".into()));
        file.kept.push(KeptTest::new(id("A.C"), String::new()));
        file.left_out.push(LeftOutTest { test: id("A.D"), because_of: vec![id("A.B<\"x\">"), id("A.C")] });
        file.left_out.push(LeftOutTest { test: id("A.E"), because_of: vec![] });
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(FILE_NAME);
        file.write(&path).unwrap();
        assert_eq!(ReducedFile::read(&path).unwrap(), file);
        assert_eq!((file.reduced().len(), file.full().len()), (2, 4));
        // As the head of the file says.
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("[[left-out]]", "[[kept]]")).unwrap();
        let moved = ReducedFile::read(&path).unwrap();
        assert_eq!((moved.reduced().len(), moved.full().len()), (4, 4));
    }

    #[test]
    fn a_broken_file_is_refused_with_its_line() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(FILE_NAME);
        let head = "format = \"fewer-reduced/1\"\nkind = \"statements\"\nalgorithm = \"greedy\"\n";
        for (text, expected) in [
            (format!("{head}[[kept]]\ntset = \"a::b\"\n"), ":5: unknown field `tset`"),
            (format!("{head}[[kept]]\ntest = \"b\"\n"), ":5: 'b' is not a test id"),
            (head.replace("/1", "/9"), ": expected format = \"fewer-reduced/1\""),
            (
                format!("{head}[[kept]]\ntest = \"a::b\"\n[[left-out]]\ntest = \"a::b\"\n"),
                ": a::b is both kept",
            ),
        ] {
            fs::write(&path, text).unwrap();
            let error = ReducedFile::read(&path).unwrap_err().to_string();
            assert!(error.contains(&format!("{FILE_NAME}{expected}")), "{error}");
        }
    }
}
