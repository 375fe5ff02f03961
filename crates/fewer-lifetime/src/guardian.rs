//! A second process of the same program, that only waits for the first one's end. If that was killed, nobody else is left
//! to end what it had started and to remove what it had made.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::process::Pid;

use crate::children::{self, Mark};
use crate::held_directory;

/// One message: what happened, and to whom.
const LENGTH: usize = 5;
const STARTED: u8 = b'+';
const REAPED: u8 = b'-';
const DISMISSED: u8 = b'.';
const NONE: RawFd = -1;

/// Where the guardian is told of processes. It closes when this process ends, and with every exec.
static CHANNEL: AtomicI32 = AtomicI32::new(NONE);

/// For code between fork and exec, too.
#[derive(Clone, Copy)]
pub(crate) struct Channel(RawFd);

pub(crate) fn channel() -> Option<Channel> {
    Some(CHANNEL.load(Ordering::Relaxed)).filter(|channel| *channel != NONE).map(Channel)
}

impl Channel {
    /// The process leads a group of its own.
    pub(crate) fn tell_started(self, pid: Pid) {
        self.tell(STARTED, pid.as_raw_nonzero().get());
    }

    pub(crate) fn tell_reaped(self, pid: Pid) {
        self.tell(REAPED, pid.as_raw_nonzero().get());
    }

    fn tell(self, what: u8, number: i32) {
        let [a, b, c, d] = number.to_ne_bytes();
        let message = [what, a, b, c, d];
        let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
        // SAFETY: the bytes are there. So few are sent as a whole; without a guardian nobody listens.
        unsafe { libc::send(self.0, message.as_ptr().cast(), LENGTH, flags) };
    }
}

pub(crate) struct Guardian {
    pid: Pid,
}

impl Guardian {
    /// To be called as long as there is one thread.
    pub(crate) fn start(mark: &Mark, temporary: Option<&Path>) -> Option<Guardian> {
        let (listening, told) = UnixStream::pair().ok()?;
        // SAFETY: there is one thread, so that the new process may do whatever this one may.
        match unsafe { libc::fork() } {
            0 => {
                drop(told);
                let _ = std::panic::catch_unwind(|| stand_guard(listening.into(), mark, temporary));
                // SAFETY: nothing of what the other process registered for its end is this one's.
                unsafe { libc::_exit(0) }
            }
            pid => {
                let pid = Pid::from_raw(pid).filter(|pid| pid.as_raw_nonzero().get() > 0)?;
                CHANNEL.store(told.into_raw_fd(), Ordering::Relaxed);
                Some(Guardian { pid })
            }
        }
    }

    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    /// There is nothing left to guard.
    pub(crate) fn dismiss(self) {
        if let Some(channel) = channel() {
            channel.tell(DISMISSED, 0);
        }
        let _ = rustix::process::waitpid(Some(self.pid), rustix::process::WaitOptions::empty());
    }
}

fn stand_guard(listening: OwnedFd, mark: &Mark, temporary: Option<&Path>) {
    let mut listening = stand_aside(listening);
    let mut groups: Vec<Pid> = Vec::new();
    let mut message = [0; LENGTH];
    while listening.read_exact(&mut message).is_ok() {
        let [what, number @ ..] = message;
        let Some(pid) = Pid::from_raw(i32::from_ne_bytes(number)) else {
            if what == DISMISSED {
                return;
            }
            continue;
        };
        match what {
            STARTED => groups.push(pid),
            _ => groups.retain(|group| *group != pid),
        }
    }
    children::end_all(mark, None, &groups);
    if let Some(temporary) = temporary {
        held_directory::remove_abandoned(temporary, "");
        // If there is nobody else's in it.
        let _ = std::fs::remove_dir(temporary);
    }
}

/// Out of the reach of Ctrl-C and of what is meant for the other's process group, and in nobody's way: it holds no
/// directory, and no file that somebody waits for the end of.
fn stand_aside(listening: OwnedFd) -> File {
    // SAFETY: plain system calls of a process with one thread; what is closed is not used any more.
    unsafe {
        libc::setpgid(0, 0);
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGTSTP, libc::SIGPIPE]
        {
            libc::signal(signal, libc::SIG_IGN);
        }
        libc::chdir(c"/".as_ptr());
    }
    let keep = listening.as_raw_fd();
    if let Ok(null) = File::options().read(true).write(true).open("/dev/null") {
        // SAFETY: as above.
        (0..3).filter(|stream| *stream != keep).for_each(|stream| unsafe {
            libc::dup2(null.as_raw_fd(), stream);
        });
    }
    let entries = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let open: Vec<RawFd> =
        entries.filter_map(|entry| entry.file_name().to_str().and_then(|name| name.parse().ok())).collect();
    for file in open.into_iter().filter(|file| *file > 2 && *file != keep) {
        // SAFETY: as above.
        unsafe { libc::close(file) };
    }
    File::from(listening)
}
