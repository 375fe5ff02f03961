//! What `fewer` and `fewer-lab` have in common towards people: the flags that every command knows, the terminal, exit
//! codes and interruption. What is said and done is each program's own.

mod exit_code;
mod flags;
mod harmless;
mod interruption;
mod pulse;
mod terminal;

pub use exit_code::ExitCode;
pub use flags::{Color, Format, Global, TableFormat};
pub use harmless::{is_obeyed, shown_name};
pub use interruption::Interrupted;
pub use pulse::Pulse;
pub use terminal::{Console, Progress, Verbosity};
