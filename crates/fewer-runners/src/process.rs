//! A child process in a process group of its own: captured, watched and killable. What its output means is the
//! watcher's business.

use std::fmt;
use std::fs::File;
use std::io::{self, PipeReader, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use fewer_core::KEY_VARIABLE;
pub(crate) use fewer_lifetime::Leftovers;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};

use crate::cancel::Cancel;
use crate::transcript::Transcript;

/// How long a process may take to go after SIGTERM, before SIGKILL...
const TERM_GRACE: Duration = Duration::from_secs(2);
/// ... and when the user waits for it.
const CANCELLED_GRACE: Duration = Duration::from_millis(300);
/// How often the cancel flag and the clock are looked at while nothing is printed.
const TICK: Duration = Duration::from_millis(50);
/// After the process has exited, while others still hold its output open: silence that ends the reading...
const QUIET_AFTER_EXIT: Duration = Duration::from_millis(150);
/// ... and the time after which it ends even when they keep printing.
const READING_AFTER_EXIT: Duration = Duration::from_secs(1);

/// Receives a process's output as it comes and says when the process has had enough time.
pub(crate) trait Watcher {
    fn output(&mut self, bytes: &[u8]);
    /// The moment at which the process is to be stopped, as far as is known now.
    fn deadline(&self) -> Option<Instant>;
    /// The process is being stopped: what it prints from now on is no longer its free will.
    fn stopping(&mut self) {}
    /// The process has exited; others that it started may go on.
    fn exited(&mut self) {}
}

/// Collects what a process prints to standard error while its standard output goes to a file, up to a deadline.
pub(crate) struct ErrorOutput {
    pub(crate) transcript: Transcript,
    pub(crate) deadline: Instant,
}

impl Watcher for ErrorOutput {
    fn output(&mut self, bytes: &[u8]) {
        self.transcript.push(bytes);
    }

    fn deadline(&self) -> Option<Instant> {
        Some(self.deadline)
    }
}

/// How a process is connected and cleaned up after.
pub(crate) enum Streams {
    /// Standard output and standard error, in the order they were written, go to the watcher.
    Together,
    /// Standard output goes to a file, standard error to the watcher.
    OutputTo(File),
}

/// How a process ended by itself or by a signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    Code(i32),
    Signal(i32),
}

/// Why a process was stopped from outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    Deadline,
    Cancelled,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ProcessEnd {
    pub(crate) exit: Exit,
    pub(crate) stop: Option<Stop>,
    pub(crate) duration: Duration,
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exit::Code(code) => write!(f, "exited with code {code}"),
            Exit::Signal(9) => f.write_str("was killed by SIGKILL (out of memory?)"),
            Exit::Signal(signal) => write!(f, "was killed by {}", signal_name(*signal)),
        }
    }
}

/// Starts `command` and stays with it until it has ended.
pub(crate) fn supervise(
    command: Command,
    streams: Streams,
    leftovers: Leftovers,
    cancel: &Cancel,
    watcher: &mut dyn Watcher,
) -> io::Result<ProcessEnd> {
    Process::start(command, streams, leftovers)?.watch(leftovers, cancel, watcher)
}

/// The name of a signal. Example: `SIGSEGV`.
pub(crate) fn signal_name(signal: i32) -> String {
    const NAMES: [&str; 31] = [
        "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE",
        "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ",
        "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
    ];
    match usize::try_from(signal - 1).ok().and_then(|index| NAMES.get(index)) {
        Some(name) => format!("SIG{name}"),
        None => format!("signal {signal}"),
    }
}

struct Process {
    child: Child,
    pid: Pid,
    /// Readable once the process has exited, where the system has such a thing.
    exit_notice: Option<OwnedFd>,
    /// `None` once every writer has closed it.
    output: Option<PipeReader>,
    started: Instant,
}

/// A process that is being stopped.
struct Stopping {
    stop: Stop,
    since: Instant,
    killed: bool,
}

impl Process {
    fn start(mut command: Command, streams: Streams, leftovers: Leftovers) -> io::Result<Process> {
        let (reader, writer) = io::pipe()?;
        command.stdin(Stdio::null()).process_group(0);
        // What the project brings along is not told the secret that vouches for records.
        command.env_remove(KEY_VARIABLE);
        fewer_lifetime::bind(&mut command, leftovers);
        match streams {
            Streams::Together => command.stdout(writer.try_clone()?),
            Streams::OutputTo(file) => command.stdout(file),
        };
        command.stderr(writer);
        let started = Instant::now();
        let child = command.spawn()?;
        // The command holds this side's copies of the pipe: without this, its end would never be seen.
        drop(command);
        let pid = Pid::from_child(&child);
        Ok(Process { exit_notice: exit_notice(pid), child, pid, output: Some(reader), started })
    }

