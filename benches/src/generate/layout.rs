//! What the generated project consists of, drawn from a seed: libraries in layers, their units, and what calls
//! what. Knows the value of every generated function, so that the generated tests can expect it.
//! How any of it looks in C++ is not decided here.

use crate::generate::Parameters;
use crate::random::Random;

const LIBRARIES: [&str; 12] = [
    "base", "text", "numeric", "geometry", "codec", "config", "storage", "topology", "network", "market",
    "render", "desk",
];
const NOUNS: [&str; 24] = [
    "Registry",
    "Planner",
    "Catalog",
    "Window",
    "Grammar",
    "Ledger",
    "Filter",
    "Chart",
    "Buffer",
    "Query",
    "Session",
    "Router",
    "Atlas",
    "Ring",
    "Formatter",
    "Broker",
    "Sampler",
    "Index",
    "History",
    "Matcher",
    "Scheduler",
    "Encoder",
    "Roster",
    "Queue",
];
const WORDS: [&str; 16] = [
    "amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "inlet", "jade", "knoll",
    "lagoon", "maple", "north", "ochre", "prairie",
];

/// The names of a unit's generated functions; the last one is inline in its header.
pub(super) const FORMULA_NAMES: [&str; 4] = ["weight", "cost", "rank", "limit"];
pub(super) const INLINE_FORMULA: usize = FORMULA_NAMES.len() - 1;

#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub libraries: Vec<Library>,
}

#[derive(Clone, Debug)]
pub(super) struct Library {
    pub name: &'static str,
    /// Indices of the libraries it calls, all smaller than its own.
    pub depends: Vec<usize>,
    /// The first is the registry.
    pub units: Vec<Unit>,
}

/// A header and a source file with one main class.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    pub name: String,
    pub class: String,
    pub kind: Kind,
    /// The unit whose class this one's derives from, for stages.
    pub base: Option<usize>,
    pub numbers: [i64; 4],
    pub argument: i64,
    pub key: &'static str,
    pub signs: (char, char),
    pub rows: Vec<Row>,
    /// What the class calls.
    pub call: Option<FormulaRef>,
    pub formulas: Vec<Formula>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Registry,
    Stage,
    Table,
    Container,
    Parser,
    Service,
}

#[derive(Clone, Debug)]
pub(super) struct Row {
    pub key: String,
    pub value: i64,
    pub weight: f64,
}

/// A function from a non-negative number to a number: a body, and what another formula gives for `x % 97`.
#[derive(Clone, Debug)]
pub(super) struct Formula {
    pub body: Body,
    pub callee: Option<FormulaRef>,
}

