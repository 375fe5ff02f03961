//! `fewer completions` and `fewer man`: made from the command line's own description.

use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;
use fewer_console::{Console, ExitCode};

use crate::cli::{Cli, ManOptions};

pub fn completions(console: &Console, shell: Shell) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "fewer", &mut script);
    console.data(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::Green)
}

pub fn man(console: &Console, options: &ManOptions) -> anyhow::Result<ExitCode> {
    match &options.pages {
        Some(directory) => clap_mangen::generate_to(Cli::command(), directory)
            .with_context(|| format!("cannot write manual pages into {}", directory.display()))?,
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command())
                .render(&mut page)
                .context("cannot write the manual page")?;
            console.data(&String::from_utf8_lossy(&page))?;
        }
    }
    Ok(ExitCode::Green)
}
