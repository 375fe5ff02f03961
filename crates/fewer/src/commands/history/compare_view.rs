//! The comparison of FEST, ClassSRTS and running everything as a table, as JSON and as CSV. Computes nothing but
//! means.

use std::collections::BTreeMap;
use std::fmt::Write;

use fewer_report::{Table, document};
use serde::Serialize;

use super::compare_measures::{Category, Comparison, Measures, mean};

/// One version.
#[derive(Clone, Debug, Serialize)]
pub struct VersionView {
    pub commit: String,
    /// Classes and inputs that differ from the version before.
    pub changed: usize,
    /// How many tests FEST adds because they failed lately.
    pub extension: usize,
    pub category: Category,
    #[serde(flatten)]
    pub comparison: Comparison,
}

/// Recorded versions that are not judged, by why.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct LeftOut {
    /// CI ran nothing.
    pub without_tests: usize,
    /// Nothing that counts differs from the version before.
    pub without_change: usize,
    /// There is nothing to compare it with.
    pub without_predecessor: usize,
    /// Not on the chain of first parents of the range.
    pub elsewhere: usize,
}

/// A group of versions.
#[derive(Clone, Debug, Serialize)]
pub struct GroupView {
    pub versions: usize,
    pub mean: Comparison,
}

#[derive(Clone, Debug, Serialize)]
pub struct CompareView {
    pub range: String,
    pub failed_within: usize,
    pub all: GroupView,
    pub categories: BTreeMap<Category, GroupView>,
    pub left_out: LeftOut,
    pub versions: Vec<VersionView>,
    pub notes: Vec<String>,
}

const APPROACHES: [&str; 4] = ["CI", "FEST", "ClassSRTS", "all"];

impl CompareView {
    pub fn new(
        range: String,
        failed_within: usize,
        versions: Vec<VersionView>,
        left_out: LeftOut,
        unreadable: Vec<String>,
    ) -> CompareView {
        let group = |of: &dyn Fn(&VersionView) -> bool| {
            let comparisons: Vec<&Comparison> =
                versions.iter().filter(|version| of(version)).map(|version| &version.comparison).collect();
            GroupView { versions: comparisons.len(), mean: mean(comparisons) }
        };
        let categories =
            Category::ALL.map(|category| (category, group(&|version| version.category == category)));
        let mut notes: Vec<String> =
            unreadable.into_iter().map(|file| format!("not a report that can be read: {file}")).collect();
        notes.extend(left_out.note());
        CompareView {
            range,
            failed_within,
            all: group(&|_| true),
            categories: categories.into(),
            left_out,
            versions,
            notes,
        }
    }

    /// `fewer-history-compare-java/1`.
    pub fn json(&self) -> String {
        document("fewer-history-compare-java/1", self)
    }

    /// A line per version.
    pub fn csv(&self) -> String {
        let mut text = String::from("commit,changed,extension,category");
        for approach in ["ci", "fest", "class_srts", "all"] {
            for measure in ["tests", "faults", "fcovg", "fenhm", "testscal", "riskcomp"] {
                let _ = write!(text, ",{approach}_{measure}");
            }
        }
        text.push_str(",fcovg_of_class_srts,fenhm_over_class_srts\n");
        for version in &self.versions {
            let category = version.category.words().replace(' ', "-").to_lowercase();
            let _ = write!(text, "{},{},{},{category}", version.commit, version.changed, version.extension);
            let comparison = &version.comparison;
            for measures in approaches(comparison) {
                let Measures { tests, faults, fcovg, fenhm, testscal, riskcomp } = measures;
                let _ = write!(text, ",{tests},{faults},{fcovg},{fenhm},{testscal},{riskcomp}");
            }
            let _ =
                writeln!(text, ",{},{}", comparison.fcovg_of_class_srts, comparison.fenhm_over_class_srts);
        }
        text
    }

    pub fn text(&self) -> String {
        if self.versions.is_empty() {
            return "no version to judge\n".to_string();
        }
        let mut text = self.version_table().text();
        let _ = writeln!(text, "\nmeans over {} versions", self.all.versions);
        text.push_str(&mean_table(&self.all.mean).text());
        for (category, group) in self.categories.iter().filter(|(_, group)| group.versions > 0) {
            let share = 100.0 * group.versions as f64 / self.all.versions as f64;
            let who = category.words();
            let _ = writeln!(text, "\nfaults found by {who}: {} versions ({share:.0} %)", group.versions);
            text.push_str(&mean_table(&group.mean).text());
        }
        text
    }

    fn version_table(&self) -> Table {
        let mut table = Table::new(&[false, true, true, true, true, true, true, true, true, true, true]);
        let headings = "version|changed|CI|FEST|ClassSRTS|all|faults CI|FEST|ClassSRTS|late|found by";
        table.row(headings.split('|'));
        for version in &self.versions {
            let Comparison { ci, fest, class_srts, all, .. } = &version.comparison;
            let short: String = version.commit.chars().take(10).collect();
            table.row([
                short,
                version.changed.to_string(),
                ci.tests.to_string(),
                fest.tests.to_string(),
                class_srts.tests.to_string(),
                all.tests.to_string(),
                ci.faults.to_string(),
                fest.faults.to_string(),
                class_srts.faults.to_string(),
                (all.faults - ci.faults).to_string(),
                version.category.words().to_string(),
            ]);
        }
        table
    }
}

impl LeftOut {
    fn note(&self) -> Option<String> {
        let LeftOut { without_tests, without_change, without_predecessor, elsewhere } = self;
        let parts: Vec<String> = [
            (without_tests, "where CI ran nothing"),
            (without_change, "without a change that counts"),
            (without_predecessor, "with nothing before it"),
            (elsewhere, "not on the range's chain of first parents"),
        ]
        .into_iter()
        .filter(|(count, _)| **count > 0)
        .map(|(count, why)| format!("{count} {why}"))
        .collect();
        (!parts.is_empty()).then(|| format!("recorded versions that are not judged: {}", parts.join(", ")))
    }
}

fn approaches(comparison: &Comparison) -> [&Measures; 4] {
    [&comparison.ci, &comparison.fest, &comparison.class_srts, &comparison.all]
}

fn mean_table(comparison: &Comparison) -> Table {
    let mut table = Table::new(&[false, true, true, true, true, true, true]);
    table.row(["", "tests", "faults", "Fcovg", "Fenhm", "Testscal", "Riskcomp"]);
    for (name, measures) in APPROACHES.into_iter().zip(approaches(comparison)) {
        let Measures { tests, faults, fcovg, fenhm, testscal, riskcomp } = measures;
        table.row([
            name.to_string(),
            format!("{tests:.1}"),
            format!("{faults:.2}"),
            format!("{fcovg:.1} %"),
            format!("{fenhm:.2}"),
            format!("{testscal:.3}"),
            // What really ran compensates for nothing.
            if name == "CI" { String::new() } else { format!("{riskcomp:.3}") },
        ]);
    }
    table
}
