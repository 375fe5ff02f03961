//! The frame of a class file: where the constants are, the header, and members and attributes as slices. What they
//! say is read elsewhere. Written by hand because it borrows everything and looks at each byte once; the fuzz tests
//! feed it damaged files.

/// Something in a class file is not as the specification has it, or not known to this reader.
#[derive(Debug)]
pub(crate) struct Doubt(pub String);

pub(crate) fn doubt<T>(what: &str) -> Result<T, Doubt> {
    Err(Doubt(what.to_string()))
}

/// Reads a byte after the other.
#[derive(Clone, Copy)]
pub(crate) struct Bytes<'a> {
    rest: &'a [u8],
}

impl<'a> Bytes<'a> {
    pub fn new(bytes: &'a [u8]) -> Bytes<'a> {
        Bytes { rest: bytes }
    }

    #[inline]
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Doubt> {
        match self.rest.split_at_checked(count) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => doubt("a part ends too early"),
        }
    }

    #[inline]
    pub fn u1(&mut self) -> Result<u8, Doubt> {
        Ok(self.take(1)?[0])
    }

    #[inline]
    pub fn u2(&mut self) -> Result<u16, Doubt> {
        self.take(2).map(number)
    }

    #[inline]
    pub fn u4(&mut self) -> Result<u32, Doubt> {
        let bytes = self.take(4)?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// So many numbers of two bytes.
    pub fn numbers(&mut self, count: u16) -> Result<Numbers<'a>, Doubt> {
        Ok(Numbers { bytes: self.take(usize::from(count) * 2)? })
    }
}

/// A table of numbers of constants.
#[derive(Clone, Copy)]
pub(crate) struct Numbers<'a> {
    bytes: &'a [u8],
}

impl<'a> Numbers<'a> {
    pub fn iter(self) -> impl Iterator<Item = u16> + use<'a> {
        self.bytes.chunks_exact(2).map(number)
    }
}

/// A field or a method.
#[derive(Clone, Copy)]
pub(crate) struct RawMember<'c> {
    pub flags: u16,
    pub name: u16,
    pub descriptor: u16,
    pub attributes: Attributes<'c>,
}

/// So many attributes, one after the other.
#[derive(Clone, Copy)]
pub(crate) struct Attributes<'c> {
    count: u16,
    bytes: Bytes<'c>,
}

impl<'c> Attributes<'c> {
    /// Those that start here; the bytes are then behind them.
    pub fn read(bytes: &mut Bytes<'c>) -> Result<Attributes<'c>, Doubt> {
        let count = bytes.u2()?;
        let attributes = Attributes { count, bytes: *bytes };
        for _ in 0..count {
            Attributes::one(bytes)?;
        }
        Ok(attributes)
    }

    /// The text constant that names one, and its content.
    pub fn iter(self) -> impl Iterator<Item = Result<(u16, &'c [u8]), Doubt>> + use<'c> {
        let mut bytes = self.bytes;
        (0..self.count).map(move |_| Attributes::one(&mut bytes))
    }

    #[inline]
    fn one(bytes: &mut Bytes<'c>) -> Result<(u16, &'c [u8]), Doubt> {
        let name = bytes.u2()?;
        let length = bytes.u4()? as usize;
        Ok((name, bytes.take(length)?))
    }
}

/// A class file, taken apart.
pub(crate) struct ClassFile<'c> {
    pub minor: u16,
    pub major: u16,
    pub flags: u16,
    pub this_class: u16,
    /// 0 if there is none.
    pub super_class: u16,
    pub interfaces: Numbers<'c>,
    pub fields: Vec<RawMember<'c>>,
    pub methods: Vec<RawMember<'c>>,
    pub attributes: Attributes<'c>,
    pub pool: Pool<'c>,
}

impl<'c> ClassFile<'c> {
    pub fn read(file: &'c [u8]) -> Result<ClassFile<'c>, Doubt> {
        let mut bytes = Bytes::new(file);
        if bytes.u4()? != 0xcafe_babe {
            return doubt("it is not a class file");
        }
        let (minor, major) = (bytes.u2()?, bytes.u2()?);
        let pool = Pool::read(file, &mut bytes)?;
        let (flags, this_class, super_class) = (bytes.u2()?, bytes.u2()?, bytes.u2()?);
        let count = bytes.u2()?;
        let interfaces = bytes.numbers(count)?;
        let fields = members(&mut bytes)?;
        let methods = members(&mut bytes)?;
        let attributes = Attributes::read(&mut bytes)?;
        if !bytes.rest.is_empty() {
            return doubt("more bytes follow its end");
        }
        Ok(ClassFile {
            minor,
            major,
            flags,
            this_class,
            super_class,
            interfaces,
            fields,
            methods,
            attributes,
            pool,
        })
    }
}

/// A constant by its parts, most of which are numbers of others.
#[derive(Clone, Copy)]
pub(crate) enum Constant<'c> {
    Text(&'c [u8]),
    /// An integer, long, float or double, by its tag and bytes.
    Number(u8, &'c [u8]),
    Class(u16),
    String(u16),
    Member {
        tag: u8,
        class: u16,
        name_and_type: u16,
    },
    NameAndType {
        name: u16,
        descriptor: u16,
    },
    MethodHandle {
        kind: u8,
        reference: u16,
    },
    MethodType(u16),
    /// A dynamic constant or call.
    Dynamic {
        tag: u8,
        bootstrap: u16,
        name_and_type: u16,
    },
    /// A module or a package.
    Place(u8, u16),
}

/// The constant pool, with every constant taken apart.
pub(crate) struct Pool<'c> {
    file: &'c [u8],
    entries: Vec<Entry>,
}

/// A constant in eight bytes: its tag, its first number, and its second. Of texts and numbers these are the length
/// and where they start.
#[derive(Clone, Copy, Default)]
struct Entry {
    tag: u8,
    first: u16,
    second: u32,
}

impl<'c> Pool<'c> {
    fn read(file: &'c [u8], bytes: &mut Bytes<'c>) -> Result<Pool<'c>, Doubt> {
        if u32::try_from(file.len()).is_err() {
            return doubt("it is too large for a class file");
        }
        let count = usize::from(bytes.u2()?);
        let mut entries = vec![Entry::default(); count.max(1)];
        let mut index = 1;
        while index < count {
            let tag = bytes.u1()?;
            let (first, second) = match tag {
                1 => {
                    let length = bytes.u2()?;
                    let start = file.len() - bytes.rest.len();
                    bytes.take(usize::from(length))?;
                    (length, start as u32)
                }
                3..=6 => {
                    let length = if tag < 5 { 4 } else { 8 };
                    let start = file.len() - bytes.rest.len();
                    bytes.take(usize::from(length))?;
                    (length, start as u32)
                }
                7 | 8 | 16 | 19 | 20 => (bytes.u2()?, 0),
                9..=12 | 17 | 18 => (bytes.u2()?, u32::from(bytes.u2()?)),
                15 => (u16::from(bytes.u1()?), u32::from(bytes.u2()?)),
                _ => return doubt("a constant has an unknown kind"),
            };
            entries[index] = Entry { tag, first, second };
            // Long and double take two numbers.
            index += if matches!(tag, 5 | 6) { 2 } else { 1 };
        }
        Ok(Pool { file, entries })
    }

