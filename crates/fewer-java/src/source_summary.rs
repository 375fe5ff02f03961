//! The types of one source file as class summaries: every mention replaced by the classes it means. Looks names
//! up in the declarations of the whole project; keeps nothing.

use std::collections::{BTreeSet, HashMap, HashSet};

use fewer_core::{DigestBuilder, Domain};

use crate::declarations::{Declarations, DeclaringFile, Resolved, TypeKey};
use crate::java_lang::JAVA_LANG;
use crate::source_facts::{Argument, Import, Load, MemberFacts, Mentions};
use crate::summary::{ClassSummary, LoadedName, MemberLists, MemberSummary, TextId, Texts, Unknown, Use};

const CLASS: Domain = Domain::new("java.source.class");

pub(crate) fn summarise(declarations: &Declarations, file: u32) -> Vec<ClassSummary> {
    let declaring = declarations.file(file);
    let mut members_of_imports: HashMap<&str, Vec<TypeKey>> = HashMap::new();
    let mut wildcard_owners: Vec<TypeKey> = Vec::new();
    for import in declaring.facts.imports.iter().filter(|import| import.is_static) {
        if import.is_wildcard {
            wildcard_owners.extend(declarations.qualified(&import.name).whole(&import.name));
        } else if let Some((owner, member)) = import.name.rsplit_once('.') {
            let owners = declarations.qualified(owner).whole(owner);
            members_of_imports.entry(member).or_default().extend(owners);
        }
    }
    let given = declaring.facts.given.iter().map(|&id| declaring.facts.text(id)).collect();
    let summarised = declaring.types().map(|index| {
        let scope = Scope {
            declarations,
            declaring,
            file,
            index,
            members_of_imports: &members_of_imports,
            wildcard_owners: &wildcard_owners,
            given: &given,
            known: HashMap::new(),
            texts: Texts::default(),
            member_lists: MemberLists::default(),
        };
        scope.summarise()
    });
    summarised.collect()
}

/// One type, with what its names were found to mean so far.
struct Scope<'d> {
    declarations: &'d Declarations,
    declaring: &'d DeclaringFile,
    file: u32,
    index: u32,
    members_of_imports: &'d HashMap<&'d str, Vec<TypeKey>>,
    wildcard_owners: &'d [TypeKey],
    /// Names of type parameters, variables and local classes of the file.
    given: &'d HashSet<&'d str>,
    known: HashMap<TextId, Resolved>,
    texts: Texts,
    member_lists: MemberLists,
}

impl<'d> Scope<'d> {
    fn summarise(mut self) -> ClassSummary {
        let facts = &self.declaring.facts;
        let declared = &facts.types[self.index as usize];
        let name = self.declaring.binary[self.index as usize].clone();
        let mut header = self.classes(&declared.header_mentions);
        header.extend(self.wildcard_owners.iter().map(|&key| self.declarations.binary(key)));
        let mut content = DigestBuilder::new(CLASS);
        content.text(&name).digest(declared.header);
        let mut all = header.clone();
        let mut members = Vec::with_capacity(declared.members.len());
        for member in &declared.members {
            content.text(facts.text(member.key)).digest(member.content);
            let (summary, classes) = self.member(member);
            all.extend(classes);
            members.push(summary);
        }
        let supers = self.supers(&declared.supers, declared.parent);
        let annotations = self.external_names(&declared.annotations, Some(self.index));
        let mentions: Vec<&Mentions> = std::iter::once(&declared.header_mentions)
            .chain(declared.members.iter().map(|member| &member.mentions))
            .collect();
        let strings: BTreeSet<&str> =
            mentions.iter().flat_map(|mentions| &mentions.strings).map(|&id| facts.text(id)).collect();
        let (undeclared, doubtful) = self.undeclared(&mentions);
        let unknowns: BTreeSet<Unknown> =
            mentions.iter().flat_map(|mentions| &mentions.loads).map(|load| self.unknown(load)).collect();
        let provides = declared
            .provides
            .iter()
            .map(|&(service, provider)| {
                let named = |id| self.declaring_name(facts.text(id));
                (named(service), named(provider))
            })
            .collect::<Vec<_>>();
        all.remove(name.as_str());
        header.remove(name.as_str());
        ClassSummary {
            content: content.finish(),
            traits: declared.traits,
            outer: declared.parent.map(|parent| self.texts.id(&self.declaring.binary[parent as usize])),
            supers: supers.iter().map(|name| self.texts.id(name)).collect(),
            references: self.texts.sorted(all),
            strings: self.texts.sorted(strings),
            annotations: annotations.iter().map(|name| self.texts.id(name)).collect(),
            provides: provides
                .iter()
                .map(|(service, provider)| (self.texts.id(service), self.texts.id(provider)))
                .collect(),
            unknowns: unknowns.into_iter().collect(),
            undeclared: self.texts.sorted(undeclared.iter().map(String::as_str)),
            doubtful: self.texts.sorted(doubtful.iter().map(String::as_str)),
            header: declared.header,
            header_references: self.texts.sorted(header),
            members,
            member_lists: self.member_lists,
            notes: Vec::new(),
            name,
            texts: self.texts.list,
        }
    }

