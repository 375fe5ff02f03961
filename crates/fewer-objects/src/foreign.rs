//! Code and data that a program contains but no object of the build explains: static libraries from elsewhere, or objects
//! that are gone. They are compared symbol by symbol with addresses replaced by what lies there, so that they stay the
//! same while the program around them moves.

use std::cmp::Reverse;
use std::ops::Range;

use fewer_core::{Digest, DigestBuilder, DigestSum, Domain};
use iced_x86::{Decoder, DecoderOptions, Mnemonic};

use crate::address_fields::{AddressField, FieldKind, clear, mask_aarch64, x86_address_fields};
use crate::explanations::Candidate;
use crate::image::{ImageSummary, ImageSymbol};
use crate::layout::{Body, Filling, Layout, Location, SymbolPlace};
use crate::name_map::{KeyedMap, NameMap, SizedNameMap};
use crate::relocatable::{MOST_OVERLAP, STT_FUNC, STT_GNU_IFUNC, STT_OBJECT};
use crate::summary::NameKey;
use crate::symbol_names::is_counter;

const FOREIGN: Domain = Domain::new("image.foreign");
const WHOLE: Domain = Domain::new("image.whole");

/// A digest of the foreign part of programs, with the work on equal symbols shared between them: most programs of a
/// build contain the same libraries.
#[derive(Default)]
pub struct ForeignReader<'d> {
    numbers: KeyedMap<Identity, u32>,
    /// Per number.
    identities: Vec<Identity>,
    /// Per number what was met so far.
    shapes: Vec<Vec<Shape<'d>>>,
    /// The symbols of the last program.
    listed: Vec<Listed>,
}

/// A symbol by name and size.
struct Listed {
    name: (NameKey, u32),
    /// `None` if the file has several of these, which only their content tells apart.
    number: Option<u32>,
}

/// What a linked file contains that no object explains.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Foreign {
    /// `None` if there is nothing.
    pub digest: Option<Digest>,
    /// The names of what it calls or uses besides itself: of the project or of shared libraries. Sorted.
    pub calls: Vec<NameKey>,
}

/// What tells the symbols of a program apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Identity {
    key: NameKey,
    size: u32,
    /// Of the content without addresses, where several of the file have this name and size.
    content: u64,
}

impl Identity {
    fn add_to(&self, digest: &mut DigestBuilder) {
        digest.number(self.key.0).number(u64::from(self.size)).number(self.content);
    }
}

/// Bytes that are the same but for addresses, which are in the same places.
struct Shape<'d> {
    bytes: &'d [u8],
    is_code: bool,
    /// Whether it is code whose addresses all count from where they are.
    is_relative_code: bool,
    fields: Vec<AddressField>,
    /// Zero where there are addresses.
    mask: Vec<u8>,
    variants: Vec<Variant<'d>>,
}

/// What the addresses of a shape led to in some program.
struct Variant<'d> {
    labels: Vec<Label<'d>>,
    digest: Digest,
}

/// What an address leads to, as far as it can be told without the names of all symbols.
#[derive(Clone, Copy)]
enum Reference<'d> {
    /// To what it led to in the first variant of its shape.
    AsBefore,
    To(Label<'d>),
    Open(u64),
}

/// What lies at an address, in a way that does not depend on where it lies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Label<'d> {
    /// A foreign symbol by its number, and how far into it.
    Foreign(u32, u64),
    /// What else has a name, and how far into it; also what is in a shared library.
    Named(NameKey, u64),
    /// What has a number instead of a name, by the digest of its content.
    Numbered([u8; 16]),
    /// The bytes of a constant.
    Constant(&'d [u8]),
    /// Nothing of the file.
    Elsewhere(u64),
    /// It has neither name nor content that could be told.
    Nothing,
}

/// How many bytes may be looked at: symbols of a damaged file may lie within each other many times.
#[derive(Clone, Copy)]
struct Room(usize);

impl Room {
    fn take(&mut self, bytes: usize) -> Option<()> {
        self.0 = self.0.checked_sub(bytes)?;
        Some(())
    }
}

/// How many addresses a function holds, more or less.
const USUAL_ADDRESSES: usize = 12;

