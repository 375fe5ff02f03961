//! Every figure as an SVG beside its table, from the table's own rows: a plot can show nothing that the table has not.

use std::fs;
use std::path::Path;

use anyhow::Context;
use fewer_lab::{Cell, Table};
use fewer_report::plot::{Axis, Bar, BarPlot, DotPlot, Line, LinePlot, PlotError};

/// Writes `NAME.svg` for every figure that has rows.
pub fn write(tables: &[Table], directory: &Path) -> anyhow::Result<()> {
    for table in tables.iter().filter(|table| !table.is_empty()) {
        let Some(svg) = plot(table) else { continue };
        let path = directory.join(format!("{}.svg", table.name));
        fs::write(&path, svg?).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// `None` for tables that are no figure.
fn plot(table: &Table) -> Option<Result<String, PlotError>> {
    Some(match table.name.as_str() {
        "figure-1" => flakiness(table).svg(),
        "figure-2" => sources(table).svg(),
        "figure-3" => example(table).svg(),
        "figure-4" | "figure-7" => curves(table, "safe selections (% of commits)").svg(),
        "figure-5" => curves(table, "unsafe selections (% of commits)").svg(),
        "figure-6" => curves(table, "maybe-unsafe selections (% of commits)").svg(),
        "figure-8" => windows(table).svg(),
        _ => return None,
    })
}

fn flakiness(table: &Table) -> LinePlot {
    let lines = grouped(table, |row| text(table, row, "data"), |row| by_rate(table, row));
    let greatest = lines.iter().flat_map(|line| &line.points).map(|point| point.1).fold(0.0, f64::max);
    LinePlot {
        title: table.title.clone(),
        x: skip_rates(),
        y: Axis::amounts("commits with an unsafe selection (%)", greatest),
        lines,
        markers: false,
    }
}

fn sources(table: &Table) -> BarPlot {
    let bar = |row| {
        let (share, transitions) = (100.0 * number(table, row, "share"), number(table, row, "transitions"));
        Bar {
            name: text(table, row, "source"),
            amount: share,
            text: format!("{share:.1} % ({transitions:.0})"),
        }
    };
    BarPlot {
        title: table.title.clone(),
        x: Axis::percent("transitions (%)"),
        bars: (0..table.len()).map(bar).collect(),
    }
}

/// Results upwards, commits to the right, labels as colours and shapes.
fn example(table: &Table) -> DotPlot {
    const RESULTS: [&str; 3] = ["fail", "not-run", "pass"];
    let height = |row| {
        let result = text(table, row, "result");
        RESULTS.iter().position(|known| *known == result).unwrap_or_default() as f64
    };
    let positions = (0..table.len()).map(|row| format!("{:.0}", number(table, row, "position")));
    DotPlot {
        title: format!("{}: {}", table.title, shortened(&text(table, 0, "target"))),
        x: Axis::names("commit (position in the history)", positions),
        y: Axis::names("result", RESULTS.map(|result| result.replace('-', " "))),
        kinds: grouped(table, |row| text(table, row, "label"), |row| (row as f64, height(row))),
    }
}

fn curves(table: &Table, share: &str) -> LinePlot {
    LinePlot {
        title: table.title.clone(),
        x: skip_rates(),
        y: Axis::percent(share),
        lines: grouped(table, |row| configuration(table, row), |row| by_rate(table, row)),
        markers: false,
    }
}

/// Windows double from one to the next, so that they stand at equal distances.
fn windows(table: &Table) -> LinePlot {
    let mut hours: Vec<u64> = (0..table.len()).map(|row| number(table, row, "hours") as u64).collect();
    hours.sort_unstable();
    hours.dedup();
    let place = |row| hours.partition_point(|known| *known < number(table, row, "hours") as u64) as f64;
    let name = |row| match text(table, row, "varied").as_str() {
        "window" => text(table, row, "algorithm"),
        varied => format!("{}, by {varied}", text(table, row, "algorithm")),
    };
    LinePlot {
        title: table.title.clone(),
        x: Axis::names("window (hours)", hours.iter().map(u64::to_string)),
        y: Axis::percent("safe selections (% of commits)"),
        lines: grouped(table, name, |row| (place(row), 100.0 * number(table, row, "share"))),
        markers: true,
    }
}

fn skip_rates() -> Axis {
    Axis::percent("skipped targets (%)")
}

fn by_rate(table: &Table, row: usize) -> (f64, f64) {
    (number(table, row, "skip_rate"), 100.0 * number(table, row, "share"))
}

/// Example: `transition-count 96 h/1 h`.
fn configuration(table: &Table, row: usize) -> String {
    let hours = ["window_h", "milestone_h"].map(|name| match cell(table, row, name) {
        Cell::Integer(hours) => Some(format!("{hours} h")),
        Cell::Text(_) | Cell::Number(_) | Cell::Nothing => None,
    });
    let hours: Vec<String> = hours.into_iter().flatten().collect();
    format!("{} {}", text(table, row, "algorithm"), hours.join("/")).trim_end().to_string()
}

/// Rows of one name become one line, in the order of the table.
fn grouped(table: &Table, name: impl Fn(usize) -> String, point: impl Fn(usize) -> (f64, f64)) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for row in 0..table.len() {
        let name = name(row);
        match lines.iter_mut().find(|line| line.name == name) {
            Some(line) => line.points.push(point(row)),
            None => lines.push(Line { name, points: vec![point(row)] }),
        }
    }
    lines
}

/// The end of a long name, which tells targets apart.
fn shortened(name: &str) -> String {
    const MOST: usize = 40;
    let length = name.chars().count();
    if length <= MOST {
        return name.to_string();
    }
    format!("…{}", name.chars().skip(length - MOST).collect::<String>())
}

fn cell(table: &Table, row: usize, name: &str) -> Cell {
    let column = table.names().iter().position(|known| *known == name);
    table.cell(row, column.expect("the figure's table has the column"))
}

fn text(table: &Table, row: usize, name: &str) -> String {
    match cell(table, row, name) {
        Cell::Text(text) => text,
        Cell::Integer(_) | Cell::Number(_) | Cell::Nothing => String::new(),
    }
}

fn number(table: &Table, row: usize, name: &str) -> f64 {
    match cell(table, row, name) {
        Cell::Integer(number) => number as f64,
        Cell::Number(number) => number,
        Cell::Text(_) | Cell::Nothing => 0.0,
    }
}
