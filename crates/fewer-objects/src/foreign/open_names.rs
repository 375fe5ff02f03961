//! What lies at addresses that only names can tell of: by the symbols that begin there, what the loader fills in, where code
//! goes on to, and the symbols around.

use std::cmp::Reverse;

use fewer_core::DigestBuilder;
use iced_x86::{Decoder, DecoderOptions, Mnemonic};

use crate::address_fields::AddressField;
use crate::layout::{Body, SymbolPlace};
use crate::relocatable::{STT_FUNC, STT_GNU_IFUNC, STT_OBJECT};
use crate::summary::NameKey;
use crate::symbol_names::is_counter;

use super::cover::Cover;
use super::program::Program;
use super::{FOREIGN, Found, Identity, Label, Reference, Room, code_fields, masked_digest, word_fields};

/// What lies at addresses that are not of foreign symbols, by all symbols of the file. Sorted.
pub(super) struct OpenNames<'d> {
    addresses: Vec<u64>,
    pub(super) labels: Vec<Label<'d>>,
}

impl<'d> OpenNames<'d> {
    /// `None` if symbols lie within each other too often.
    pub(super) fn of(
        program: &Program<'d>,
        identities: &[Identity],
        found: &Found<'d>,
        mut room: Room,
    ) -> Option<Self> {
        let addresses = found.open();
        let mut labels = program.begun_at(&addresses, identities, &mut room)?;
        // Where nothing begins, the loader fills in an address, or code goes on from there.
        let mut behind: Vec<(u64, usize)> = Vec::new();
        for (place, label) in labels.iter_mut().enumerate().filter(|(_, label)| label.is_none()) {
            match program.way_on(addresses[place]) {
                Some(Reference::To(there)) => *label = Some(there),
                Some(Reference::Open(address)) => behind.push((address, place)),
                Some(Reference::AsBefore) | None => {}
            }
        }
        behind.sort_unstable();
        let led_to: Vec<u64> = behind.iter().map(|(address, _)| *address).collect();
        let mut there = match led_to.is_empty() {
            true => Vec::new(),
            false => program.begun_at(&led_to, identities, &mut room)?,
        };
        program.name_within(&led_to, &mut there, identities, &mut room)?;
        for ((_, place), there) in behind.into_iter().zip(there) {
            labels[place] = Some(there.unwrap_or(Label::Nothing));
        }
        program.name_within(&addresses, &mut labels, identities, &mut room)?;
        let labels = labels.into_iter().map(|label| label.unwrap_or(Label::Nothing)).collect();
        Some(OpenNames { addresses, labels })
    }

    pub(super) fn label(&self, address: u64) -> Label<'d> {
        self.addresses.binary_search(&address).map_or(Label::Nothing, |place| self.labels[place])
    }
}

/// An address with the symbol around it that begins last; of several that begin there the first by name.
struct Inside {
    address: u64,
    place: usize,
    nearest: Option<(Reverse<u64>, NameKey)>,
}

