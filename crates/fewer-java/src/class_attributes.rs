//! Attributes of classes, fields, methods and record components: their spelling for the smart hash, and the
//! classes, strings and annotations in them. Debugging information and frames are left out.

use crate::class_code::{CodeReader, CodeUses};
use crate::class_constants::{Constants, spell_part};
use crate::class_file::{Attributes, Bytes, Constant, Doubt, doubt};
use crate::class_loads::unknown_loads;

/// Attributes by what is done with them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AttributeKind {
    /// Where the code came from, and what can be derived from it.
    LeftOut,
    /// Spelt where they are used.
    BootstrapMethods,
    Code,
    ConstantValue,
    Signature,
    ClassList,
    ClassSet,
    NestHost,
    EnclosingMethod,
    InnerClasses,
    Record,
    /// It says nothing but its name.
    Mark,
    MethodParameters,
    Annotations,
    ParameterAnnotations,
    TypeAnnotations,
    AnnotationDefault,
    Module,
    /// Of Scala's compiler; they hold no constants' numbers.
    Opaque,
    Unknown,
}

impl AttributeKind {
    pub fn of(name: &[u8]) -> AttributeKind {
        match name {
            b"LineNumberTable"
            | b"LocalVariableTable"
            | b"LocalVariableTypeTable"
            | b"SourceFile"
            | b"SourceDebugExtension"
            | b"StackMapTable" => AttributeKind::LeftOut,
            b"BootstrapMethods" => AttributeKind::BootstrapMethods,
            b"Code" => AttributeKind::Code,
            b"ConstantValue" => AttributeKind::ConstantValue,
            b"Signature" => AttributeKind::Signature,
            b"Exceptions" | b"PermittedSubclasses" => AttributeKind::ClassList,
            b"NestMembers" => AttributeKind::ClassSet,
            b"NestHost" => AttributeKind::NestHost,
            b"EnclosingMethod" => AttributeKind::EnclosingMethod,
            b"InnerClasses" => AttributeKind::InnerClasses,
            b"Record" => AttributeKind::Record,
            b"Deprecated" | b"Synthetic" => AttributeKind::Mark,
            b"MethodParameters" => AttributeKind::MethodParameters,
            b"RuntimeVisibleAnnotations" | b"RuntimeInvisibleAnnotations" => AttributeKind::Annotations,
            b"RuntimeVisibleParameterAnnotations" | b"RuntimeInvisibleParameterAnnotations" => {
                AttributeKind::ParameterAnnotations
            }
            b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations" => {
                AttributeKind::TypeAnnotations
            }
            b"AnnotationDefault" => AttributeKind::AnnotationDefault,
            b"Module" => AttributeKind::Module,
            b"Scala" | b"ScalaSig" | b"TASTY" => AttributeKind::Opaque,
            _ => AttributeKind::Unknown,
        }
    }
}

/// What the attributes of one declaration say.
#[derive(Default)]
pub(crate) struct AttributeFacts {
    /// The spelling.
    pub out: Vec<u8>,
    /// Texts of annotations' descriptors.
    pub annotations: Vec<u16>,
    /// Texts of descriptors and signatures; those of values of annotations.
    pub signatures: Vec<u16>,
    pub class_values: Vec<u16>,
    pub classes: Vec<u16>,
    /// Texts of strings in annotations.
    pub strings: Vec<u16>,
    pub code: CodeUses,
    code_reader: CodeReader,
    pub has_constant_string: bool,
    /// Service and provider.
    pub provides: Vec<(String, String)>,
    /// `inner`, `outer` and flags.
    pub inner_classes: Vec<(u16, Option<u16>, u16)>,
    pub enclosing: Option<u16>,
}

impl AttributeFacts {
    /// Forgets everything, and keeps the memory for the next declaration.
    pub fn clear(&mut self) {
        self.out.clear();
        self.annotations.clear();
        self.signatures.clear();
        self.class_values.clear();
        self.classes.clear();
        self.strings.clear();
        self.code.clear();
        self.has_constant_string = false;
        self.provides.clear();
        self.inner_classes.clear();
        self.enclosing = None;
    }

