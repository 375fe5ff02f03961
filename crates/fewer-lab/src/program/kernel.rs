//! `fewer simulate kernel`: the kernels between standard input and standard output, as Arrow IPC streams. Hidden: it is
//! for engines that run elsewhere and call the same kernels.

use std::io;
use std::path::Path;

use anyhow::Context;
use fewer_console::ExitCode;
use fewer_lab::engine::embedded::read_directories;
use fewer_lab::kernel::{CommitKernel, Positions, TargetKernel, TargetKernelOptions, pipe};

use super::options::{KernelCommand, TargetKernelArguments};

pub fn execute(command: &KernelCommand) -> anyhow::Result<ExitCode> {
    let (input, output) = (io::stdin().lock(), io::stdout().lock());
    match command {
        KernelCommand::A(arguments) => {
            let directories = arguments.modified_files.as_deref().map(read_directories).transpose()?;
            let mut kernel = TargetKernel::new(options(arguments)?, directories.as_ref());
            pipe(&mut kernel, input, output)?;
        }
        KernelCommand::B(experiment) => {
            pipe(&mut CommitKernel::new(&experiment.experiment()), input, output)?;
        }
    }
    Ok(ExitCode::Green)
}

fn options(arguments: &TargetKernelArguments) -> anyhow::Result<TargetKernelOptions> {
    let scored = arguments.experiment.experiment().scored();
    Ok(TargetKernelOptions {
        configurations: if arguments.labels_only || arguments.survey { Vec::new() } else { scored },
        commits: arguments.commits.as_deref().map(positions).transpose()?,
        is_survey: arguments.survey,
    })
}

fn positions(path: &Path) -> anyhow::Result<Positions> {
    let text =
        fewer_files::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let position = |line: &str| {
        line.trim().parse::<u32>().with_context(|| format!("'{line}' in {} is no position", path.display()))
    };
    text.lines().filter(|line| !line.trim().is_empty()).map(position).collect()
}
