//! What one invocation carries along: the project, its records, the console, the clock, and the flag that Ctrl-C
//! raises.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use fewer_console::{Console, Interrupted};
use fewer_runners::Cancel;
use fewer_store::Store;
use tempfile::TempDir;

use crate::cli::{CppOptions, Global};
use crate::project::Project;
use crate::records::{Access, Records};
use crate::summary_cache::StoredSummaries;
use crate::timings::Timings;

pub struct Session<'c> {
    pub project: Project,
    pub console: &'c Console,
    pub timings: Timings,
    pub cancel: Cancel,
    store: Mutex<Store>,
    /// Where the records are, if that is not in the project.
    _place: Option<TempDir>,
    summaries: OnceLock<Arc<StoredSummaries>>,
    shows_timings: bool,
}

impl<'c> Session<'c> {
    pub fn open(global: &Global, console: &'c Console) -> anyhow::Result<Session<'c>> {
        Session::open_for(global, console, Access::Make)
    }

    /// The same for a command that makes nothing: no records, and no key.
    pub fn look(global: &Global, console: &'c Console) -> anyhow::Result<Session<'c>> {
        Session::open_for(global, console, Access::Look)
    }

    fn open_for(global: &Global, console: &'c Console, access: Access) -> anyhow::Result<Session<'c>> {
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
        Ok(Session { project, console, timings, cancel, store, _place: place, summaries, shows_timings })
    }

    /// The same, with what the command line says of how code is looked at.
    pub fn open_seeing(
        global: &Global,
        console: &'c Console,
        cpp: &CppOptions,
    ) -> anyhow::Result<Session<'c>> {
        let mut session = Session::open(global, console)?;
        let settings = &mut session.project.settings.cpp;
        settings.virtual_calls = cpp.virtual_calls.or(settings.virtual_calls);
        Ok(session)
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