#[derive(Clone, Debug)]
pub(super) enum Body {
    Linear { factor: i64, offset: i64, modulus: i64 },
    Switch { values: Vec<i64> },
    Sum { terms: i64, step: i64 },
    Text { width: i64, factor: i64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FormulaRef {
    pub library: usize,
    pub unit: usize,
    pub formula: usize,
}

impl Layout {
    pub(super) fn draw(parameters: &Parameters) -> Layout {
        assert!(parameters.libraries <= LIBRARIES.len() && parameters.units_per_library <= NOUNS.len());
        let mut random = Random::new(parameters.seed);
        let mut layout = Layout { libraries: Vec::new() };
        for (index, name) in LIBRARIES.into_iter().enumerate().take(parameters.libraries) {
            let depends = draw_dependencies(index, &mut random);
            layout.libraries.push(Library { name, depends, units: Vec::new() });
            for unit in 0..parameters.units_per_library {
                let unit = layout.draw_unit(index, unit, &mut random);
                layout.libraries[index].units.push(unit);
            }
        }
        layout
    }

    pub(super) fn unit(&self, reference: FormulaRef) -> &Unit {
        &self.libraries[reference.library].units[reference.unit]
    }

    /// What a generated function gives for `x >= 0`.
    pub(super) fn value(&self, reference: FormulaRef, x: i64) -> i64 {
        let formula = &self.unit(reference).formulas[reference.formula];
        let own = match &formula.body {
            Body::Linear { factor, offset, modulus } => (x * factor + offset) % modulus,
            Body::Switch { values } => values[x as usize % values.len()],
            Body::Sum { terms, step } => (0..*terms).map(|term| x + term * step).sum(),
            Body::Text { width, factor } => (x.to_string().len() as i64 + width) * factor,
        };
        own + formula.callee.map_or(0, |callee| self.value(callee, x % 97))
    }

    /// The library and everything it needs, itself first, each before what it depends on.
    pub(super) fn closure(&self, library: usize) -> Vec<usize> {
        let mut needed = vec![false; library + 1];
        needed[library] = true;
        for index in (0..=library).rev() {
            if needed[index] {
                self.libraries[index].depends.iter().for_each(|&dependency| needed[dependency] = true);
            }
        }
        (0..=library).rev().filter(|&index| needed[index]).collect()
    }

    fn draw_unit(&self, library: usize, index: usize, random: &mut Random) -> Unit {
        let kind = match index {
            0 => Kind::Registry,
            _ => [Kind::Stage, Kind::Table, Kind::Container, Kind::Parser, Kind::Service][(index - 1) % 5],
        };
        let earlier = &self.libraries[library].units;
        let base = earlier.iter().rposition(|unit| unit.kind == kind).filter(|_| random.below(3) > 0);
        let formulas = match kind {
            Kind::Registry => Vec::new(),
            _ => (0..FORMULA_NAMES.len()).map(|name| self.draw_formula(library, name, random)).collect(),
        };
        Unit {
            name: NOUNS[index].to_lowercase(),
            class: NOUNS[index].to_string(),
            kind,
            base: base.filter(|_| kind == Kind::Stage),
            numbers: [(); 4].map(|()| random.between(2, 9) as i64),
            argument: random.between(10, 400) as i64,
            key: WORDS[random.below(WORDS.len())],
            signs: (*random.pick(&['+', '|', '&', ';']), *random.pick(&['*', '^', '%', '~'])),
            rows: if kind == Kind::Table { draw_rows(random) } else { Vec::new() },
            call: self.draw_callee(library, 0..INLINE_FORMULA, random),
            formulas,
        }
    }

    fn draw_formula(&self, library: usize, name: usize, random: &mut Random) -> Formula {
        if name == INLINE_FORMULA {
            let callee = self.draw_callee(library, INLINE_FORMULA..INLINE_FORMULA + 1, random);
            return Formula { body: draw_linear(random), callee };
        }
        let body = match random.below(4) {
            0 => draw_linear(random),
            1 => {
                let cases = random.between(5, 12);
                Body::Switch { values: (0..cases).map(|_| random.between(1, 5000) as i64).collect() }
            }
            2 => Body::Sum { terms: random.between(2, 9) as i64, step: random.between(1, 30) as i64 },
            _ => Body::Text { width: random.between(1, 40) as i64, factor: random.between(2, 9) as i64 },
        };
        Formula { body, callee: self.draw_callee(library, 0..FORMULA_NAMES.len(), random) }
    }

    /// A formula of an earlier unit of the library or of a library it depends on, if there is one.
    fn draw_callee(
        &self,
        library: usize,
        names: std::ops::Range<usize>,
        random: &mut Random,
    ) -> Option<FormulaRef> {
        let mut from = self.libraries[library].depends.clone();
        if self.libraries[library].units.len() > 1 {
            from.extend([library, library]);
        }
        if from.is_empty() {
            return None;
        }
        let library = *random.pick(&from);
        let unit = random.between(1, self.libraries[library].units.len() - 1);
        Some(FormulaRef { library, unit, formula: random.between(names.start, names.end - 1) })
    }
}

fn draw_dependencies(library: usize, random: &mut Random) -> Vec<usize> {
    let mut depends: Vec<usize> = match library {
        0 => Vec::new(),
        _ => (0..random.between(1, 3)).map(|_| random.below(library)).collect(),
    };
    depends.sort_unstable();
    depends.dedup();
    depends
}

fn draw_rows(random: &mut Random) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for _ in 0..random.between(12, 30) {
        let key = format!("{}_{}", random.pick(&WORDS), random.pick(&WORDS));
        if rows.iter().all(|row| row.key != key) {
            let value = random.between(1, 900) as i64;
            rows.push(Row { key, value, weight: random.between(1, 40) as f64 / 8.0 });
        }
    }
    rows
}

fn draw_linear(random: &mut Random) -> Body {
    Body::Linear {
        factor: random.between(2, 60) as i64,
        offset: random.between(1, 500) as i64,
        modulus: random.between(97, 997) as i64,
    }
}
