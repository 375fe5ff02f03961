//! The exit codes, which scripts rely on.

/// How a command ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExitCode {
    /// Everything is green, run or reused; or the command did what it was asked.
    Green,
    /// A test failed, or its outcome could not be told.
    TestFailed,
    /// Wrong usage, or something that is needed is missing.
    Setup,
    /// The build command failed.
    BuildFailed,
    /// Stopped by Ctrl-C, SIGTERM or SIGHUP.
    Interrupted,
}

impl From<ExitCode> for u8 {
    fn from(code: ExitCode) -> u8 {
        match code {
            ExitCode::Green => 0,
            ExitCode::TestFailed => 1,
            ExitCode::Setup => 2,
            ExitCode::BuildFailed => 3,
            ExitCode::Interrupted => 130,
        }
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> std::process::ExitCode {
        std::process::ExitCode::from(u8::from(code))
    }
}