/// Of shapes and variants of one symbol so many are compared with. There are more only if every program has another.
const MOST_COMPARED: usize = 8;

impl<'d> ForeignReader<'d> {
    /// Reads the symbols of a file that nothing explains. A file counts as a whole if it is stripped, not the one that
    /// the symbols are of, or damaged.
    pub fn read(&mut self, bytes: &'d [u8], image: &ImageSummary, candidates: &[Candidate]) -> Foreign {
        let layout = Layout::of(bytes).filter(|_| !image.is_stripped());
        let room = Room(bytes.len().saturating_mul(MOST_OVERLAP));
        let program = layout.and_then(|layout| self.program(layout, candidates, room));
        let read = program.and_then(|program| self.read_symbols(&program, room));
        read.unwrap_or_else(|| Foreign { digest: Some(Digest::of(WHOLE, bytes)), calls: Vec::new() })
    }

    /// `None` if symbols lie within each other too often.
    fn read_symbols(&mut self, program: &Program<'d>, room: Room) -> Option<Foreign> {
        let parts = self.parts(program, room)?;
        let (found, names) = self.found(program, &parts, room)?;
        let mut digest = DigestBuilder::new(FOREIGN);
        let mut all = DigestSum::default();
        for (part, references) in parts.list.iter().zip(&found.references) {
            let shape = &mut self.shapes[part.symbol.number as usize][part.shape];
            let shown = match references {
                None => shape.variants[0].digest,
                Some(references) => shape.digest(references, &names, &self.identities, program.layout.is_x86),
            };
            self.identities[part.symbol.number as usize].add_to(&mut digest);
            digest.digest(shown);
            all.add(digest.finish());
        }
        let digest = (!parts.list.is_empty()).then(|| digest.sum(&all).finish());
        Some(Foreign { digest, calls: found.names(&names) })
    }

    /// `None` if a symbol has no place in the file, or symbols lie within each other too often.
    fn program(
        &mut self,
        layout: Layout<'d>,
        candidates: &[Candidate],
        mut room: Room,
    ) -> Option<Program<'d>> {
        let foreign: Vec<ImageSymbol> =
            candidates.iter().filter(|candidate| !candidate.is_explained).map(|found| found.symbol).collect();
        self.note_listed(&foreign);
        let placed = |(place, symbol): (usize, &ImageSymbol)| {
            let ImageSymbol { key, size, .. } = *symbol;
            let location = layout.place(symbol)?;
            let number = match self.listed[place].number {
                Some(number) => number,
                None => {
                    let body = layout.body(location, size);
                    room.take(body.map_or(0, |body| body.bytes.len()))?;
                    let content = body.map_or(0, |body| content_key(&layout, body));
                    self.number(Identity { key, size, content })
                }
            };
            Some(Placed { number, key, size, place: location })
        };
        let symbols = foreign.iter().enumerate().map(placed).collect::<Option<_>>()?;
        Some(Program::of(layout, symbols, self.shapes.len()))
    }

    /// Numbers symbols as far as their names and sizes tell them apart. Most programs have the same in the same order.
    fn note_listed(&mut self, symbols: &[ImageSymbol]) {
        let name = |symbol: &ImageSymbol| (symbol.key, symbol.size);
        if self.listed.iter().map(|listed| listed.name).eq(symbols.iter().map(name)) {
            return;
        }
        let mut counts: SizedNameMap<u32> = SizedNameMap::default();
        counts.reserve(symbols.len());
        symbols.iter().for_each(|symbol| *counts.entry(name(symbol)).or_default() += 1);
        let listed = |symbol: &ImageSymbol| {
            let identity = Identity { key: symbol.key, size: symbol.size, content: 0 };
            let number = (counts[&name(symbol)] == 1).then(|| self.number(identity));
            Listed { name: name(symbol), number }
        };
        self.listed = symbols.iter().map(listed).collect();
    }

    fn number(&mut self, identity: Identity) -> u32 {
        let ForeignReader { numbers, identities, shapes, .. } = self;
        *numbers.entry(identity).or_insert_with(|| {
            identities.push(identity);
            shapes.push(Vec::new());
            shapes.len() as u32 - 1
        })
    }

    /// The foreign symbols with their bytes and shapes.
    fn parts(&mut self, program: &Program<'d>, mut room: Room) -> Option<Parts> {
        let mut parts = Vec::with_capacity(program.symbols.len());
        let mut targets = Vec::with_capacity(program.symbols.len() * USUAL_ADDRESSES);
        for symbol in &program.symbols {
            // What has no bytes in the file starts as zeros, or is copied from a shared library.
            let Some(body) = program.layout.body(symbol.place, symbol.size) else { continue };
            room.take(body.bytes.len())?;
            let fillings = match body.is_code {
                true => Vec::new(),
                false => program.layout.fillings(body),
            };
            if body.is_code || !fillings.is_empty() || body.bytes.iter().any(|&byte| byte != 0) {
                let known = &mut self.shapes[symbol.number as usize];
                let first = targets.len();
                let shape = match body.is_code {
                    true => code_shape(known, &program.layout, &body, &mut targets),
                    false => data_shape(known, body.bytes, &fillings),
                };
                parts.push(Part { symbol: *symbol, shape, targets: first..targets.len(), fillings });
            }
        }
        Some(Parts { list: parts, targets })
    }

    /// What all addresses of all parts lead to, with the names for those that are open.
    fn found(&self, program: &Program<'d>, parts: &Parts, room: Room) -> Option<(Found<'d>, OpenNames<'d>)> {
        let assuming = self.found_with(program, parts, Some(Assumed::default()));
        let names = OpenNames::of(program, &self.identities, &assuming, room)?;
        if assuming.assumed.iter().all(|assumed| assumed.is_confirmed(&names)) {
            return Some((assuming, names));
        }
        let plain = self.found_with(program, parts, None);
        let names = OpenNames::of(program, &self.identities, &plain, room)?;
        Some((plain, names))
    }

    fn found_with(&self, program: &Program<'d>, parts: &Parts, assumed: Option<Assumed>) -> Found<'d> {
        let mut found = Found { references: Vec::with_capacity(parts.list.len()), assumed };
        for part in &parts.list {
            let shape = &self.shapes[part.symbol.number as usize][part.shape];
            let references = found.references(program, part, &parts.targets[part.targets.clone()], shape);
            found.references.push(references);
        }
        found
    }
}

