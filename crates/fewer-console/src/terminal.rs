//! The terminal: data on standard output, everything else on standard error, colours where they are wanted,
//! progress as a bar on a terminal when the work is slow, elsewhere as a line now and then. No other module prints; whatever
//! a project brought along, it comes out of here harmless.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use anstream::ColorChoice;
use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::exit_code::ExitCode;
use crate::flags::{Color, Global};
use crate::harmless::{shown, shown_name};
use crate::interruption::Interrupted;
use crate::pulse::Pulse;

/// Work that takes less shows no progress.
const SLOW: Duration = Duration::from_secs(1);
/// How often a line tells how far the work is where there is no bar.
const PULSE: Duration = Duration::from_secs(10);
const NOTE: Style = AnsiColor::Yellow.on_default();
const ERROR: Style = AnsiColor::Red.on_default().bold();

/// How much is said.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Verbosity {
    Quiet,
    Normal,
    Verbose,
}

#[derive(Clone)]
pub struct Console {
    verbosity: Verbosity,
    shows_progress: bool,
    shows_timings: bool,
    pulse: Pulse,
}

impl Console {
    pub fn new(global: &Global) -> Console {
        match global.color {
            Color::Auto => {}
            Color::Always => ColorChoice::Always.write_global(),
            Color::Never => ColorChoice::Never.write_global(),
        }
        let verbosity = match (global.verbose, global.quiet) {
            (true, _) => Verbosity::Verbose,
            (false, true) => Verbosity::Quiet,
            (false, false) => Verbosity::Normal,
        };
        let shows_progress = verbosity != Verbosity::Quiet
            && io::stderr().is_terminal()
            && std::env::var_os("CI").is_none_or(|value| value.is_empty());
        let is_silent = shows_progress || verbosity == Verbosity::Quiet;
        let tell = |line: &str| to_error(&format!("{line}\n"));
        let pulse = if is_silent { Pulse::default() } else { Pulse::start(PULSE, tell) };
        Console { verbosity, shows_progress, shows_timings: global.timings, pulse }
    }

    pub fn verbosity(&self) -> Verbosity {
        self.verbosity
    }

    pub fn is_verbose(&self) -> bool {
        self.verbosity == Verbosity::Verbose
    }

    /// Whether people want to know where the time went.
    pub fn shows_timings(&self) -> bool {
        self.shows_timings
    }

    /// Where who works says what is going on.
    pub fn pulse(&self) -> Pulse {
        self.pulse.clone()
    }

    /// The result of the command, on standard output. A reader that went away is not our problem.
    pub fn data(&self, text: &str) -> anyhow::Result<()> {
        let mut output = anstream::stdout().lock();
        match output.write_all(shown(text).as_bytes()).and_then(|()| output.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(anyhow::Error::new(error).context("cannot write to standard output"))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// A sentence for people, unless they want quiet.
    pub fn say(&self, text: &str) {
        if self.verbosity > Verbosity::Quiet {
            to_error(&format!("{text}\n"));
        }
    }

    /// Something the user should know about the result.
    pub fn note(&self, text: &str) {
        self.say(&format!("{NOTE}note:{NOTE:#} {text}"));
    }

    /// What is said in any case.
    pub fn insist(&self, text: &str) {
        to_error(&format!("{text}\n"));
    }

    /// Why the command could not do what it was asked, with the causes that are not yet in the sentence.
    pub fn error(&self, error: &anyhow::Error) {
        let mut message = String::new();
        for cause in error.chain() {
            let cause = cause.to_string();
            if !message.contains(&cause) {
                if !message.is_empty() {
                    message.push_str(": ");
                }
                message.push_str(&cause);
            }
        }
        to_error(&format!("{ERROR}fewer:{ERROR:#} {message}\n"));
    }

    /// What a command comes to, told where it did not end well.
    pub fn exit_code(&self, result: anyhow::Result<ExitCode>) -> ExitCode {
        match result {
            Ok(code) => code,
            Err(error) if error.is::<Interrupted>() => {
                self.say("interrupted");
                ExitCode::Interrupted
            }
            Err(error) => {
                self.error(&error);
                ExitCode::Setup
            }
        }
    }

    /// A bar that appears when the work has gone on for a second.
    pub fn progress(&self, total: usize) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::hidden());
        let style =
            ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}").expect("the template is valid");
        bar.set_style(style);
        self.pulse.begin(total);
        Progress { bar, started: self.shows_progress.then(Instant::now), pulse: self.pulse.clone() }
    }
}

/// How far some work has come.
pub struct Progress {
    bar: ProgressBar,
    /// `None` when no progress is shown at all, or when the bar already is.
    started: Option<Instant>,
    pulse: Pulse,
}

impl Progress {
    pub fn advance(&mut self, message: &str) {
        self.appear_if_slow();
        self.bar.inc(1);
        self.pulse.advance();
        self.bar.set_message(shown_name(message).into_owned());
    }

    pub fn message(&mut self, message: &str) {
        self.appear_if_slow();
        let name = shown_name(message);
        self.pulse.at(&name);
        self.bar.set_message(name.into_owned());
    }

    /// Runs something that prints, with the bar out of the way.
    pub fn suspend(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }

    fn appear_if_slow(&mut self) {
        if self.started.is_some_and(|started| started.elapsed() > SLOW) {
            self.started = None;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        self.pulse.begin(0);
    }
}

fn to_error(text: &str) {
    // There is nobody left to tell when standard error is gone.
    let _ = anstream::stderr().lock().write_all(shown(text).as_bytes());
}