    fn member(&mut self, member: &MemberFacts) -> (MemberSummary, BTreeSet<&'d str>) {
        let facts = &self.declaring.facts;
        let classes = self.classes(&member.mentions);
        let mut creates: BTreeSet<&str> = BTreeSet::new();
        for &created in &member.mentions.created {
            let resolved = self.resolve(created);
            creates.extend(resolved.types.iter().map(|&key| self.declarations.binary(key)));
        }
        let uses = self.uses(&member.mentions);
        let annotations = self.external_names(&member.annotations, Some(self.index));
        let strings: Vec<&str> = member.mentions.strings.iter().map(|&id| facts.text(id)).collect();
        let unknowns = member.mentions.loads.iter().map(|load| self.unknown(load)).collect();
        let annotations: Vec<TextId> = annotations.iter().map(|name| self.texts.id(name)).collect();
        let references = self.texts.sorted(classes.iter().copied());
        let (creates, strings) = (self.texts.sorted(creates), self.texts.sorted(strings));
        let lists = &mut self.member_lists;
        let summary = MemberSummary {
            name: self.texts.id(facts.text(member.name)),
            key: self.texts.id(facts.text(member.key)),
            content: member.content,
            traits: member.traits,
            annotations: lists.add(annotations),
            references: lists.add(references),
            creates: lists.add(creates),
            uses: lists.add_uses(&uses),
            strings: lists.add(strings),
            unknowns,
        };
        (summary, classes)
    }

    fn resolve(&mut self, id: TextId) -> Resolved {
        if let Some(known) = self.known.get(&id) {
            return known.clone();
        }
        let text = self.declaring.facts.text(id);
        let resolved = self.declarations.resolve(self.file, Some(self.index), text);
        self.known.insert(id, resolved.clone());
        resolved
    }

