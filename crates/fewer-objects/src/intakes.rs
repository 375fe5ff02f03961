//! What code takes in besides code: files, programs and libraries of the project, and the nodes through which code
//! reaches them. Which functions take something in is told by `effects`.

use fewer_core::{Digest, DigestBuilder};

use crate::effects::Intake;
use crate::link::{GROUP, Linked, OUTSIDE};

/// An input that is not code, with its content. Example: `file testdata/a.txt`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedDigest {
    pub name: String,
    pub digest: Digest,
}

/// What code may take in besides code.
#[derive(Clone, Debug, Default)]
pub struct Intakes {
    pub files: Vec<NamedDigest>,
    pub programs: Vec<NamedDigest>,
    pub libraries: Vec<NamedDigest>,
}

impl Intakes {
    pub fn of(&self, intake: Intake) -> &[NamedDigest] {
        match intake {
            Intake::Files => &self.files,
            Intake::Programs => &self.programs,
            Intake::Libraries => &self.libraries,
        }
    }
}

/// The nodes of inputs, by kind, in the order of the inputs.
pub type InputNodes = Vec<(Intake, Vec<u32>)>;

/// Nodes through which code reaches files, programs and libraries; made when the first code needs them.
#[derive(Default)]
pub struct IntakeNodes {
    gates: std::collections::BTreeMap<(Intake, u32), u32>,
}

impl IntakeNodes {
    /// Whether some code takes in something of this kind.
    pub fn has(&self, intake: Intake) -> bool {
        self.gates.keys().any(|(kind, _)| *kind == intake)
    }

    /// The node for project code that uses the outside function `function`.
    pub fn gate(&mut self, linked: &mut Linked<'_>, intake: Intake, function: u32) -> u32 {
        if let Some(&gate) = self.gates.get(&(intake, function)) {
            return gate;
        }
        let name = String::from_utf8_lossy(linked.symbol(function)).into_owned();
        let content = DigestBuilder::new(OUTSIDE).text("intake").text(&name).finish();
        let gate = linked.make(name, content, [function]);
        self.gates.insert((intake, function), gate);
        gate
    }

    /// Leads every gate to all inputs of its kind. Gives the nodes of the inputs, by kind.
    pub fn finish(self, linked: &mut Linked<'_>, intakes: &Intakes) -> InputNodes {
        let mut nodes = InputNodes::new();
        for intake in [Intake::Files, Intake::Programs, Intake::Libraries] {
            let gates: Vec<u32> =
                self.gates.iter().filter(|((kind, _), _)| *kind == intake).map(|(_, &gate)| gate).collect();
            if gates.is_empty() {
                continue;
            }
            let title = match intake {
                Intake::Files => "files of the project that are not code",
                Intake::Programs => "programs built by the project",
                Intake::Libraries => "libraries built by the project",
            };
            let inputs = intakes.of(intake);
            let children: Vec<u32> =
                inputs.iter().map(|input| linked.make(input.name.clone(), input.digest, [])).collect();
            let hub =
                linked.make(title.to_string(), Digest::of(GROUP, title.as_bytes()), children.iter().copied());
            linked.extra.extend(gates.into_iter().map(|gate| (gate, hub)));
            nodes.push((intake, children));
        }
        nodes
    }
}
