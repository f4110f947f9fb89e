//! The tree of elements, and the surroundings of each.

use crate::target::Target;

/// A line of a page's tree, or a node of a game's.
#[derive(Debug, Default)]
pub(super) struct TreeNode {
    /// The index of its parent, which is always lower.
    pub parent: Option<usize>,
    /// The reference that calls use.
    pub key: Option<String>,
    pub role: String,
    pub name: String,
    pub value: Option<String>,
    /// The text directly in it.
    pub text: String,
    pub kind: ElementKind,
    /// Its surroundings when it was shown before.
    pub known: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum ElementKind {
    /// A dialog, a form, a row: its contents belong together.
    Container,
    /// An element without a meaning of its own, which may still look like a dialog.
    Group,
    /// A button, a link: its contents are its own text.
    Active,
    /// A field for typing: its contents tell nothing about its purpose.
    Typed,
    #[default]
    Other,
}

/// The greatest length of the surroundings, in bytes.
const MAX_CONTEXT: usize = 400;
/// How many levels up containers are searched, and how many containers are used.
const MAX_LEVELS: usize = 64;
const MAX_CONTAINERS: usize = 3;

/// The items that calls can refer to, with their surroundings. The time is linear, at any depth.
pub(super) fn targets(items: Vec<TreeNode>) -> Vec<(String, Target)> {
    let (inside, around) = texts(&items);
    let contexts: Vec<Option<String>> = (0..items.len())
        .map(|at| {
            let mut near = String::new();
            for kind in [ElementKind::Container, ElementKind::Group] {
                // Groups only if there is no container.
                let most = if near.is_empty() { MAX_CONTAINERS } else { 0 };
                for container in containers(&items, at, kind).take(most) {
                    join(&mut near, &items[container].name);
                    join(&mut near, &around[container]);
                }
            }
            items[at].known.iter().for_each(|known| join(&mut near, known));
            Some(near).filter(|near| !near.is_empty())
        })
        .collect();
    let mut targets = Vec::new();
    for ((item, inside), context) in items.into_iter().zip(inside).zip(contexts) {
        let Some(key) = item.key else { continue };
        let name = if item.name.is_empty() { inside } else { item.name };
        let role = Some(item.role).filter(|role| !role.is_empty());
        targets.push((key, Target { role, name, value: item.value, context, ..Target::default() }));
    }
    targets
}

/// For each item, all text in it at any depth; and, for containers, the text that is not part of a button or a field.
fn texts(items: &[TreeNode]) -> (Vec<String>, Vec<String>) {
    let mut inside = vec![String::new(); items.len()];
    let mut around = vec![String::new(); items.len()];
    for (at, item) in items.iter().enumerate() {
        join(&mut inside[at], &item.text);
        if matches!(item.kind, ElementKind::Container | ElementKind::Group) {
            join(&mut around[at], &item.text);
        }
        let said = if item.name.is_empty() { &item.text } else { &item.name };
        if said.is_empty() {
            continue;
        }
        let mut is_own = matches!(item.kind, ElementKind::Active | ElementKind::Typed);
        let (mut containers, mut groups) = (0, 0);
        for above in above(items, at) {
            join(&mut inside[above], said);
            is_own |= items[above].kind == ElementKind::Active;
            let count = match items[above].kind {
                ElementKind::Container => &mut containers,
                ElementKind::Group => &mut groups,
                _ => continue,
            };
            *count += 1;
            if !is_own && *count <= MAX_CONTAINERS {
                join(&mut around[above], said);
            }
        }
    }
    (inside, around)
}

fn above(items: &[TreeNode], at: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(items[at].parent, |&at| items[at].parent).take(MAX_LEVELS)
}

fn containers(items: &[TreeNode], at: usize, kind: ElementKind) -> impl Iterator<Item = usize> {
    above(items, at).filter(move |&above| items[above].kind == kind).take(MAX_CONTAINERS)
}

/// Appends a text, as far as there is room.
fn join(to: &mut String, text: &str) {
    let text = text.trim();
    // The name of a dialog is usually also its heading.
    if text.is_empty() || to.len() >= MAX_CONTEXT || to.ends_with(text) {
        return;
    }
    if !to.is_empty() {
        to.push_str(" \u{b7} ");
    }
    let mut end = text.len().min(MAX_CONTEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    to.push_str(&text[..end]);
}