    pub fn read_all(&mut self, constants: &Constants<'_>, attributes: Attributes<'_>) -> Result<(), Doubt> {
        for attribute in attributes.iter() {
            let (name, content) = attribute?;
            self.read(constants, name, content)?;
        }
        Ok(())
    }

    fn read(&mut self, constants: &Constants<'_>, name: u16, content: &[u8]) -> Result<(), Doubt> {
        let kind = constants.attribute(name)?;
        match kind {
            AttributeKind::LeftOut | AttributeKind::BootstrapMethods => return Ok(()),
            _ => spell_part(b'A', constants.utf8(name)?, &mut self.out),
        }
        let mut bytes = Bytes::new(content);
        match kind {
            AttributeKind::LeftOut | AttributeKind::BootstrapMethods | AttributeKind::Mark => Ok(()),
            AttributeKind::Code => self.code(constants, &mut bytes),
            AttributeKind::ConstantValue => {
                let index = bytes.u2()?;
                self.has_constant_string |= matches!(constants.item(index)?, Constant::String(_));
                constants.spell(index, &mut self.out)
            }
            AttributeKind::Signature => {
                let signature = bytes.u2()?;
                self.signatures.push(signature);
                constants.spell(signature, &mut self.out)
            }
            AttributeKind::ClassList => self.class_list(constants, &mut bytes, false),
            AttributeKind::ClassSet => self.class_list(constants, &mut bytes, true),
            AttributeKind::NestHost => self.class(constants, bytes.u2()?),
            AttributeKind::EnclosingMethod => self.enclosing_method(constants, &mut bytes),
            AttributeKind::InnerClasses => self.inner_classes(constants, &mut bytes),
            AttributeKind::Record => self.record(constants, &mut bytes),
            AttributeKind::MethodParameters => self.method_parameters(constants, &mut bytes),
            AttributeKind::Annotations => self.annotations(constants, &mut bytes, true),
            AttributeKind::ParameterAnnotations => {
                for _ in 0..bytes.u1()? {
                    self.annotations(constants, &mut bytes, false)?;
                }
                Ok(())
            }
            AttributeKind::TypeAnnotations => self.type_annotations(constants, &mut bytes),
            AttributeKind::AnnotationDefault => self.values(constants, &mut bytes, Pending::Values(1)),
            AttributeKind::Opaque => {
                spell_part(b'r', content, &mut self.out);
                Ok(())
            }
            AttributeKind::Module | AttributeKind::Unknown => {
                doubt(&format!("it has an attribute {}", constants.text(name)?))
            }
        }
    }

    fn method_parameters(&mut self, constants: &Constants<'_>, bytes: &mut Bytes<'_>) -> Result<(), Doubt> {
        for _ in 0..bytes.u1()? {
            match bytes.u2()? {
                0 => spell_part(b'u', b"", &mut self.out),
                name => constants.spell(name, &mut self.out)?,
            }
            self.out.extend_from_slice(&bytes.u2()?.to_be_bytes());
        }
        Ok(())
    }

    fn class(&mut self, constants: &Constants<'_>, index: u16) -> Result<(), Doubt> {
        self.classes.push(index);
        constants.spell(index, &mut self.out)
    }

    fn class_list(
        &mut self,
        constants: &Constants<'_>,
        bytes: &mut Bytes<'_>,
        is_set: bool,
    ) -> Result<(), Doubt> {
        let mut names = Vec::new();
        for _ in 0..bytes.u2()? {
            let class = bytes.u2()?;
            names.push(constants.class_text(class)?);
            self.classes.push(class);
        }
        if is_set {
            names.sort_unstable();
        }
        for name in &names {
            spell_part(b'c', name, &mut self.out);
        }
        Ok(())
    }

