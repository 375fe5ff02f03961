//! The error that stands for Ctrl-C, SIGTERM and SIGHUP; who looks at their flag is each program's own business.

use std::fmt;

/// The user stopped the command.
#[derive(Debug)]
pub struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}