/// What the addresses of parts lead to.
struct Found<'d> {
    /// Per part; `None` if all are as before.
    references: Vec<Option<Vec<Reference<'d>>>>,
    assumed: Option<Assumed>,
}

/// What is taken to be at some addresses because the same code led to it before. To be confirmed when all names are known:
/// most code calls the same few functions again and again.
#[derive(Default)]
struct Assumed {
    names: NameMap<u64>,
    /// Addresses of what has neither name nor content that could be told.
    nothing: Vec<u64>,
}

impl Assumed {
    fn is_confirmed(&self, names: &OpenNames<'_>) -> bool {
        self.names.iter().all(|(key, address)| names.label(*address) == Label::Named(*key, 0))
            && self.nothing.iter().all(|address| names.label(*address) == Label::Nothing)
    }
}

impl<'d> Found<'d> {
    fn references(
        &mut self,
        program: &Program<'d>,
        Part { fillings, .. }: &Part,
        targets: &[u64],
        Shape { fields, variants, is_code, .. }: &Shape<'d>,
    ) -> Option<Vec<Reference<'d>>> {
        if !is_code {
            return Some(fillings.iter().map(|(_, filling)| program.filled_with(*filling)).collect());
        }
        let fields = fields.iter().zip(targets);
        let reference = |(field, target): (&AddressField, &u64)| program.reference(field.kind, *target);
        let Some(before) = variants.first() else { return Some(fields.map(reference).collect()) };
        let mut is_as_before = |((field, &address), label): ((&AddressField, &u64), &Label<'d>)| {
            program.confirms(label, field.kind, address)
                || self.may_assume(program, label, field.kind, address)
        };
        let pairs = fields.zip(&before.labels);
        if pairs.clone().all(&mut is_as_before) {
            return None;
        }
        let references = pairs.map(|(field, label)| match is_as_before((field, label)) {
            true => Reference::AsBefore,
            false => reference(field),
        });
        Some(references.collect())
    }

    /// Whether an address is taken to lead to what it led to before.
    fn may_assume(
        &mut self,
        program: &Program<'d>,
        label: &Label<'d>,
        kind: FieldKind,
        address: u64,
    ) -> bool {
        let Some(assumed) = &mut self.assumed else { return false };
        match label {
            Label::Named(key, 0) => match assumed.names.get(key) {
                Some(known) => *known == address,
                None => program.is_open(address) && assumed.names.insert(*key, address).is_none(),
            },
            Label::Nothing => {
                let is_open = matches!(program.reference(kind, address), Reference::Open(_));
                assumed.nothing.extend(is_open.then_some(address));
                is_open
            }
            Label::Named(..)
            | Label::Foreign(..)
            | Label::Numbered(_)
            | Label::Constant(_)
            | Label::Elsewhere(_) => false,
        }
    }

    fn assumed_names(&self) -> impl Iterator<Item = (&NameKey, &u64)> {
        self.assumed.iter().flat_map(|assumed| &assumed.names)
    }

    /// The names that are led to.
    fn names(&self, open: &OpenNames<'d>) -> Vec<NameKey> {
        let assumed = self.assumed_names().map(|(key, _)| *key);
        let references = self.references.iter().flatten().flatten();
        let told = references.filter_map(|reference| match reference {
            Reference::To(Label::Named(key, _)) => Some(*key),
            Reference::To(_) | Reference::AsBefore | Reference::Open(_) => None,
        });
        let open = open.labels.iter().filter_map(|label| match label {
            Label::Named(key, _) => Some(*key),
            _ => None,
        });
        let mut names: Vec<NameKey> = assumed.chain(told).chain(open).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The addresses for which names are needed.
    fn open(&self) -> Vec<u64> {
        let references = self.references.iter().flatten().flatten();
        let open = references.filter_map(|reference| match reference {
            Reference::Open(address) => Some(*address),
            Reference::AsBefore | Reference::To(_) => None,
        });
        let nothing = self.assumed.iter().flat_map(|assumed| &assumed.nothing).copied();
        let named = self.assumed_names().map(|(_, address)| *address);
        let mut open: Vec<u64> = open.chain(nothing).chain(named).collect();
        open.sort_unstable();
        open.dedup();
        open
    }
}

