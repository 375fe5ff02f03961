//! What was started for a project: it carries a mark in its environment, is killed by the system when the thread that
//! started it is gone, and is known to the guardian; and how all of it is found and ended. Some leave their process group, their
//! session or their parent: the mark stays with them.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, getpgrp, getpid, getppid, kill_process, kill_process_group};

use crate::guardian;

/// Names the programs that a process was started by, the innermost last.
///
/// Example: `FEWER_STARTED_BY=4711-123456,4720-123999`.
const VARIABLE: &str = "FEWER_STARTED_BY";
/// While they are killed, processes may start others.
const ROUNDS: usize = 50;
const BETWEEN_ROUNDS: Duration = Duration::from_millis(2);

/// What becomes of processes that outlive the one that was started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leftovers {
    Kill,
    /// Compiler caches and build daemons are meant to stay once they have left the process group.
    Leave,
}

/// By which a process tells its own: its number and the moment it was started, as numbers are used again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Mark(String);

impl Mark {
    /// From now on, everything that is started is marked. To be called as long as there is one thread.
    pub(crate) fn own() -> Mark {
        let pid = getpid();
        let started = Process::read(pid).map_or(0, |process| process.started);
        let mark = format!("{}-{started}", pid.as_raw_nonzero());
        let all = match std::env::var(VARIABLE) {
            Ok(outer) if !outer.is_empty() => format!("{outer},{mark}"),
            Ok(_) | Err(_) => mark.clone(),
        };
        // SAFETY: there is no other thread that could read the environment meanwhile.
        unsafe { std::env::set_var(VARIABLE, all) };
        Mark(mark)
    }

    fn is_on(&self, pid: Pid) -> bool {
        let environment = fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).unwrap_or_default();
        let marks = environment
            .split(|byte| *byte == 0)
            .find_map(|entry| entry.strip_prefix(VARIABLE.as_bytes())?.strip_prefix(b"="));
        marks.is_some_and(|marks| marks.split(|byte| *byte == b',').any(|mark| mark == self.0.as_bytes()))
    }
}

/// Makes a command end with this process, and with the thread that starts it, which has to stay with it.
pub fn bind(command: &mut Command, leftovers: Leftovers) {
    if leftovers == Leftovers::Leave {
        command.env_remove(VARIABLE);
    }
    let parent = getpid();
    let told = guardian::channel();
    // SAFETY: between fork and exec only system calls are made.
    unsafe {
        command.pre_exec(move || {
            die_with_parent()?;
            if getppid() != Some(parent) {
                return Err(io::Error::from_raw_os_error(libc::ESRCH));
            }
            if let Some(channel) = told {
                channel.tell_started(getpid());
            }
            Ok(())
        });
    }
}

/// The process that led a group was waited for.
pub fn reaped(pid: Pid) {
    if let Some(channel) = guardian::channel() {
        channel.tell_reaped(pid);
    }
}

#[cfg(target_os = "linux")]
fn die_with_parent() -> io::Result<()> {
    Ok(rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?)
}

#[cfg(not(target_os = "linux"))]
fn die_with_parent() -> io::Result<()> {
    Ok(())
}

/// Kills this process's children, their process groups, the groups given, and whatever is marked, with everything below
/// it. `spared` is not touched.
pub(crate) fn end_all(mark: &Mark, spared: Option<Pid>, groups: &[Pid]) {
    if fs::read_link("/proc/self").ok().as_deref() != Some(Path::new(&getpid().to_string())) {
        // The numbers there are another world's.
        for group in groups {
            let _ = kill_process_group(*group, Signal::KILL);
        }
        return;
    }
    for _ in 0..ROUNDS {
        let doomed = doomed(&processes(), mark, spared, groups);
        if doomed.is_empty() {
            return;
        }
        for pid in doomed {
            let _ = kill_process(pid, Signal::KILL);
        }
        thread::sleep(BETWEEN_ROUNDS);
    }
}

struct Process {
    pid: Pid,
    parent: Option<Pid>,
    group: Option<Pid>,
    /// In clock ticks since the machine was.
    started: u64,
    is_zombie: bool,
}

impl Process {
    fn read(pid: Pid) -> Option<Process> {
        let line = fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
        // The name in parentheses may hold anything.
        let rest = &line[line.iter().rposition(|byte| *byte == b')')? + 1..];
        let fields: Vec<&str> = str::from_utf8(rest).ok()?.split_ascii_whitespace().collect();
        let number = |field: usize| fields.get(field)?.parse::<i32>().ok().and_then(Pid::from_raw);
        Some(Process {
            pid,
            parent: number(1),
            group: number(2),
            started: fields.get(19)?.parse().ok()?,
            is_zombie: matches!(*fields.first()?, "Z" | "X"),
        })
    }
}

fn processes() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Process::read(Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?))
        .collect()
}

fn doomed(processes: &[Process], mark: &Mark, spared: Option<Pid>, groups: &[Pid]) -> HashSet<Pid> {
    let (me, mine) = (getpid(), getpgrp());
    let is_child = |process: &&Process| process.parent == Some(me) && Some(process.pid) != spared;
    let led = processes.iter().filter(is_child).filter(|child| child.group == Some(child.pid));
    let groups: HashSet<Pid> =
        led.map(|child| child.pid).chain(groups.iter().copied()).filter(|group| *group != mine).collect();
    let others = || processes.iter().filter(|process| process.pid != me && Some(process.pid) != spared);
    let mut marked: HashSet<Pid> =
        others().filter(|process| mark.is_on(process.pid)).map(|process| process.pid).collect();
    loop {
        let is_below = |process: &&Process| process.parent.is_some_and(|parent| marked.contains(&parent));
        let below: Vec<Pid> = others()
            .filter(is_below)
            .map(|process| process.pid)
            .filter(|pid| !marked.contains(pid))
            .collect();
        if below.is_empty() {
            break;
        }
        marked.extend(below);
    }
    others()
        .filter(|process| !process.is_zombie)
        .filter(|process| {
            marked.contains(&process.pid)
                || is_child(process)
                || process.group.is_some_and(|group| groups.contains(&group))
        })
        .map(|process| process.pid)
        .collect()
}
