//! `fewer simulate generate`: synthetic histories.

use fewer_console::{Console, ExitCode, Format};
use fewer_lab::Hours;
use fewer_lab::generate::{Shape, generate};
use fewer_report::document;

use super::meter::Meter;
use super::options::GenerateOptions;

pub fn execute(console: &Console, options: &GenerateOptions) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(
        options.days > 0.0,
        "--days {} leaves no time for commits: name a greater number",
        options.days
    );
    let shape = shape(options);
    let meter = Meter::new(console)?;
    let generated = meter.concluded(generate(&shape, &options.output, &meter))?;
    console.data(&match options.format {
        Format::Json => document("fewer-simulate-generate/1", &generated),
        Format::Text => format!(
            "{} rows of {} commits are in {}: {} were not run, {} failed\n",
            generated.rows,
            generated.commits,
            options.output.display(),
            generated.not_run,
            generated.failed
        ),
    })?;
    Ok(ExitCode::Green)
}

fn shape(options: &GenerateOptions) -> Shape {
    let usual = Shape::of_rows(options.rows, options.seed);
    Shape {
        commits: options.commits.unwrap_or(usual.commits),
        targets: options.targets.unwrap_or(usual.targets),
        authors: options.authors.unwrap_or(usual.authors),
        days: options.days,
        churn: options.churn,
        flaky: options.flaky,
        breaks: options.breaks,
        milestone: Some(Hours(options.milestone)).filter(|hours| hours.0 > 0),
        pre_submit: options.pre_submit,
        ..usual
    }
}
