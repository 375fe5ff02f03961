//! The records of a project, opened; or a place for the time of one command where they cannot be used, so that everything runs
//! and the verdicts are as true as ever. Why, is told. What is in the records is the store's business.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use fewer_console::Console;
use fewer_store::{OwnerKey, Store, StoreError, StoreErrorKind, Teller};
use tempfile::TempDir;

use crate::project::{Project, STORE_DIRECTORY};

/// What other parts of this program keep beside the database, each vouched for when it is written.
const FILES: &[&str] =
    &[FORGOTTEN_FILE, LAYOUT_FILE, UNSEEN_FILE, MESSAGES_FILE, ANSWERS_FILE, TOLD_BY_CTEST_FILE];
pub const FORGOTTEN_FILE: &str = "forgotten";
pub const LAYOUT_FILE: &str = "java/layout.jsonl";
/// Classes that a build tool ran as tests although nothing in them says so.
pub const UNSEEN_FILE: &str = "java/unseen-tests";
pub const MESSAGES_FILE: &str = "cargo/messages.jsonl";
/// What cargo and rustc told when they were asked.
pub const ANSWERS_FILE: &str = "cargo/answers.json";
pub const TOLD_BY_CTEST_FILE: &str = "ctest/told.json";

/// What is made where nothing is recorded yet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The records, and the user's key.
    Make,
    /// Nothing.
    Look,
}

pub struct Records {
    pub store: Store,
    /// Where they are kept until the command ends.
    pub place: Option<TempDir>,
}

impl Records {
    /// Opens them, and says in the project where they are.
    pub fn open(project: &mut Project, console: &Console, access: Access) -> anyhow::Result<Records> {
        let records = Records::own_or_passing(project, console, access)?;
        if let Some(place) = &records.place {
            project.records = place.path().join(STORE_DIRECTORY);
        }
        if let count @ 1.. = records.store.dropped() {
            console.note(&format!(
                "{count} outcomes in {} were recorded by an older fewer, which did not say by whom: they are ignored, and every \
                 test runs once",
                project.records.display()
            ));
        }
        records.store.drop_strange_files(FILES)?;
        Ok(records)
    }

    fn own_or_passing(project: &Project, console: &Console, access: Access) -> anyhow::Result<Records> {
        let directory = project.store_directory();
        let is_there = match Store::is_in(directory) {
            Err(error) if matches!(error.kind, StoreErrorKind::Distrusted { .. }) => {
                return passing(console, &error.to_string());
            }
            is_there => is_there?,
        };
        if let Some(tree) = &project.work_tree
            && directory.exists()
            && tree
                .tracks(directory)
                .context("git cannot tell whether the records are part of the repository")?
        {
            let shown = directory.display();
            return passing(
                console,
                &format!(
                    "{shown} is tracked by git, so it is what a branch brought along and not what ran here: nothing in it was used. \
                     'git rm -r --cached {shown}' and move it away"
                ),
            );
        }
        let key = match access {
            Access::Make => OwnerKey::of_user(),
            Access::Look if !is_there => return Records::kept_until_the_end(),
            Access::Look => OwnerKey::known().transpose().unwrap_or(Ok(OwnerKey::passing()?)),
        };
        match key {
            Ok(key) => open_own(directory, key, console, access),
            Err(error) => passing(console, &error.to_string()),
        }
    }

    /// An empty store that nobody needs any more when the command has ended.
    fn kept_until_the_end() -> anyhow::Result<Records> {
        let place = place()?;
        let store = Store::open(&place.path().join(STORE_DIRECTORY), OwnerKey::passing()?)?;
        Ok(Records { store, place: Some(place) })
    }
}

/// Moves records that cannot be used out of the way, and says so. Gives whether that was done.
pub fn set_aside(console: &Console, error: &StoreError) -> anyhow::Result<bool> {
    let directory = error.path.parent().filter(|directory| directory.ends_with(STORE_DIRECTORY));
    let Some(directory) = directory.filter(|_| error.kind.is_damage()) else { return Ok(false) };
    let aside = Store::set_aside(directory).with_context(|| format!("{error}; it could not be set aside"))?;
    if let Some(aside) = aside {
        console.note(&format!(
            "the records {} {}: they are set aside in {}, which may be deleted, and every test runs once",
            error.path.display(),
            error.kind,
            aside.display()
        ));
    }
    Ok(true)
}

fn open_own(directory: &Path, key: OwnerKey, console: &Console, access: Access) -> anyhow::Result<Records> {
    let teller = console.clone();
    let tell: Teller = Arc::new(move |text: &str| teller.note(text));
    let open = || Store::open_telling(directory, key.clone(), Some(Arc::clone(&tell)));
    let store = match open() {
        Err(error) if access == Access::Make && set_aside(console, &error)? => open(),
        opened => opened,
    };
    match store {
        Err(StoreError { kind: StoreErrorKind::NotWritable { cause }, .. }) => {
            console.note(&format!(
                "{} cannot be written ({cause}): what is recorded there is used, and nothing is added to it",
                directory.display()
            ));
            copied(directory, key)
        }
        store => Ok(Records { store: store?, place: None }),
    }
}

fn passing(console: &Console, why: &str) -> anyhow::Result<Records> {
    console.note(&format!("{why}. Until then everything runs, and nothing is recorded"));
    Records::kept_until_the_end()
}

/// A copy of records that cannot be written.
fn copied(directory: &Path, key: OwnerKey) -> anyhow::Result<Records> {
    let place = place()?;
    let copy = place.path().join(STORE_DIRECTORY);
    if directory.is_dir() {
        copy_files(directory, &copy)
            .with_context(|| format!("{} cannot be copied to {}", directory.display(), copy.display()))?;
    }
    Ok(Records { store: Store::open(&copy, key)?, place: Some(place) })
}

fn copy_files(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    fs::set_permissions(to, Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let copy = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_files(&entry.path(), &copy)?;
        } else if entry.file_name() != "store.sqlite-shm" {
            fs::copy(entry.path(), &copy)?;
            fs::set_permissions(&copy, Permissions::from_mode(0o600))?;
        }
    }
    Ok(())
}

fn place() -> anyhow::Result<TempDir> {
    let private = Permissions::from_mode(0o700);
    let place = tempfile::Builder::new().prefix("fewer-records-").permissions(private).tempdir();
    place.context("there is no place for the records of this command: is the temporary directory full?")
}