impl<'d> Program<'d> {
    /// What an address leads to where the loader fills in another, or where code goes on from there.
    fn way_on(&self, address: u64) -> Option<Reference<'d>> {
        let slot = self.branch_through(address).unwrap_or(address);
        self.layout.filling_at(slot).map(|filling| self.filled_with(filling))
    }

    /// Per address what the symbols say that begin there, of several names always the same. The addresses are sorted.
    fn begun_at(
        &self,
        addresses: &[u64],
        identities: &[Identity],
        room: &mut Room,
    ) -> Option<Vec<Option<Label<'d>>>> {
        // There are many symbols and few open addresses: most are ruled out by some of their bits.
        const BITS: usize = 1 << 16;
        let mut may_be_open = vec![false; BITS];
        addresses.iter().for_each(|&address| may_be_open[address as usize % BITS] = true);
        let mut labels: Vec<Option<Label<'d>>> = vec![None; addresses.len()];
        for symbol in self.layout.symbols().iter() {
            let address = symbol.address();
            if !may_be_open[address as usize % BITS] {
                continue;
            }
            let first = addresses.partition_point(|other| *other < address);
            for (place, _) in
                addresses.iter().enumerate().skip(first).take_while(|(_, other)| **other == address)
            {
                let Some(label) = self.symbol_label(&symbol, 0, identities, room)? else { break };
                if self.layout.is_constant(address) && self.layout.may_be_short_text(address) {
                    break;
                }
                let is_better = match (&labels[place], &label) {
                    (None, _) | (Some(Label::Numbered(_)), Label::Named(..)) => true,
                    (Some(Label::Named(known, _)), Label::Named(key, _)) => key < known,
                    (Some(_), _) => false,
                };
                if is_better {
                    labels[place] = Some(label);
                }
            }
        }
        Some(labels)
    }

    /// Names addresses that have no label yet by the symbols that they lie in.
    fn name_within(
        &self,
        addresses: &[u64],
        labels: &mut [Option<Label<'d>>],
        identities: &[Identity],
        room: &mut Room,
    ) -> Option<()> {
        // Constants are put together from all files: what lies around one tells nothing of it.
        let is_open = |place: usize| labels[place].is_none() && !self.layout.is_constant(addresses[place]);
        let places = (0..addresses.len()).filter(|place| is_open(*place));
        let mut open: Vec<Inside> =
            places.map(|place| Inside { address: addresses[place], place, nearest: None }).collect();
        let lines = Cover::of(&self.layout.addresses, open.iter().map(|inside| (inside.address, 1)));
        for symbol in self.layout.symbols().iter() {
            let (start, end) = (symbol.address(), symbol.address().saturating_add(symbol.size()));
            if open.is_empty() || !lines.may_hold_any(start..end) || !is_named(&symbol) {
                continue;
            }
            let first = open.partition_point(|inside| inside.address < start);
            if open.get(first).is_none_or(|inside| inside.address >= end) {
                continue;
            }
            let Some(name) = symbol.name() else { continue };
            let this = (Reverse(start), NameKey::of(name));
            for Inside { address, place, nearest } in
                open[first..].iter_mut().take_while(|inside| inside.address < end)
            {
                if nearest.is_none_or(|nearest| this < nearest) {
                    room.take(1)?;
                    labels[*place] = self.symbol_label(&symbol, *address - start, identities, room)?;
                    *nearest = Some(this);
                }
            }
        }
        Some(())
    }

    /// What a symbol that is not foreign says of an address within it: its name, or its content if it has a number for
    /// a name, with what its addresses lead to as far as that is told at once. The first `None` is for want of room.
    fn symbol_label(
        &self,
        symbol: &SymbolPlace<'d>,
        offset: u64,
        identities: &[Identity],
        room: &mut Room,
    ) -> Option<Option<Label<'d>>> {
        let Some(name) = symbol.name().filter(|_| is_named(symbol)) else { return Some(None) };
        if !symbol.is_local() || !is_counter(name) {
            return Some(Some(Label::Named(NameKey::of(name), offset)));
        }
        let mut digest = DigestBuilder::new(FOREIGN);
        digest.number(offset).number(symbol.size());
        let size = u32::try_from(symbol.size()).unwrap_or(u32::MAX);
        let Some(body) = self.layout.body_at(symbol.address(), size) else {
            // It starts as zeros. The number tells nothing.
            let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
            digest.bytes(&name[..name.len() - digits]);
            return Some(Some(Label::Numbered(digest.finish().to_bytes())));
        };
        room.take(body.bytes.len())?;
        let (fields, references): (Vec<AddressField>, Vec<Reference<'d>>) = match body.is_code {
            true => {
                let fields = code_fields(&self.layout, &body);
                let reference = |field: &AddressField| self.reference(field.kind, field.target(&body));
                let references = fields.iter().map(reference).collect();
                (fields, references)
            }
            false => {
                let fillings = self.layout.fillings(body);
                (
                    word_fields(&fillings),
                    fillings.iter().map(|(_, filling)| self.filled_with(*filling)).collect(),
                )
            }
        };
        digest.digest(masked_digest(body.bytes, &fields, body.is_code && !self.layout.is_x86));
        for reference in references {
            match reference {
                Reference::To(label) => label.add_to(identities, &mut digest),
                Reference::Open(_) | Reference::AsBefore => Label::Nothing.add_to(identities, &mut digest),
            }
        }
        Some(Some(Label::Numbered(digest.finish().to_bytes())))
    }

    /// The place that code branches through which does nothing else: the linker's way into shared libraries.
    fn branch_through(&self, address: u64) -> Option<u64> {
        const LONGEST: u32 = 16;
        const MOST_INSTRUCTIONS: usize = 3;
        let Body { bytes, is_code, .. } = self.layout.body_at(address, LONGEST)?;
        if !is_code || !self.layout.is_x86 {
            return None;
        }
        let decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
        let mut branches = decoder.into_iter().take(MOST_INSTRUCTIONS);
        let branch = branches.find(|instruction| instruction.mnemonic() == Mnemonic::Jmp)?;
        branch.is_ip_rel_memory_operand().then(|| branch.ip_rel_memory_address())
    }
}

/// Whether a symbol stands for code or data.
fn is_named(symbol: &SymbolPlace<'_>) -> bool {
    matches!(symbol.kind(), STT_FUNC | STT_OBJECT | STT_GNU_IFUNC)
}