/// The place of code of this kind among the shapes of its name and size; decoded only if none is like it.
/// What its addresses are is added to `targets`.
fn code_shape<'d>(
    known: &mut Vec<Shape<'d>>,
    layout: &Layout<'d>,
    body: &Body<'d>,
    targets: &mut Vec<u64>,
) -> usize {
    let first = targets.len();
    // Code that is the same without addresses, and leaves by the same branches, holds them in the same places; but for
    // absolute ones, of which each file has others.
    let inside = body.address..body.address.saturating_add(body.bytes.len() as u64);
    let is_like = |shape: &Shape<'_>| {
        if !shape.is_relative_code || !shape.is_equal_outside(body.bytes) {
            return false;
        }
        targets.truncate(first);
        targets.extend(shape.fields.iter().map(|field| field.target(body)));
        let mut pairs = shape.fields.iter().zip(&targets[first..]);
        pairs.all(|(field, target)| field.kind != FieldKind::Branch || !inside.contains(target))
    };
    let place = if layout.is_fixed { None } else { known.iter().take(MOST_COMPARED).position(is_like) };
    place.unwrap_or_else(|| {
        let fields = code_fields(layout, body);
        targets.truncate(first);
        targets.extend(fields.iter().map(|field| field.target(body)));
        known.push(Shape::new(body.bytes, true, fields));
        known.len() - 1
    })
}

/// The same for data, whose addresses are told by the file.
fn data_shape<'d>(known: &mut Vec<Shape<'d>>, data: &'d [u8], fillings: &[(usize, Filling)]) -> usize {
    let fields = word_fields(fillings);
    let is_like =
        |shape: &Shape<'_>| !shape.is_code && shape.fields == fields && shape.is_equal_outside(data);
    known.iter().take(MOST_COMPARED).position(is_like).unwrap_or_else(|| {
        known.push(Shape::new(data, false, fields));
        known.len() - 1
    })
}