    fn enclosing_method(&mut self, constants: &Constants<'_>, bytes: &mut Bytes<'_>) -> Result<(), Doubt> {
        let class = bytes.u2()?;
        self.class(constants, class)?;
        self.enclosing = Some(class);
        match bytes.u2()? {
            0 => Ok(()),
            method => constants.spell(method, &mut self.out),
        }
    }

    /// The order is that of the pool, and does not matter.
    fn inner_classes(&mut self, constants: &Constants<'_>, bytes: &mut Bytes<'_>) -> Result<(), Doubt> {
        let mut spelt: Vec<[u8; 50]> = Vec::new();
        for _ in 0..bytes.u2()? {
            let (inner, outer, name, flags) = (bytes.u2()?, bytes.u2()?, bytes.u2()?, bytes.u2()?);
            let mut parts = [0; 50];
            for (part, index) in [inner, outer, name].into_iter().enumerate() {
                if index != 0 {
                    parts[part * 16..][..16].copy_from_slice(&constants.spelling(index)?.to_bytes());
                }
            }
            parts[48..].copy_from_slice(&flags.to_be_bytes());
            spelt.push(parts);
            self.inner_classes.push((inner, (outer != 0).then_some(outer), flags));
        }
        spelt.sort_unstable();
        for parts in spelt {
            spell_part(b'x', &parts, &mut self.out);
        }
        Ok(())
    }

    fn record(&mut self, constants: &Constants<'_>, bytes: &mut Bytes<'_>) -> Result<(), Doubt> {
        for _ in 0..bytes.u2()? {
            constants.spell(bytes.u2()?, &mut self.out)?;
            let descriptor = bytes.u2()?;
            constants.spell(descriptor, &mut self.out)?;
            self.signatures.push(descriptor);
            self.nested(constants, bytes)?;
        }
        Ok(())
    }

    /// Attributes inside an attribute. They nest no further than that: code and records do not contain
    /// themselves.
    fn nested(&mut self, constants: &Constants<'_>, bytes: &mut Bytes<'_>) -> Result<(), Doubt> {
        for attribute in Attributes::read(bytes)?.iter() {
            let (name, content) = attribute?;
            if let AttributeKind::Code | AttributeKind::Record = constants.attribute(name)? {
                return doubt("code stands where it must not");
            }
            self.read(constants, name, content)?;
        }
        self.out.push(b'.');
        Ok(())
    }

    fn code(&mut self, constants: &Constants<'_>, bytes: &mut Bytes<'_>) -> Result<(), Doubt> {
        self.out.extend_from_slice(bytes.take(4)?);
        let length = bytes.u4()? as usize;
        let code = bytes.take(length)?;
        if self.code_reader.read(constants, code, &mut self.out, &mut self.code)? {
            self.code.unknowns.extend(unknown_loads(constants, code)?);
        }
        self.code_reader.read_handlers(constants, bytes, &mut self.out, &mut self.code)?;
        self.nested(constants, bytes)
    }

    fn annotations(
        &mut self,
        constants: &Constants<'_>,
        bytes: &mut Bytes<'_>,
        is_on_declaration: bool,
    ) -> Result<(), Doubt> {
        for _ in 0..bytes.u2()? {
            let (descriptor, pairs) = self.annotation_head(constants, bytes)?;
            if is_on_declaration {
                self.annotations.push(descriptor);
            }
            self.values(constants, bytes, Pending::Pairs(pairs))?;
        }
        self.out.push(b'.');
        Ok(())
    }

    fn annotation_head(
        &mut self,
        constants: &Constants<'_>,
        bytes: &mut Bytes<'_>,
    ) -> Result<(u16, u16), Doubt> {
        let descriptor = bytes.u2()?;
        self.out.push(b'@');
        constants.spell(descriptor, &mut self.out)?;
        self.signatures.push(descriptor);
        let pairs = bytes.u2()?;
        self.out.extend_from_slice(&pairs.to_be_bytes());
        Ok((descriptor, pairs))
    }

