//! Ctrl-C, SIGTERM and SIGHUP. The first one raises a flag where somebody looks at it; the end comes within a second all
//! the same, or with the second one.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// For an orderly end.
const PATIENCE: Duration = Duration::from_millis(700);
/// `timeout` and some terminals send one signal twice.
const SAME: Duration = Duration::from_millis(100);
const TICK: Duration = Duration::from_millis(10);
/// For last words, which nobody may be reading.
const WORDS: Duration = Duration::from_millis(50);

static STOPPED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
static ENDS_IN_ORDER: AtomicBool = AtomicBool::new(false);
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// The flag that says that the user wants an end.
pub fn stopped() -> Arc<AtomicBool> {
    Arc::clone(&STOPPED)
}

pub(crate) fn is_stopped() -> bool {
    STOPPED.load(Ordering::SeqCst)
}

/// Does not return where the process is being ended: what is met meanwhile is of its making.
pub(crate) fn give_way() {
    while IS_ENDING.load(Ordering::SeqCst) {
        thread::park();
    }
}

/// From now on somebody looks at the flag and ends soon when it is raised.
pub fn end_in_order() {
    ENDS_IN_ORDER.store(true, Ordering::SeqCst);
}

/// Ends the process with `end` when a signal says so.
pub(crate) fn watch(end: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let wanted =
        [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| *signal != SIGHUP || !is_ignored(SIGHUP));
    for signal in wanted.clone() {
        // At once: a child that had the same signal may be gone before the thread below wakes.
        signal_hook::flag::register(signal, stopped())?;
    }
    let mut signals = Signals::new(wanted)?;
    thread::Builder::new().name("signals".to_string()).spawn(move || {
        if signals.forever().next().is_none() {
            return;
        }
        let began = Instant::now();
        while ENDS_IN_ORDER.load(Ordering::SeqCst) && began.elapsed() < PATIENCE {
            if signals.pending().next().is_some() && began.elapsed() > SAME {
                break;
            }
            thread::sleep(TICK);
        }
        IS_ENDING.store(true, Ordering::SeqCst);
        end();
    })?;
    Ok(())
}

pub(crate) fn wait_for<T>(thread: &JoinHandle<T>) {
    let began = Instant::now();
    while !thread.is_finished() && began.elapsed() < WORDS {
        thread::sleep(TICK / 10);
    }
}

/// `nohup` is a wish to outlive the terminal.
fn is_ignored(signal: i32) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: the action is only asked for, and is plain data.
    unsafe {
        libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}
