//! A linked file with its foreign symbols: what lies at an address, as far as these and the sections tell. Names of other
//! symbols are asked for in `open_names`.

use std::cmp::Reverse;

use crate::address_fields::FieldKind;
use crate::layout::{Filling, Layout, Location};
use crate::summary::NameKey;

use super::cover::Cover;
use super::{Label, Reference};

/// A foreign symbol of a file.
#[derive(Clone, Copy)]
pub(super) struct Placed {
    pub(super) number: u32,
    pub(super) key: NameKey,
    pub(super) size: u32,
    pub(super) place: Location,
}

/// A linked file with its foreign symbols.
pub(super) struct Program<'d> {
    pub(super) layout: Layout<'d>,
    pub(super) symbols: Vec<Placed>,
    /// Where foreign symbols begin, sorted, and which it is; of several that begin at one address the largest.
    starts: Vec<(u64, u32)>,
    /// By number where a symbol begins, and how many bytes from there on are told by it.
    spans: Vec<(u64, u64)>,
    cover: Cover,
}

impl<'d> Program<'d> {
    pub(super) fn of(layout: Layout<'d>, symbols: Vec<Placed>, numbers: usize) -> Program<'d> {
        let at = |(symbol, index): (&Placed, u32)| match symbol.place {
            Location::At(address) => layout.addresses.contains(&address).then_some((address, index)),
            Location::OfThread(_) => None,
        };
        let mut starts: Vec<(u64, u32)> = symbols.iter().zip(0..).filter_map(at).collect();
        starts.sort_unstable();
        let rank = |(_, index): &(u64, u32)| {
            let Placed { key, size, .. } = symbols[*index as usize];
            (Reverse(size), key)
        };
        starts.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same && rank(next) < rank(kept) {
                *kept = *next;
            }
            is_same
        });
        let mut spans = vec![(0, 0); numbers];
        let ends = starts.iter().skip(1).map(|(start, _)| *start).chain([u64::MAX]);
        for (&(start, index), end) in starts.iter().zip(ends) {
            let Placed { number, size, .. } = symbols[index as usize];
            spans[number as usize] = (start, u64::from(size).max(1).min(end - start));
        }
        let sized = starts.iter().map(|(start, index)| (*start, symbols[*index as usize].size));
        let cover = Cover::of(&layout.addresses, sized);
        Program { layout, symbols, starts, spans, cover }
    }

    /// Whether a label is what [`Program::reference`] says of an address; not if that is harder to tell.
    #[inline]
    pub(super) fn confirms(&self, label: &Label<'d>, kind: FieldKind, address: u64) -> bool {
        match label {
            Label::Foreign(number, offset) => {
                let (start, length) = self.spans[*number as usize];
                *offset < length && address.wrapping_sub(start) == *offset
            }
            Label::Constant(bytes) => {
                !self.cover.may_hold(address) && self.layout.has_constant(address, kind, bytes)
            }
            Label::Named(..) | Label::Numbered(_) | Label::Elsewhere(_) | Label::Nothing => false,
        }
    }

    pub(super) fn reference(&self, kind: FieldKind, address: u64) -> Reference<'d> {
        if let Some(label) = self.foreign_at(address) {
            Reference::To(label)
        } else if !self.layout.addresses.contains(&address) {
            Reference::To(Label::Elsewhere(address))
        } else {
            let constant = (kind != FieldKind::Branch).then(|| self.layout.constant(address, kind)).flatten();
            constant.map_or(Reference::Open(address), |bytes| Reference::To(Label::Constant(bytes)))
        }
    }

    /// Whether only a name can tell what lies at an address.
    pub(super) fn is_open(&self, address: u64) -> bool {
        self.layout.addresses.contains(&address)
            && !self.cover.may_hold(address)
            && !self.layout.is_constant(address)
    }

    pub(super) fn filled_with(&self, filling: Filling) -> Reference<'d> {
        match filling {
            Filling::Address(address) => self.reference(FieldKind::Address, address),
            Filling::Name(key, offset) => Reference::To(Label::Named(key, offset)),
            Filling::Other => Reference::To(Label::Nothing),
        }
    }

    /// The foreign symbol at an address, and how far into it.
    fn foreign_at(&self, address: u64) -> Option<Label<'d>> {
        if !self.cover.may_hold(address) {
            return None;
        }
        let after = self.starts.partition_point(|(start, _)| *start <= address);
        let (start, index) = self.starts[after.checked_sub(1)?];
        let Placed { number, size, .. } = self.symbols[index as usize];
        let offset = address - start;
        (offset == 0 || offset < u64::from(size)).then_some(Label::Foreign(number, offset))
    }
}
