//! What is recorded of a state besides summaries: what each program runs on and contains from elsewhere, the
//! project's files that are not code, declared variables, and the tests each program lists.
//! With the summaries it is enough to build the graph of a recorded state again.

use fewer_core::Digest;

use crate::encoding::{Reader, Writer};
use crate::googletest::ListedTest;
use crate::intakes::NamedDigest;
use crate::summary::NameKey;
use crate::virtual_tables::VirtualCalls;

const SURROUNDINGS_VERSION: u32 = 5;
const LISTING_VERSION: u32 = 1;

/// Kinds of recorded blobs.
pub const SURROUNDINGS_KIND: &str = "surroundings";
pub const LISTING_KIND: &str = "listing";

/// What one linked file has around it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ImageSurroundings {
    pub image: String,
    /// System libraries and foreign code.
    pub items: Vec<NamedDigest>,
    /// Names that the project defines in it and its foreign code uses. Sorted.
    pub calls: Vec<NameKey>,
    /// Set when the file is older than an object it is made of: that object. What runs is then not what the
    /// objects say.
    pub stale: Option<String>,
    /// The file's content, where something depends on the whole of it.
    pub content: Option<Digest>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Surroundings {
    pub images: Vec<ImageSurroundings>,
    pub files: Vec<NamedDigest>,
    pub variables: Vec<NamedDigest>,
    /// Per object the linked files it is part of, by their place in `images`.
    pub members: Vec<(String, Vec<u32>)>,
    pub virtual_calls: VirtualCalls,
}

impl Surroundings {
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer(Vec::new());
        out.word(SURROUNDINGS_VERSION);
        out.word(self.virtual_calls as u32);
        out.word(self.images.len() as u32);
        for image in &self.images {
            out.bytes(image.image.as_bytes());
            out.bytes(image.stale.as_deref().unwrap_or("").as_bytes());
            out.0.extend_from_slice(&image.content.unwrap_or_default().to_bytes());
            write_items(&mut out, &image.items);
            out.word(image.calls.len() as u32);
            image.calls.iter().for_each(|key| out.long(key.0));
        }
        write_items(&mut out, &self.files);
        write_items(&mut out, &self.variables);
        out.word(self.members.len() as u32);
        for (object, images) in &self.members {
            out.bytes(object.as_bytes());
            out.word(images.len() as u32);
            images.iter().for_each(|&image| out.word(image));
        }
        out.0
    }

    /// The inverse of [`Surroundings::encode`]; `None` for another version or damaged bytes.
    pub fn decode(bytes: &[u8]) -> Option<Surroundings> {
        let mut input = Reader(bytes);
        if input.word()? != SURROUNDINGS_VERSION {
            return None;
        }
        let virtual_calls = VirtualCalls::of_number(input.word()?)?;
        let images = input.list(32, |input| {
            let image = read_text(input)?;
            let stale = read_text(input)?;
            let content = Some(input.digest()?).filter(|digest| *digest != Digest::default());
            let items = read_items(input)?;
            let calls = input.list(8, |input| Some(NameKey(input.long()?)))?;
            let stale = (!stale.is_empty()).then_some(stale);
            Some(ImageSurroundings { image, items, calls, stale, content })
        })?;
        let files = read_items(&mut input)?;
        let variables = read_items(&mut input)?;
        let members = input.list(8, |input| Some((read_text(input)?, input.list(4, Reader::word)?)))?;
        Some(Surroundings { images, files, variables, members, virtual_calls })
    }
}

fn write_items(out: &mut Writer, items: &[NamedDigest]) {
    out.word(items.len() as u32);
    for item in items {
        out.bytes(item.name.as_bytes());
        out.0.extend_from_slice(&item.digest.to_bytes());
    }
}

fn read_items(input: &mut Reader<'_>) -> Option<Vec<NamedDigest>> {
    input.list(20, |input| Some(NamedDigest { name: read_text(input)?, digest: input.digest()? }))
}

fn read_text(input: &mut Reader<'_>) -> Option<String> {
    String::from_utf8(input.bytes()?.to_vec()).ok()
}

/// The stored form of a program's list of tests.
pub fn encode_listing(tests: &[ListedTest]) -> Vec<u8> {
    let mut out = Writer(Vec::new());
    out.word(LISTING_VERSION);
    out.word(tests.len() as u32);
    for test in tests {
        out.bytes(test.suite.as_bytes());
        out.bytes(test.test.as_bytes());
        out.bytes(test.type_parameter.as_deref().unwrap_or("").as_bytes());
        out.word(
            test.has_value_parameter as u32
                | (test.is_disabled as u32) << 1
                | (test.type_parameter.is_some() as u32) << 2,
        );
    }
    out.0
}

/// The inverse of [`encode_listing`]; `None` for another version or damaged bytes.
pub fn decode_listing(bytes: &[u8]) -> Option<Vec<ListedTest>> {
    let mut input = Reader(bytes);
    if input.word()? != LISTING_VERSION {
        return None;
    }
    input.list(16, |input| {
        let (suite, test, type_parameter) = (read_text(input)?, read_text(input)?, read_text(input)?);
        let bits = input.word()?;
        Some(ListedTest {
            suite,
            test,
            type_parameter: (bits & 4 != 0).then_some(type_parameter),
            has_value_parameter: bits & 1 != 0,
            is_disabled: bits & 2 != 0,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surroundings_and_listings_round_trip() {
        let item = |name: &str| NamedDigest { name: name.to_string(), digest: Digest(7) };
        let surroundings = Surroundings {
            images: vec![ImageSurroundings {
                image: "t".into(),
                items: vec![item("a")],
                calls: vec![NameKey(3), NameKey(7)],
                stale: Some("x.o".into()),
                content: Some(Digest(5)),
            }],
            files: vec![item("f")],
            variables: vec![],
            members: vec![("a.o".into(), vec![0])],
            virtual_calls: VirtualCalls::Hierarchy,
        };
        assert_eq!(Surroundings::decode(&surroundings.encode()), Some(surroundings.clone()));
        let bytes = surroundings.encode();
        assert!((0..bytes.len()).all(|end| Surroundings::decode(&bytes[..end]).is_none()));
        let listing = vec![ListedTest {
            suite: "My/S/0".into(),
            test: "T".into(),
            type_parameter: Some("int".into()),
            has_value_parameter: false,
            is_disabled: true,
        }];
        assert_eq!(decode_listing(&encode_listing(&listing)), Some(listing));
    }
}