    /// Values of annotations, which may contain each other to any depth.
    fn values(
        &mut self,
        constants: &Constants<'_>,
        bytes: &mut Bytes<'_>,
        first: Pending,
    ) -> Result<(), Doubt> {
        let mut pending = vec![first];
        while let Some(last) = pending.pop() {
            let Some((rest, is_pair)) = last.next() else { continue };
            pending.push(rest);
            if is_pair {
                constants.spell(bytes.u2()?, &mut self.out)?;
            }
            let tag = bytes.u1()?;
            self.out.push(tag);
            match tag {
                b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' => {
                    constants.spell(bytes.u2()?, &mut self.out)?;
                }
                b's' => {
                    let string = bytes.u2()?;
                    constants.spell(string, &mut self.out)?;
                    self.strings.push(string);
                }
                b'c' => {
                    let descriptor = bytes.u2()?;
                    constants.spell(descriptor, &mut self.out)?;
                    self.class_values.push(descriptor);
                }
                b'e' => {
                    let descriptor = bytes.u2()?;
                    constants.spell(descriptor, &mut self.out)?;
                    self.signatures.push(descriptor);
                    constants.spell(bytes.u2()?, &mut self.out)?;
                }
                b'@' => {
                    let (_, pairs) = self.annotation_head(constants, bytes)?;
                    pending.push(Pending::Pairs(pairs));
                }
                b'[' => {
                    let count = bytes.u2()?;
                    self.out.extend_from_slice(&count.to_be_bytes());
                    pending.push(Pending::Values(count));
                }
                _ => return doubt("a value of an annotation has an unknown kind"),
            }
        }
        Ok(())
    }

    fn type_annotations(&mut self, constants: &Constants<'_>, bytes: &mut Bytes<'_>) -> Result<(), Doubt> {
        for _ in 0..bytes.u2()? {
            let target = bytes.u1()?;
            self.out.push(target);
            let length = match target {
                0x00 | 0x01 | 0x16 => 1,
                0x10 | 0x11 | 0x12 | 0x17 | 0x42..=0x46 => 2,
                0x13..=0x15 => 0,
                0x47..=0x4b => 3,
                0x40 | 0x41 => {
                    let entries = bytes.u2()?;
                    self.out.extend_from_slice(&entries.to_be_bytes());
                    entries as usize * 6
                }
                _ => return doubt("a type annotation has an unknown target"),
            };
            let info = bytes.take(length)?;
            self.out.extend_from_slice(info);
            let path = bytes.u1()?;
            self.out.push(path);
            let path = bytes.take(path as usize * 2)?;
            self.out.extend_from_slice(path);
            let (_, pairs) = self.annotation_head(constants, bytes)?;
            self.values(constants, bytes, Pending::Pairs(pairs))?;
        }
        Ok(())
    }

    /// `provides` of a module.
    pub fn module(&mut self, constants: &Constants<'_>, content: &[u8]) -> Result<(), Doubt> {
        let mut bytes = Bytes::new(content);
        bytes.take(6)?;
        let requires = bytes.u2()? as usize;
        bytes.take(requires * 6)?;
        for _ in 0..2 {
            for _ in 0..bytes.u2()? {
                bytes.take(4)?;
                let to = bytes.u2()? as usize;
                bytes.take(to * 2)?;
            }
        }
        for _ in 0..bytes.u2()? {
            self.classes.push(bytes.u2()?);
        }
        for _ in 0..bytes.u2()? {
            let service = constants.class_name(bytes.u2()?)?;
            for _ in 0..bytes.u2()? {
                self.provides.push((service.clone(), constants.class_name(bytes.u2()?)?));
            }
        }
        Ok(())
    }
}

/// Values that are still to be read.
enum Pending {
    Values(u16),
    /// Each preceded by a name.
    Pairs(u16),
}

impl Pending {
    fn next(self) -> Option<(Pending, bool)> {
        match self {
            Pending::Values(count) => Some((Pending::Values(count.checked_sub(1)?), false)),
            Pending::Pairs(count) => Some((Pending::Pairs(count.checked_sub(1)?), true)),
        }
    }
}
