//! XML as a flat stream of tags and texts with their lines, which is all that reports need.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::escape::{resolve_xml_entity, unescape};
use quick_xml::events::{BytesStart, Event};

use crate::error::{Problem, quoted};

/// What comes next in a document.
pub(crate) enum Piece<'t> {
    Open(Tag<'t>),
    /// The text since the last tag, when the tag with this name ends.
    Close(Text),
}

pub(crate) struct Tag<'t> {
    start: BytesStart<'t>,
    pub(crate) line: u64,
}

/// The end of an element: its name and the text right before it.
pub(crate) struct Text {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) line: u64,
}

/// Hands every tag and text to `piece`. A document that ends within an element is an error.
pub(crate) fn walk(
    bytes: &[u8],
    expected: &str,
    mut piece: impl FnMut(Piece<'_>) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let document = String::from_utf8_lossy(bytes);
    let mut reader = Reader::from_str(&document);
    let mut lines = Lines { document: &document, at: 0, line: 1 };
    let (mut text, mut depth) = (String::new(), 0usize);
    loop {
        let line = lines.at(reader.buffer_position());
        let event = match reader.read_event() {
            Ok(event) => event,
            Err(error) => {
                return Err(Problem::at(lines.at(reader.error_position()), expected, error.to_string()));
            }
        };
        match event {
            Event::Eof if depth > 0 => {
                return Err(Problem::at(line, expected, "a document that was cut off"));
            }
            Event::Eof => return Ok(()),
            Event::Start(start) => {
                depth += 1;
                text.clear();
                piece(Piece::Open(Tag { start, line }))?;
            }
            Event::Empty(start) => piece(Piece::Open(Tag { start, line }))?,
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                let name = end.name().as_ref().to_string();
                piece(Piece::Close(Text { name, text: std::mem::take(&mut text), line }))?;
            }
            Event::Text(part) => text.push_str(&part),
            Event::CData(part) => text.push_str(&part),
            Event::GeneralRef(reference) => {
                let name: &str = &reference;
                let resolved = resolve_xml_entity(name).map(str::to_string);
                let resolved = resolved.or(reference.resolve_char_ref().ok().flatten().map(String::from));
                text.push_str(resolved.as_deref().unwrap_or(name));
            }
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
}

impl Tag<'_> {
    pub(crate) fn name(&self) -> String {
        self.start.name().as_ref().to_string()
    }

    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        let attribute = self.start.try_get_attribute(name).ok().flatten()?;
        let value: Cow<'_, str> = unescape(&attribute.value).ok()?;
        Some(value.into_owned())
    }

    /// An attribute that must be there.
    pub(crate) fn required(&self, name: &str) -> Result<String, Problem> {
        self.attribute(name).ok_or_else(|| {
            Problem::at(self.line, format!("<{} {name}='...'>", self.name()), quoted(&self.start))
        })
    }

    /// An attribute that must be there and be a number.
    pub(crate) fn number(&self, name: &str) -> Result<u64, Problem> {
        let text = self.required(name)?;
        let expected = format!("a number as {name} of <{}>", self.name());
        text.parse().map_err(|_| Problem::at(self.line, expected, quoted(&text)))
    }
}

/// Counts lines on the way.
struct Lines<'d> {
    document: &'d str,
    at: usize,
    line: u64,
}

impl Lines<'_> {
    fn at(&mut self, position: u64) -> u64 {
        let position = (position as usize).min(self.document.len());
        if position > self.at {
            let passed = &self.document.as_bytes()[self.at..position];
            self.line += passed.iter().filter(|&&byte| byte == b'\n').count() as u64;
            self.at = position;
        }
        self.line
    }
}
