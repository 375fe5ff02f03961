//! Waiting for another process that writes to the same store: told at once, with a clock, and not for ever. Whoever has
//! waited in vain once does not wait again.

use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::StoreErrorKind;

/// How long an operation waits for another process that is writing.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);
/// Others write for so long as a rule, which is not worth a word.
const SHORT: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_millis(5);
/// Between two words about it.
const TICK: Duration = Duration::from_secs(10);

/// Who is told that there is something to wait for.
pub type Teller = Arc<dyn Fn(&str) + Send + Sync>;

/// Of all connections of a process to one store.
pub(crate) struct Patience {
    path: PathBuf,
    tell: Option<Teller>,
    is_over: AtomicBool,
}

impl fmt::Debug for Patience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Patience").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Patience {
    pub(crate) fn new(path: &Path, tell: Option<Teller>) -> Patience {
        Patience { path: path.to_path_buf(), tell, is_over: AtomicBool::new(false) }
    }

    /// Tries again while another process holds the store.
    pub(crate) fn wait<T>(
        &self,
        mut attempt: impl FnMut() -> Result<T, StoreErrorKind>,
    ) -> Result<T, StoreErrorKind> {
        let limit = if self.is_over.load(Ordering::Relaxed) { Duration::ZERO } else { LIMIT };
        let (began, mut told_at) = (Instant::now(), SHORT);
        loop {
            let result = attempt();
            let is_busy = matches!(result, Err(StoreErrorKind::Busy { .. }));
            let waited = began.elapsed();
            if is_busy && waited < limit {
                if waited >= told_at {
                    self.say(waited);
                    told_at = waited + TICK;
                }
                thread::sleep(PAUSE);
                continue;
            }
            self.is_over.store(is_busy, Ordering::Relaxed);
            return if is_busy { Err(StoreErrorKind::Busy { holder: self.holder() }) } else { result };
        }
    }

    fn say(&self, waited: Duration) {
        if let Some(tell) = &self.tell {
            tell(&format!(
                "the records are being written by another process ({}): waiting for it, {} of at most {} s",
                self.holder(),
                waited.as_secs(),
                LIMIT.as_secs()
            ));
        }
    }

    /// Who writes, by the system's list of locks. Example: `process 4711, fewer run --all`.
    fn holder(&self) -> String {
        let mut log = self.path.clone().into_os_string();
        log.push("-shm");
        let files = [self.path.clone(), PathBuf::from(log)];
        let inodes: Vec<u64> =
            files.iter().filter_map(|file| Some(fs::symlink_metadata(file).ok()?.ino())).collect();
        let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
        match writer(&locks, &inodes, std::process::id()) {
            Some(process) => {
                let command = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
                let command = String::from_utf8_lossy(&command).replace('\0', " ");
                format!("process {process}, {}", command.trim())
            }
            None => "which one cannot be told".to_string(),
        }
    }
}

/// The process that has a lock to write on one of some files. Example of a line:
/// `1: POSIX  ADVISORY  WRITE 4711 00:2d:1234 120 120`.
fn writer(locks: &str, inodes: &[u64], own: u32) -> Option<u32> {
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = words.iter().position(|word| *word == "WRITE")?;
        let process: u32 = words.get(at + 1)?.parse().ok()?;
        let inode: u64 = words.get(at + 2)?.rsplit(':').next()?.parse().ok()?;
        (inodes.contains(&inode) && process != own).then_some(process)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn the_writer_is_found_in_the_list_of_locks() {
        let locks = "1: POSIX  ADVISORY  READ  11 00:2d:1234 128 128\n\
                     2: POSIX  ADVISORY  WRITE 12 00:2d:999 120 120\n\
                     3: POSIX  ADVISORY  WRITE 13 00:2d:1234 120 120\n\
                     3: -> POSIX  ADVISORY  WRITE 14 00:2d:1234 120 120\n";
        assert_eq!(writer(locks, &[1234, 5], 1), Some(13));
        assert_eq!(writer(locks, &[1234, 5], 13), Some(14));
        assert_eq!(writer(locks, &[7], 1), None);
        assert_eq!(writer("", &[7], 1), None);
    }

    #[test]
    fn waiting_is_told_and_ends_when_the_other_is_done() {
        let said = Arc::new(Mutex::new(Vec::new()));
        let words = Arc::clone(&said);
        let tell: Teller = Arc::new(move |text: &str| words.lock().unwrap().push(text.to_string()));
        let patience = Patience::new(Path::new("store.sqlite"), Some(tell));
        let began = Instant::now();
        let result = patience.wait(|| match began.elapsed() < SHORT * 2 {
            true => Err(StoreErrorKind::Busy { holder: String::new() }),
            false => Ok(7),
        });
        assert_eq!(result.unwrap(), 7);
        let said = said.lock().unwrap();
        assert!(said.len() == 1 && said[0].contains("waiting for it, 0 of at most 30 s"), "{said:?}");
    }
}
