//! Where requirements are kept: `.fewer/requirements/REVISION/KIND.requirements`, one file per revision and kind.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use fewer_core::reduction::RequirementKind;
use fewer_requirements::Stored;

use super::revision::Revision;
use crate::session::Session;

const DIRECTORY: &str = "requirements";
const EXTENSION: &str = "requirements";

/// The files of a project.
pub struct RequirementFiles {
    directory: PathBuf,
}

impl RequirementFiles {
    pub fn of(session: &Session<'_>) -> RequirementFiles {
        RequirementFiles { directory: session.project.store_directory().join(DIRECTORY) }
    }

    pub fn path(&self, label: &str, kind: RequirementKind) -> PathBuf {
        self.directory.join(label).join(kind.word()).with_extension(EXTENSION)
    }

    /// What is known of exactly that revision.
    pub fn read(&self, label: &str, kind: RequirementKind) -> anyhow::Result<Option<Stored>> {
        let path = self.path(label, kind);
        if path.exists() { decode(&path).map(Some) } else { Ok(None) }
    }

    /// Replaces what is known; a reader never sees half of it.
    pub fn write(&self, label: &str, stored: &Stored) -> anyhow::Result<PathBuf> {
        let path = self.path(label, stored.suite.kind);
        let parent = path.parent().context("the path has a directory")?;
        fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
        let unfinished = path.with_extension(format!("{}.tmp", std::process::id()));
        fs::write(&unfinished, stored.encode())
            .with_context(|| format!("cannot write {}", unfinished.display()))?;
        fs::rename(&unfinished, &path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }

    /// What is known of a named revision; without a name, of the nearest one.
    pub fn look_up(
        &self,
        session: &Session<'_>,
        named: Option<&str>,
        kind: RequirementKind,
    ) -> anyhow::Result<Option<Stored>> {
        match named {
            Some(_) => self.read(Revision::find(session, named)?.label(), kind),
            None => self.nearest(session, kind),
        }
    }

    /// The same, where there is nothing to do without it.
    pub fn find(
        &self,
        session: &Session<'_>,
        named: Option<&str>,
        kind: RequirementKind,
    ) -> anyhow::Result<Stored> {
        self.look_up(session, named, kind)?.ok_or_else(|| unknown(kind.word(), named))
    }

    /// What is known of what is checked out, else of its commit without local changes, else what was written last.
    pub fn nearest(&self, session: &Session<'_>, kind: RequirementKind) -> anyhow::Result<Option<Stored>> {
        let revision = Revision::find(session, None)?;
        for label in [Some(revision.label()), revision.commit.as_deref()].into_iter().flatten() {
            if let Some(found) = self.read(label, kind)? {
                return Ok(Some(found));
            }
        }
        self.newest(kind)
    }

    /// The commits that something is known of.
    fn labels(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let mut labels: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        labels.sort();
        labels
    }

    fn newest(&self, kind: RequirementKind) -> anyhow::Result<Option<Stored>> {
        let mut newest: Option<Stored> = None;
        for label in self.labels() {
            if let Some(stored) = self.read(&label, kind)?
                && newest.as_ref().is_none_or(|newest| stored.source.at > newest.source.at)
            {
                newest = Some(stored);
            }
        }
        Ok(newest)
    }
}

/// Says what to do about it.
pub fn unknown(requirements: &str, named: Option<&str>) -> anyhow::Error {
    let of = named.map_or_else(String::new, |named| format!(" of {named}"));
    anyhow!(
        "no {requirements}{of} are known: `fewer reduce import FILE` reads what other tools wrote, `fewer reduce collect` runs a \
         build with coverage"
    )
}

fn decode(path: &Path) -> anyhow::Result<Stored> {
    let bytes = fewer_files::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    match Stored::decode(&bytes) {
        Ok(stored) => Ok(stored),
        Err(problem) => bail!("{} cannot be used: {problem}", path.display()),
    }
}