/// Where code holds addresses, as far as these are replaced.
fn code_fields(layout: &Layout<'_>, code: &Body<'_>) -> Vec<AddressField> {
    if layout.is_x86 { x86_address_fields(layout, code) } else { Vec::new() }
}

/// Where data hold addresses.
fn word_fields(fillings: &[(usize, Filling)]) -> Vec<AddressField> {
    fillings.iter().map(|(place, _)| AddressField::word(*place as u32)).collect()
}

impl<'d> Shape<'d> {
    fn new(bytes: &'d [u8], is_code: bool, fields: Vec<AddressField>) -> Shape<'d> {
        let mut mask = vec![u8::MAX; bytes.len()];
        clear(&mut mask, &fields);
        let is_relative_code = is_code && fields.iter().all(AddressField::is_relative);
        Shape { bytes, is_code, is_relative_code, fields, mask, variants: Vec::new() }
    }

    /// Whether other bytes are the same but for the addresses. All are looked at, as that is many at a time.
    fn is_equal_outside(&self, other: &[u8]) -> bool {
        let pairs = self.bytes.iter().zip(other).zip(&self.mask);
        let difference = pairs.fold(0, |difference, ((a, b), mask)| difference | (a ^ b) & mask);
        self.bytes.len() == other.len() && difference == 0
    }

    /// The digest of the bytes with their addresses as what they lead to.
    fn digest(
        &mut self,
        references: &[Reference<'d>],
        names: &OpenNames<'d>,
        identities: &[Identity],
        is_x86: bool,
    ) -> Digest {
        let label = |reference: &Reference<'d>, before: Option<&Label<'d>>| match reference {
            Reference::AsBefore => before.copied().unwrap_or(Label::Nothing),
            Reference::To(label) => *label,
            Reference::Open(address) => names.label(*address),
        };
        let first = self.variants.first().map_or(&[][..], |variant| &variant.labels);
        let labels =
            references.iter().enumerate().map(|(index, reference)| label(reference, first.get(index)));
        let is_same = |variant: &&Variant<'d>| labels.clone().eq(variant.labels.iter().copied());
        if let Some(known) = self.variants.iter().take(MOST_COMPARED).find(is_same) {
            return known.digest;
        }
        let labels: Vec<Label<'d>> = labels.collect();
        let mut digest = DigestBuilder::new(FOREIGN);
        digest.digest(masked_digest(self.bytes, &self.fields, self.is_code && !is_x86));
        labels.iter().for_each(|label| label.add_to(identities, &mut digest));
        let digest = digest.finish();
        self.variants.push(Variant { labels, digest });
        digest
    }
}

impl Label<'_> {
    fn add_to(&self, identities: &[Identity], digest: &mut DigestBuilder) {
        match self {
            Label::Foreign(number, offset) => {
                identities[*number as usize].add_to(digest.number(0));
                digest.number(*offset)
            }
            Label::Named(key, offset) => digest.number(1).number(key.0).number(*offset),
            Label::Numbered(content) => digest.number(2).bytes(content),
            Label::Constant(bytes) => digest.number(3).bytes(bytes),
            Label::Elsewhere(address) => digest.number(4).number(*address),
            Label::Nothing => digest.number(5),
        };
    }
}

/// A foreign symbol of a file.
#[derive(Clone, Copy)]
struct Placed {
    number: u32,
    key: NameKey,
    size: u32,
    place: Location,
}

/// A foreign symbol with its bytes.
struct Part {
    symbol: Placed,
    /// Its place among the shapes of its number.
    shape: usize,
    /// Of code, its addresses.
    targets: Range<usize>,
    /// Of data, what is at its addresses.
    fillings: Vec<(usize, Filling)>,
}

/// The foreign symbols of a file that have bytes.
struct Parts {
    list: Vec<Part>,
    /// The addresses that code of all parts holds.
    targets: Vec<u64>,
}

/// A linked file with its foreign symbols.
struct Program<'d> {
    layout: Layout<'d>,
    symbols: Vec<Placed>,
    /// Where foreign symbols begin, sorted, and which it is; of several that begin at one address the largest.
    starts: Vec<(u64, u32)>,
    /// By number where a symbol begins, and how many bytes from there on are told by it.
    spans: Vec<(u64, u64)>,
    cover: Cover,
}