    /// Every class that some mentions name.
    fn classes(&mut self, mentions: &Mentions) -> BTreeSet<&'d str> {
        let mut classes = BTreeSet::new();
        for &id in mentions.types.iter().chain(&mentions.expressions) {
            let resolved = self.resolve(id);
            let keys = resolved.types.into_iter().chain(resolved.passed);
            classes.extend(keys.map(|key| self.declarations.binary(key)));
        }
        for owner in self.static_imports(mentions).into_iter().map(|(owner, _)| owner) {
            classes.insert(self.declarations.binary(owner));
        }
        classes
    }

    /// Names without a receiver that a static import brings in.
    fn static_imports(&self, mentions: &Mentions) -> Vec<(TypeKey, &'d str)> {
        if self.members_of_imports.is_empty() {
            return Vec::new();
        }
        let mut found = Vec::new();
        for &id in
            mentions.own.iter().chain(&mentions.expressions).chain(mentions.on.iter().map(|(id, _)| id))
        {
            let text = self.declaring.facts.text(id);
            let first = text.split_once('.').map_or(text, |(first, _)| first);
            for &owner in self.members_of_imports.get(first).into_iter().flatten() {
                found.push((owner, first));
            }
        }
        found
    }

    fn uses(&mut self, mentions: &Mentions) -> Vec<Use> {
        let facts = &self.declaring.facts;
        let mut uses: BTreeSet<Use> = BTreeSet::new();
        for &id in &mentions.own {
            let name = self.texts.id(facts.text(id));
            uses.insert(Use::Own { name });
        }
        for &id in &mentions.any {
            let name = self.texts.id(facts.text(id));
            uses.insert(Use::Any { name });
        }
        for &(owner, name) in &mentions.on {
            let resolved = self.resolve(owner);
            let whole = resolved.whole(facts.text(owner));
            let name = self.texts.id(facts.text(name));
            if whole.is_empty() {
                uses.insert(Use::Any { name });
            }
            for key in whole {
                let owner = self.texts.id(self.declarations.binary(key));
                uses.insert(Use::On { owner, name });
            }
        }
        for &id in &mentions.expressions {
            self.expression_uses(id, &mut uses);
        }
        let bare = mentions.own.iter().chain(&mentions.expressions).map(|&id| facts.text(id));
        let bare: Vec<&str> =
            bare.map(|text| text.split_once('.').map_or(text, |(first, _)| first)).collect();
        let through_wildcards =
            self.wildcard_owners.iter().flat_map(|&owner| bare.iter().map(move |&name| (owner, name)));
        for (owner, name) in self.static_imports(mentions).into_iter().chain(through_wildcards) {
            let owner = self.texts.id(self.declarations.binary(owner));
            let name = self.texts.id(name);
            uses.insert(Use::On { owner, name });
        }
        uses.into_iter().collect()
    }

    /// `a.B.c.d`: after the type the first name is a member of it, and the rest are members of anything.
    fn expression_uses(&mut self, id: TextId, uses: &mut BTreeSet<Use>) {
        let text = self.declaring.facts.text(id);
        let resolved = self.resolve(id);
        let rest = match resolved.types.is_empty() {
            true => {
                let (first, rest) = text.split_once('.').unwrap_or((text, ""));
                let name = self.texts.id(first);
                uses.insert(Use::Own { name });
                rest
            }
            false => text[resolved.consumed..].trim_start_matches('.'),
        };
        let mut names = rest.split('.').filter(|name| !name.is_empty());
        if !resolved.types.is_empty() {
            // The name may still be a variable's.
            let first = text.split('.').next().unwrap_or("");
            let name = self.texts.id(first);
            uses.insert(Use::Own { name });
            if let Some(member) = names.next() {
                let name = self.texts.id(member);
                for key in resolved.types {
                    let owner = self.texts.id(self.declarations.binary(key));
                    uses.insert(Use::On { owner, name });
                }
            }
        }
        for name in names {
            let name = self.texts.id(name);
            uses.insert(Use::Any { name });
        }
    }

    /// Classes that no file declares, by their full names: certainly, and where a wildcard may bring in another.
    fn undeclared(&mut self, mentions: &[&Mentions]) -> (BTreeSet<String>, BTreeSet<String>) {
        let facts = &self.declaring.facts;
        let imports = || facts.imports.iter().filter(|import| !import.is_static);
        let packages: Vec<&str> =
            imports().filter(|import| import.is_wildcard).map(|import| import.name.as_str()).collect();
        let is_absent = |import: &&Import| self.declarations.qualified(&import.name).types.is_empty();
        let absent = imports().filter(|import| !import.is_wildcard).filter(is_absent);
        let mut undeclared: BTreeSet<String> = absent.map(|import| import.name.clone()).collect();
        let mut doubtful = BTreeSet::new();
        for name in self.unimported(mentions) {
            let own = format!("{}.{name}", facts.package);
            if packages.is_empty() {
                undeclared.insert(own);
            } else {
                doubtful.insert(own);
                doubtful.extend(packages.iter().map(|package| format!("{package}.{name}")));
            }
        }
        (undeclared, doubtful)
    }

    /// Names of classes that nothing in the project and no import explains.
    fn unimported(&mut self, mentions: &[&Mentions]) -> BTreeSet<&'d str> {
        let facts = &self.declaring.facts;
        let types = mentions.iter().flat_map(|mentions| &mentions.types).map(|&id| (id, true));
        let expressions = mentions.iter().flat_map(|mentions| &mentions.expressions).map(|&id| (id, false));
        let mut names = BTreeSet::new();
        for (id, is_type) in types.chain(expressions) {
            let text = facts.text(id);
            let name = text.split('.').next().unwrap_or(text);
            let is_explained = !looks_like_class(name, is_type)
                || JAVA_LANG.binary_search(&name).is_ok()
                || self.given.contains(name)
                || self.declaring.imported(name).is_some();
            if !is_explained && self.resolve(id).types.is_empty() {
                names.insert(name);
            }
        }
        names
    }

    fn supers(&self, written: &[TextId], scope: Option<u32>) -> BTreeSet<String> {
        self.external_names(written, scope).into_iter().collect()
    }

    /// Classes of the project by their binary names, others as imports tell them or as written.
    fn external_names(&self, written: &[TextId], scope: Option<u32>) -> Vec<String> {
        let mut names = Vec::new();
        for &id in written {
            let text = self.declaring.facts.text(id);
            let own = TypeKey { file: self.file, index: self.index };
            let found = self.declarations.resolve(self.file, scope, text).whole(text);
            let found: Vec<TypeKey> = found.into_iter().filter(|&key| key != own).collect();
            if found.is_empty() {
                names.push(self.declaring.imported(text).unwrap_or(text).to_string());
            }
            names.extend(found.into_iter().map(|key| self.declarations.binary(key).to_string()));
        }
        names
    }

    fn declaring_name(&self, dotted: &str) -> String {
        let found = self.declarations.resolve(self.file, Some(self.index), dotted).whole(dotted);
        match found.first() {
            Some(&key) => self.declarations.binary(key).to_string(),
            None => dotted.to_string(),
        }
    }

    fn unknown(&self, load: &Load) -> Unknown {
        let facts = &self.declaring.facts;
        let name = match load.argument {
            Argument::Prefix(prefix) => LoadedName::Prefix(facts.text(prefix).to_string()),
            Argument::Computed => LoadedName::Computed,
            Argument::Name(dotted) => self.loaded_field(facts.text(dotted)),
        };
        Unknown { kind: load.kind, call: facts.text(load.call).to_string(), name }
    }

    fn loaded_field(&self, dotted: &str) -> LoadedName {
        let binary = |key: TypeKey| self.declarations.binary(key).to_string();
        let (owners, field) = match dotted.rsplit_once('.') {
            Some((owner, field)) => {
                let found = self.declarations.resolve(self.file, Some(self.index), owner).whole(owner);
                (found.into_iter().map(binary).collect::<Vec<_>>(), field)
            }
            None => {
                let mut owners = Vec::new();
                let mut enclosing = Some(self.index);
                while let Some(index) = enclosing {
                    owners.push(self.declaring.binary[index as usize].clone());
                    enclosing = self.declaring.parent(index);
                }
                let imported = self.members_of_imports.get(dotted).into_iter().flatten();
                owners.extend(imported.chain(self.wildcard_owners).map(|&key| binary(key)));
                (owners, dotted)
            }
        };
        LoadedName::Field { owners, field: field.to_string() }
    }
}

/// By the usual spelling. Where an expression stands, a name in capitals is a constant's.
fn looks_like_class(name: &str, is_type: bool) -> bool {
    name.starts_with(char::is_uppercase) && (is_type || name.contains(char::is_lowercase))
}