    fn watch(
        mut self,
        leftovers: Leftovers,
        cancel: &Cancel,
        watcher: &mut dyn Watcher,
    ) -> io::Result<ProcessEnd> {
        let mut buffer = vec![0; 64 * 1024];
        let mut stopping: Option<Stopping> = None;
        let mut exited: Option<Instant> = None;
        let mut last_output = Instant::now();
        loop {
            if exited.is_none() && self.stop_if_due(&mut stopping, cancel, watcher.deadline()) {
                watcher.stopping();
            }
            let read = self.read_some(&mut buffer, exited.is_some(), watcher.deadline())?;
            if read > 0 {
                last_output = Instant::now();
                watcher.output(&buffer[..read]);
            }
            if exited.is_none() && self.has_exited()? {
                exited = Some(Instant::now());
                last_output = Instant::now();
                watcher.exited();
            }
            if let Some(exited) = exited {
                let quiet = read == 0 && last_output.elapsed() >= QUIET_AFTER_EXIT;
                let is_late = cancel.is_cancelled() || exited.elapsed() >= READING_AFTER_EXIT;
                if self.output.is_none() || quiet || is_late {
                    break;
                }
            }
        }
        let duration = exited.unwrap_or_else(Instant::now) - self.started;
        if leftovers == Leftovers::Kill || stopping.is_some() {
            // The group cannot be another's: the process it is named after has not been reaped yet.
            let _ = kill_process_group(self.pid, Signal::KILL);
        }
        let exit = exit_of(self.child.wait()?);
        fewer_lifetime::reaped(self.pid);
        Ok(ProcessEnd { exit, stop: stopping.map(|stopping| stopping.stop), duration })
    }

    /// Says whether the stopping begins now.
    fn stop_if_due(
        &self,
        stopping: &mut Option<Stopping>,
        cancel: &Cancel,
        deadline: Option<Instant>,
    ) -> bool {
        if let Some(stopping) = stopping {
            let grace = if cancel.is_cancelled() { CANCELLED_GRACE } else { TERM_GRACE };
            if !stopping.killed && stopping.since.elapsed() >= grace {
                self.signal(Signal::KILL);
                stopping.killed = true;
            }
            return false;
        }
        let stop = if cancel.is_cancelled() {
            Stop::Cancelled
        } else if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            Stop::Deadline
        } else {
            return false;
        };
        self.signal(Signal::TERM);
        *stopping = Some(Stopping { stop, since: Instant::now(), killed: false });
        true
    }

    /// To the group, and to the process itself in case it has left its group. An error means that it is gone.
    fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.pid, signal);
        let _ = kill_process(self.pid, signal);
    }

    /// Waits for output, for the process's exit or for a tick, whichever comes first. Returns how many bytes were
    /// read.
    fn read_some(&mut self, buffer: &mut [u8], exited: bool, deadline: Option<Instant>) -> io::Result<usize> {
        let mut readable = false;
        {
            let mut fds = Vec::with_capacity(2);
            if let Some(output) = &self.output {
                fds.push(PollFd::from_borrowed_fd(output.as_fd(), PollFlags::IN));
            }
            if let Some(notice) = self.exit_notice.as_ref().filter(|_| !exited) {
                fds.push(PollFd::from_borrowed_fd(notice.as_fd(), PollFlags::IN));
            }
            match poll(&mut fds, Some(&self.patience(deadline))) {
                Ok(_) => readable = self.output.is_some() && !fds[0].revents().is_empty(),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let Some(output) = self.output.as_mut().filter(|_| readable) else { return Ok(0) };
        match output.read(buffer) {
            Ok(0) => self.output = None,
            Ok(read) => return Ok(read),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(0)
    }

    fn patience(&self, deadline: Option<Instant>) -> Timespec {
        // Without a notice of its exit the process has to be asked.
        let tick = if self.exit_notice.is_some() { TICK } else { TICK / 5 };
        let left = deadline.map_or(tick, |deadline| deadline.saturating_duration_since(Instant::now()));
        // At least a millisecond: a deadline in the past must not make this a busy loop.
        let patience = left.min(tick).max(Duration::from_millis(1));
        Timespec { tv_sec: 0, tv_nsec: i64::from(patience.subsec_nanos()) }
    }

    /// Whether the process has ended; it stays a zombie, so that its number remains its own.
    fn has_exited(&self) -> io::Result<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        loop {
            match waitid(WaitId::Pid(self.pid), options) {
                Ok(status) => return Ok(status.is_some()),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Drop for Process {
    /// An error on the way must not leave the process behind.
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            self.signal(Signal::KILL);
            let _ = self.child.wait();
            fewer_lifetime::reaped(self.pid);
        }
    }
}

#[cfg(target_os = "linux")]
fn exit_notice(pid: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn exit_notice(_pid: Pid) -> Option<OwnedFd> {
    None
}

fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => unreachable!("a process that was waited for has exited or was killed"),
    }
}
