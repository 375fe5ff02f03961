//! The kinds of tree-sitter-java's nodes that the source reader tells apart, by number. No walking here.

use std::sync::OnceLock;

use tree_sitter::Language;

/// What a node is to the reader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Other,
    Comment,
    Type,
    Method,
    Field,
    Constructor,
    StaticInitialiser,
    Block,
    EnumConstant,
    ClassBody,
    Modifiers,
    Annotation,
    Identifier,
    ScopedIdentifier,
    TypeIdentifier,
    ScopedType,
    GenericType,
    ArrayType,
    TypeParameter,
    Supers,
    FieldAccess,
    MethodInvocation,
    MethodReference,
    Creation,
    ClassLiteral,
    Lambda,
    ArrayCreation,
    String,
    This,
    Super,
    Package,
    Import,
    Module,
    Provides,
    Key,
    Label,
}

impl Kind {
    /// Evaluating it may run code of another class.
    pub fn is_effect(self) -> bool {
        matches!(
            self,
            Kind::FieldAccess
                | Kind::MethodInvocation
                | Kind::MethodReference
                | Kind::Creation
                | Kind::ClassLiteral
                | Kind::Lambda
                | Kind::ArrayCreation
        )
    }
}

const KINDS: &[(&str, Kind)] = &[
    ("line_comment", Kind::Comment),
    ("block_comment", Kind::Comment),
    ("class_declaration", Kind::Type),
    ("interface_declaration", Kind::Type),
    ("enum_declaration", Kind::Type),
    ("record_declaration", Kind::Type),
    ("annotation_type_declaration", Kind::Type),
    ("method_declaration", Kind::Method),
    ("annotation_type_element_declaration", Kind::Method),
    ("field_declaration", Kind::Field),
    ("constant_declaration", Kind::Field),
    ("constructor_declaration", Kind::Constructor),
    ("compact_constructor_declaration", Kind::Constructor),
    ("static_initializer", Kind::StaticInitialiser),
    ("block", Kind::Block),
    ("enum_constant", Kind::EnumConstant),
    ("class_body", Kind::ClassBody),
    ("modifiers", Kind::Modifiers),
    ("annotation", Kind::Annotation),
    ("marker_annotation", Kind::Annotation),
    ("identifier", Kind::Identifier),
    ("scoped_identifier", Kind::ScopedIdentifier),
    ("type_identifier", Kind::TypeIdentifier),
    ("scoped_type_identifier", Kind::ScopedType),
    ("generic_type", Kind::GenericType),
    ("array_type", Kind::ArrayType),
    ("type_parameter", Kind::TypeParameter),
    ("superclass", Kind::Supers),
    ("super_interfaces", Kind::Supers),
    ("extends_interfaces", Kind::Supers),
    ("field_access", Kind::FieldAccess),
    ("method_invocation", Kind::MethodInvocation),
    ("method_reference", Kind::MethodReference),
    ("object_creation_expression", Kind::Creation),
    ("class_literal", Kind::ClassLiteral),
    ("lambda_expression", Kind::Lambda),
    ("array_creation_expression", Kind::ArrayCreation),
    ("array_initializer", Kind::ArrayCreation),
    ("string_literal", Kind::String),
    ("this", Kind::This),
    ("super", Kind::Super),
    ("package_declaration", Kind::Package),
    ("import_declaration", Kind::Import),
    ("module_declaration", Kind::Module),
    ("provides_module_directive", Kind::Provides),
    ("element_value_pair", Kind::Key),
    ("labeled_statement", Kind::Label),
    ("break_statement", Kind::Label),
    ("continue_statement", Kind::Label),
];

/// The grammar with its numbers.
pub(crate) struct Syntax {
    pub language: Language,
    kinds: Vec<Kind>,
    pub name: u16,
    pub object: u16,
    pub arguments: u16,
    pub key: u16,
    pub field: u16,
    pub kind: u16,
    pub parameters: u16,
    pub element: u16,
}

impl Syntax {
    pub fn get() -> &'static Syntax {
        static SYNTAX: OnceLock<Syntax> = OnceLock::new();
        SYNTAX.get_or_init(Syntax::load)
    }

    fn load() -> Syntax {
        let language: Language = tree_sitter_java::LANGUAGE.into();
        let kinds = (0..language.node_kind_count() as u16)
            .map(|id| match language.node_kind_for_id(id) {
                Some(name) if language.node_kind_is_named(id) => {
                    KINDS.iter().find(|(known, _)| *known == name).map_or(Kind::Other, |&(_, kind)| kind)
                }
                Some(_) | None => Kind::Other,
            })
            .collect();
        let field = |name: &str| {
            language
                .field_id_for_name(name)
                .map_or_else(|| panic!("the grammar has no field {name}"), u16::from)
        };
        Syntax {
            kinds,
            name: field("name"),
            object: field("object"),
            arguments: field("arguments"),
            key: field("key"),
            field: field("field"),
            kind: field("type"),
            parameters: field("parameters"),
            element: field("element"),
            language,
        }
    }

    pub fn kind(&self, node: tree_sitter::Node<'_>) -> Kind {
        self.kinds.get(node.kind_id() as usize).copied().unwrap_or(Kind::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_known_to_the_grammar() {
        let syntax = Syntax::get();
        for (name, _) in KINDS {
            assert_ne!(syntax.language.id_for_node_kind(name, true), 0, "{name}");
        }
    }
}
