//! The experiments as SVG: tests per commit as lines, sizes and losses as boxes.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use fewer_core::reduction::{Choice, Distribution, Run, Sizes};
use fewer_report::plot::{self, Axis, BoxPlot, Line, LinePlot};

use super::experiment::ExperimentView;
use super::revision::short;

/// Writes all plots and returns their paths.
pub fn write(view: &ExperimentView, directory: &Path) -> anyhow::Result<Vec<PathBuf>> {
    fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let mut plots = Vec::new();
    for run in view.runs.iter().filter(|run| !run.choices.is_empty()) {
        let at = short(&view.revisions[run.reduced_at]);
        plots.push((format!("tests-{at}.svg"), tests_per_commit(run, at).svg()?));
        plots.push((format!("sizes-{at}.svg"), sizes(&run.all, at, "all commits").svg()?));
        let title = "commits that select a test";
        plots.push((format!("sizes-without-zero-{at}.svg"), sizes(&run.without_zero, at, title).svg()?));
    }
    if !view.losses.is_empty() {
        plots.push(("losses.svg".to_string(), losses(view).svg()?));
    }
    let mut paths = Vec::new();
    for (name, svg) in plots {
        let path = directory.join(name);
        fs::write(&path, svg).with_context(|| format!("cannot write {}", path.display()))?;
        paths.push(path);
    }
    Ok(paths)
}

fn tests_per_commit(run: &Run, at: &str) -> LinePlot {
    let greatest = run.choices.iter().map(|choice| choice.full).max().unwrap_or(0) as f64;
    let line = |way: Choice| {
        let point = |(index, choice): (usize, &fewer_core::reduction::RevisionChoice)| {
            ((index + 1) as f64, choice.count(way) as f64)
        };
        Line {
            name: way.word().replace('-', " "),
            points: run.choices.iter().enumerate().map(point).collect(),
        }
    };
    LinePlot {
        title: format!("Tests chosen per commit, suite reduced at {at}"),
        x: Axis::amounts("commits since the reduction", run.choices.len() as f64),
        y: Axis::amounts("tests", greatest),
        lines: Choice::ALL.into_iter().map(line).collect(),
        markers: run.choices.len() <= 50,
    }
}

fn sizes(sizes: &Sizes, at: &str, which: &str) -> BoxPlot {
    let boxes = [
        ("reduced", sizes.reduced),
        ("selected", sizes.selected),
        ("selection of reduction", sizes.selection_of_reduction),
    ];
    BoxPlot {
        title: format!("Size of what is chosen, suite reduced at {at}, {which}"),
        x_label: String::new(),
        y: Axis::percent("% of the full suite"),
        boxes: boxes.into_iter().filter_map(|(name, sizes)| Some(boxed(name.to_string(), sizes?))).collect(),
    }
}

fn losses(view: &ExperimentView) -> BoxPlot {
    let boxes: Vec<plot::Distribution> = view
        .losses
        .iter()
        .flat_map(|losses| {
            let kind = losses.kind.word();
            [
                (format!("change-related {kind}"), losses.change_related),
                (format!("all {kind}"), losses.traditional),
            ]
        })
        .filter_map(|(name, losses)| Some(boxed(name, losses?)))
        .collect();
    let greatest = boxes.iter().map(|each| each.greatest).fold(1.0, f64::max);
    BoxPlot {
        title: "Loss of evolved reduced suites".to_string(),
        x_label: String::new(),
        y: Axis::amounts("% lost", greatest),
        boxes,
    }
}

fn boxed(name: String, of: Distribution) -> plot::Distribution {
    plot::Distribution {
        name,
        least: of.least,
        lower_quartile: of.lower_quartile,
        median: of.median,
        upper_quartile: of.upper_quartile,
        greatest: of.greatest,
    }
}
