//! The result of the benchmark as a table and as JSON. Computes nothing but whether a target is met.

use std::fmt::Write;

use serde::{Serialize, Serializer, ser::SerializeStruct};

use crate::measure::Spread;

/// Everything one run of the benchmark found.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Example: `fewer-bench/1`.
    pub format: &'static str,
    pub project: Option<ProjectSize>,
    pub measures: Vec<Measure>,
}

/// The size of the generated project.
#[derive(Clone, Debug, Serialize)]
pub struct ProjectSize {
    pub translation_units: usize,
    pub executables: usize,
    pub tests: usize,
    pub object_bytes: u64,
    pub archive_bytes: u64,
}

/// One measured value, and the greatest value it may have.
#[derive(Clone, Debug)]
pub struct Measure {
    pub name: String,
    pub unit: Unit,
    pub value: Spread,
    pub target: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    Ratio,
    CpuSeconds,
    Bytes,
}

impl Report {
    pub const FORMAT: &'static str = "fewer-bench/1";

    pub fn add(&mut self, name: &str, unit: Unit, value: Spread, target: Option<f64>) {
        self.measures.push(Measure { name: name.to_string(), unit, value, target });
    }

    pub fn all_met(&self) -> bool {
        self.measures.iter().all(|measure| measure.met() != Some(false))
    }

    pub fn table(&self) -> String {
        let mut text = self.project.as_ref().map_or(String::new(), ProjectSize::line);
        let mut rows = vec![["measure", "median", "least", "greatest", "target", "met"].map(str::to_string)];
        rows.extend(self.measures.iter().map(Measure::row));
        let widths: Vec<usize> = (0..rows[0].len())
            .map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
            .collect();
        for row in &rows {
            let mut line = format!("{:<width$}", row[0], width = widths[0]);
            for (cell, width) in row.iter().zip(&widths).skip(1) {
                let _ = write!(line, "  {cell:>width$}");
            }
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text
    }
}

impl ProjectSize {
    fn line(&self) -> String {
        format!(
            "project: {} translation units, {} tests in {} executables, {} of objects\n\n",
            self.translation_units,
            self.tests,
            self.executables,
            Unit::Bytes.show(self.object_bytes as f64)
        )
    }
}

impl Measure {
    /// Whether the median is within the target, if there is one.
    pub fn met(&self) -> Option<bool> {
        self.target.map(|target| self.value.median <= target)
    }

    fn row(&self) -> [String; 6] {
        let show = |value| self.unit.show(value);
        [
            self.name.clone(),
            show(self.value.median),
            show(self.value.low),
            show(self.value.high),
            self.target.map_or(String::new(), |target| format!("<= {}", show(target))),
            self.met().map_or("", |met| if met { "yes" } else { "NO" }).to_string(),
        ]
    }
}

impl Serialize for Measure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Measure", 6)?;
        fields.serialize_field("name", &self.name)?;
        fields.serialize_field("unit", &self.unit)?;
        fields.serialize_field("median", &self.value.median)?;
        fields.serialize_field("least", &self.value.low)?;
        fields.serialize_field("greatest", &self.value.high)?;
        fields.serialize_field("target", &self.target)?;
        fields.serialize_field("met", &self.met())?;
        fields.end()
    }
}

impl Unit {
    fn show(self, value: f64) -> String {
        match self {
            Unit::Ratio => format!("{value:.3}"),
            Unit::CpuSeconds => format!("{value:.3} s"),
            Unit::Bytes if value < 1e4 => format!("{value:.0} B"),
            Unit::Bytes => format!("{:.1} MB", value / 1e6),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(median: f64) -> Report {
        let value = Spread { median, low: 0.5, high: 2.0 };
        let measure = |target| Measure { name: "work".into(), unit: Unit::Ratio, value, target };
        Report { format: Report::FORMAT, project: None, measures: vec![measure(None), measure(Some(1.0))] }
    }

    #[test]
    fn the_median_decides_whether_a_target_is_met() {
        assert!(report(1.0).all_met());
        assert!(!report(1.1).all_met());
    }

    #[test]
    fn the_table_has_a_line_per_measure() {
        let expected = "\
measure  median  least  greatest    target  met
work      1.100  0.500     2.000
work      1.100  0.500     2.000  <= 1.000   NO
";
        assert_eq!(report(1.1).table(), expected);
    }

    #[test]
    fn json_carries_format_target_and_verdict() {
        let json = serde_json::to_value(report(1.0)).unwrap();
        assert_eq!(json["format"], "fewer-bench/1");
        assert_eq!(json["measures"][0]["met"], serde_json::Value::Null);
        assert_eq!(json["measures"][1]["met"], true);
        assert_eq!(json["measures"][1]["target"], 1.0);
    }
}
