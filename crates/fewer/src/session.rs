//! What one invocation carries along: the project, its records, the console, the clock, and the flag that Ctrl-C
//! raises.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use anyhow::Context;
use fewer_console::{Console, Interrupted};
use fewer_runners::Cancel;
use fewer_store::Store;
use tempfile::TempDir;

use crate::cli::{CppOptions, Global};
use crate::project::Project;
use crate::records::{Access, Records};
use crate::summary_cache::StoredSummaries;
use crate::timings::Timings;

/// What of the project a command may start. Whoever would start something asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Starts {
    /// Nothing. What the project told when it was asked last stands for what it would tell.
    Nothing,
    /// What tells of its tests (test programs, CTest, cargo, Java, Ninja), and what else the command is for.
    Project,
}

pub struct Session<'c> {
    pub project: Project,
    pub console: &'c Console,
    pub starts: Starts,
    pub timings: Timings,
    pub cancel: Cancel,
    store: Mutex<Store>,
    /// Where the records are, if that is not in the project.
    _place: Option<TempDir>,
    summaries: OnceLock<Arc<StoredSummaries>>,
    shows_timings: bool,
}

impl<'c> Session<'c> {
    /// For a command that starts nothing of the project.
    pub fn open(global: &Global, console: &'c Console) -> anyhow::Result<Session<'c>> {
        Session::open_for(global, console, Access::Make, Starts::Nothing)
    }

    /// The same for a command that makes nothing either: no records, and no key.
    pub fn look(global: &Global, console: &'c Console) -> anyhow::Result<Session<'c>> {
        Session::open_for(global, console, Access::Look, Starts::Nothing)
    }

    /// For a command that starts something of the project.
    pub fn open_to_start(global: &Global, console: &'c Console) -> anyhow::Result<Session<'c>> {
        Session::open_for(global, console, Access::Make, Starts::Project)
    }

    fn open_for(
        global: &Global,
        console: &'c Console,
        access: Access,
        starts: Starts,
    ) -> anyhow::Result<Session<'c>> {
        let timings = Timings::new(console.pulse());
        let mut project = Project::find()?;
        project.notes.iter().for_each(|note| console.note(note));
        let Records { store, place } = {
            let _phase = timings.phase("open the records");
            Records::open(&mut project, console, access)?
        };
        let store = Mutex::new(store);
        let shows_timings = global.timings;
        let (cancel, summaries) = (Cancel::with(fewer_lifetime::stopped()), OnceLock::new());
        Ok(Session {
            project,
            console,
            starts,
            timings,
            cancel,
            store,
            _place: place,
            summaries,
            shows_timings,
        })
    }

    /// The same, with what the command line says of how code is looked at.
    pub fn seeing(mut self, cpp: &CppOptions) -> Session<'c> {
        let settings = &mut self.project.settings.cpp;
        settings.virtual_calls = cpp.virtual_calls.or(settings.virtual_calls);
        self
    }

    /// From now on Ctrl-C raises the flag, and what has ended is recorded before the process ends.
    pub fn end_in_order(&self) {
        fewer_lifetime::end_in_order();
    }

    /// An error when the user has stopped the command.
    pub fn go_on(&self) -> anyhow::Result<()> {
        if self.cancel.is_cancelled() { Err(Interrupted.into()) } else { Ok(()) }
    }

    /// The records; not to be asked for again while the guard lives.
    pub fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().expect("nobody panics with the records in hand")
    }

    /// The summaries in the records, which can be read while somebody has the records in hand. The connection is made
    /// when this is called for the first time, when nobody may have.
    pub fn summaries(&self) -> &Arc<StoredSummaries> {
        self.summaries.get_or_init(|| Arc::new(StoredSummaries::beside(&self.store())))
    }

    /// The records, for work on another thread.
    pub fn shared_store(&self) -> &Mutex<Store> {
        &self.store
    }

    /// Keeps a file beside the records, so that it counts as this user's.
    pub fn keep(&self, name: &str, content: &[u8]) -> anyhow::Result<()> {
        let path = self.project.store_directory().join(name);
        // Another process may be reading it.
        let fresh = path.with_extension(format!("{}.new", std::process::id()));
        let write = || {
            DirBuilder::new().recursive(true).mode(0o700).create(path.parent().unwrap_or(&path))?;
            let mut file =
                OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
            file.write_all(content)?;
            fs::rename(&fresh, &path)
        };
        write().with_context(|| format!("cannot write {}", path.display()))?;
        Ok(self.store().vouch_for(name)?)
    }

    /// What was kept so.
    pub fn kept(&self, name: &str) -> Option<Vec<u8>> {
        fewer_files::read(&self.project.store_directory().join(name)).ok()
    }

    /// Says what did not count, and where the time went, if that was asked for.
    pub fn finish(&self) {
        if let count @ 1.. = self.store().strangers() {
            self.console.note(&format!(
                "{count} records in {} were not written by you, or were changed since: they are ignored, and what they are about \
                 runs again. `fewer gc` drops them. (Was it another key? See docs/security.md)",
                self.project.store_directory().display()
            ));
        }
        if self.shows_timings {
            self.console.insist(self.timings.table().trim_end());
        }
    }
}