impl<'d> Program<'d> {
    fn of(layout: Layout<'d>, symbols: Vec<Placed>, numbers: usize) -> Program<'d> {
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
    fn confirms(&self, label: &Label<'d>, kind: FieldKind, address: u64) -> bool {
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

    fn reference(&self, kind: FieldKind, address: u64) -> Reference<'d> {
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
    fn is_open(&self, address: u64) -> bool {
        self.layout.addresses.contains(&address)
            && !self.cover.may_hold(address)
            && !self.layout.is_constant(address)
    }

    fn filled_with(&self, filling: Filling) -> Reference<'d> {
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

/// What lies at addresses that are not of foreign symbols, by all symbols of the file. Sorted.
struct OpenNames<'d> {
    addresses: Vec<u64>,
    labels: Vec<Label<'d>>,
}

impl<'d> OpenNames<'d> {
    /// `None` if symbols lie within each other too often.
    fn of(program: &Program<'d>, identities: &[Identity], found: &Found<'d>, mut room: Room) -> Option<Self> {
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

    fn label(&self, address: u64) -> Label<'d> {
        self.addresses.binary_search(&address).map_or(Label::Nothing, |place| self.labels[place])
    }
}

/// An address with the symbol around it that begins last; of several that begin there the first by name.
struct Inside {
    address: u64,
    place: usize,
    nearest: Option<(Reverse<u64>, NameKey)>,
}

/// In which stretches of addresses there is something: most other addresses are told from theirs by this.
struct Cover {
    low: u64,
    /// A stretch has this power of two of addresses.
    stretch: u32,
    is_covered: Vec<bool>,
}

impl Cover {
    /// Of things with their sizes.
    fn of(addresses: &Range<u64>, things: impl Iterator<Item = (u64, u32)>) -> Cover {
        const MOST_STRETCHES: u64 = 1 << 16;
        const LEAST: u32 = 6;
        let span = addresses.end - addresses.start;
        let stretch = (u64::BITS - (span / MOST_STRETCHES).leading_zeros()).max(LEAST);
        let is_covered = vec![false; (span >> stretch) as usize + 1];
        let mut cover = Cover { low: addresses.start, stretch, is_covered };
        for (start, size) in things {
            let end = start.saturating_add(u64::from(size.max(1)));
            let within = start.max(addresses.start)..end.min(addresses.end);
            if !within.is_empty() {
                let stretches = cover.stretch_of(within.start)..=cover.stretch_of(within.end - 1);
                cover.is_covered[stretches].fill(true);
            }
        }
        cover
    }

    #[inline]
    fn may_hold_any(&self, addresses: Range<u64>) -> bool {
        if addresses.is_empty() || addresses.end <= self.low {
            return false;
        }
        let first = self.stretch_of(addresses.start.max(self.low));
        let count = self.stretch_of(addresses.end - 1) - first + 1;
        self.is_covered.iter().skip(first).take(count).any(|is_covered| *is_covered)
    }

    fn stretch_of(&self, address: u64) -> usize {
        (address.wrapping_sub(self.low) >> self.stretch) as usize
    }

    #[inline]
    fn may_hold(&self, address: u64) -> bool {
        self.is_covered.get(self.stretch_of(address)).is_none_or(|is_covered| *is_covered)
    }
}

/// What tells symbols of equal name and size apart, if they have bytes.
fn content_key<'d>(layout: &Layout<'d>, body: Body<'d>) -> u64 {
    let fields = match body.is_code {
        true => code_fields(layout, &body),
        false => word_fields(&layout.fillings(body)),
    };
    masked_digest(body.bytes, &fields, body.is_code && !layout.is_x86).0 as u64
}

/// Whether a symbol stands for code or data.
fn is_named(symbol: &SymbolPlace<'_>) -> bool {
    matches!(symbol.kind(), STT_FUNC | STT_OBJECT | STT_GNU_IFUNC)
}

/// The digest of some bytes without the addresses in them.
fn masked_digest(bytes: &[u8], fields: &[AddressField], is_aarch64: bool) -> Digest {
    let mut masked = bytes.to_vec();
    clear(&mut masked, fields);
    if is_aarch64 {
        mask_aarch64(&mut masked);
    }
    Digest::of(FOREIGN, &masked)
}
