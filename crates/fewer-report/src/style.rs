//! The few colours that are used, as ANSI sequences, and names for people: what a mangled symbol is called is
//! given by the caller.

pub const RESET: &str = "\x1b[0m";

/// What a piece of text means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tone {
    Good,
    Bad,
    Warning,
    Strong,
    Faint,
}

impl Tone {
    fn sequence(self) -> &'static str {
        match self {
            Tone::Good => "\x1b[32m",
            Tone::Bad => "\x1b[1;31m",
            Tone::Warning => "\x1b[33m",
            Tone::Strong => "\x1b[1m",
            Tone::Faint => "\x1b[2m",
        }
    }
}

/// The text in a tone.
pub fn paint(tone: Tone, text: &str) -> String {
    format!("{}{text}{RESET}", tone.sequence())
}
