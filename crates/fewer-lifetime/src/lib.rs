//! What ends with a program's process: whatever it has started for a project, and its temporary directories. Ctrl-C,
//! SIGTERM and SIGHUP end it within a second, whatever it is at; SIGKILL is survived by a guardian, which then ends the
//! rest. What is worth finishing before an orderly end is told elsewhere.

mod children;
mod guardian;
mod held_directory;
mod signals;

pub use children::{Leftovers, bind, reaped};
pub use held_directory::HeldDirectory;
pub use signals::{end_in_order, stopped};

use children::Mark;
use guardian::Guardian;

/// Lasts as long as the program. Dropped, it ends what was started if the user stopped the program.
pub struct Lifetime {
    mark: Mark,
    guardian: Option<Guardian>,
    place: Option<HeldDirectory>,
}

impl Lifetime {
    /// To be called first of all, as long as there is one thread. Where there is no place for temporary directories or no
    /// further process is allowed, the program goes on without.
    pub fn begin() -> Lifetime {
        let mark = Mark::own();
        let below = held_directory::directory_of_user();
        let guardian = Guardian::start(&mark, below.as_deref());
        let place = below.and_then(|below| HeldDirectory::new_in(&below, "").ok());
        if let Some(place) = &place {
            // Whoever makes a temporary directory from now on makes it in there.
            let _ = tempfile::env::override_temp_dir(place.path());
        }
        Lifetime { mark, guardian, place }
    }

    /// From now on signals end the program with `exit_code`, at once or in order; `last_words` are said where it has no
    /// time left for its own.
    pub fn watch_signals(
        &self,
        exit_code: u8,
        last_words: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<()> {
        let mark = self.mark.clone();
        let guardian = self.guardian.as_ref().map(Guardian::pid);
        signals::watch(move || {
            let talk = std::thread::spawn(last_words);
            children::end_all(&mark, guardian, &[]);
            held_directory::remove_held();
            signals::wait_for(&talk);
            // SAFETY: the process ends here, without anything that waits for another thread.
            unsafe { libc::_exit(exit_code.into()) }
        })
    }

    /// Whether an error may well come of the user's wish to end. Does not return where that is being done already.
    pub fn is_stopped(&self) -> bool {
        signals::give_way();
        signals::is_stopped()
    }
}

impl Drop for Lifetime {
    fn drop(&mut self) {
        let guardian = self.guardian.take();
        if signals::is_stopped() {
            children::end_all(&self.mark, guardian.as_ref().map(Guardian::pid), &[]);
        }
        drop(self.place.take());
        if let Some(guardian) = guardian {
            guardian.dismiss();
        }
    }
}