    /// One more than the greatest number of a constant.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    pub fn text(&self, index: u16) -> Result<&'c [u8], Doubt> {
        match self.entries.get(usize::from(index)) {
            Some(entry) if entry.tag == 1 => Ok(self.part(*entry)),
            Some(_) | None => doubt("a constant that should be a text is not"),
        }
    }

    #[inline]
    fn part(&self, entry: Entry) -> &'c [u8] {
        // The bytes were there when the pool was read.
        &self.file[entry.second as usize..][..usize::from(entry.first)]
    }

    #[inline]
    pub fn get(&self, index: u16) -> Result<Constant<'c>, Doubt> {
        let entry = self.entries.get(usize::from(index)).copied().unwrap_or_default();
        let Entry { tag, first, second } = entry;
        let second = second as u16;
        Ok(match tag {
            1 => Constant::Text(self.part(entry)),
            3..=6 => Constant::Number(tag, self.part(entry)),
            7 => Constant::Class(first),
            8 => Constant::String(first),
            9..=11 => Constant::Member { tag, class: first, name_and_type: second },
            12 => Constant::NameAndType { name: first, descriptor: second },
            15 => Constant::MethodHandle { kind: first as u8, reference: second },
            16 => Constant::MethodType(first),
            17 | 18 => Constant::Dynamic { tag, bootstrap: first, name_and_type: second },
            19 | 20 => Constant::Place(tag, first),
            _ => return doubt("a constant is missing"),
        })
    }

    /// All constants that there are.
    pub fn iter(&self) -> impl Iterator<Item = (u16, Constant<'c>)> + '_ {
        (1..self.entries.len()).filter(|&index| self.entries[index].tag != 0).filter_map(|index| {
            let index = index as u16;
            Some((index, self.get(index).ok()?))
        })
    }
}

fn members<'c>(bytes: &mut Bytes<'c>) -> Result<Vec<RawMember<'c>>, Doubt> {
    let count = usize::from(bytes.u2()?);
    // A member takes at least eight bytes.
    let mut members = Vec::with_capacity(count.min(bytes.rest.len() / 8));
    for _ in 0..count {
        let (flags, name, descriptor) = (bytes.u2()?, bytes.u2()?, bytes.u2()?);
        members.push(RawMember { flags, name, descriptor, attributes: Attributes::read(bytes)? });
    }
    Ok(members)
}

#[inline]
fn number(bytes: &[u8]) -> u16 {
    u16::from_be_bytes([bytes[0], bytes[1]])
}
