//! Names that begin like one of a tool that reads, and act.

use super::super::lexicon::WordSense;
use super::super::names::Class;
use super::{Word, clause_class, effect, is_noun};
use crate::detector::ActionKind;
use crate::lists::senses::{FORMATS, PRODUCTS};

/// Verbs that read, and change something with these objects.
const ACTING_OBJECTS: &[(&str, &[&str])] = &[
    ("check", &["todo"]),
    ("display", &["notification", "toast"]),
    ("parse", &["prd"]),
    ("show", &["notification", "toast"]),
    ("watch", &["repo", "repository"]),
];

/// The class of a verb that reads other objects, if it acts on this one: `list_item_for_sale`, `watch_repository`.
fn on_object(verb: &Word<'_>, after: &[Word<'_>]) -> Option<Class> {
    let acts =
        |&&(listed, objects): &&(&str, &[&str])| verb.is(&[listed]) && matches!(after, [object] if object.is(objects));
    if let Some((listed, _)) = ACTING_OBJECTS.iter().find(acts) {
        return Some(Class::Change(listed));
    }
    if verb.is(&["list"]) && after.len() > 1 && after.last().is_some_and(|last| last.is(&["done"])) {
        return Some(Class::Change("complete"));
    }
    // A new one is made.
    if let ([new, .., last], true) = (after, verb.is(&["get"]))
        && new.is(&["new"])
        && last.is(&["account", "address", "key", "number", "password", "secret", "token", "wallet"])
    {
        return Some(Class::Change("create"));
    }
    // Several things are shown.
    let offers = |words: &[Word<'_>]| words[1].is(&["for"]) && words[2].is(&["sale"]) && !words[0].text.ends_with('s');
    (verb.is(&["list"]) && after.windows(3).any(offers)).then_some(Class::Destroy(ActionKind::Publish, "list"))
}

/// The class of a verb that reads, if its object makes it act, or if it stands for an action on a page: `simulate_click`.
pub(super) fn class_of(verb: &Word<'_>, after: &[Word<'_>]) -> Option<Class> {
    let acts = |word: &Word<'_>| word.has(&[WordSense::Activate, WordSense::Enter, WordSense::Press]);
    let simulates = verb.is(&["simulate"]) && after.first().is_some_and(acts);
    if simulates { Some(clause_class(after)) } else { on_object(verb, after) }
}

/// The class of a verb behind the noun `list`, on a thing of that list: `shopping_list_complete_item`, `twitter_list_follow`,
/// but neither `shop_list_order_items` nor `shop_list_order_status`.
pub(super) fn behind_list(clause: &[Word<'_>], at: usize) -> Option<Class> {
    let after = clause.get(at + 1..).filter(|_| at > 0 && clause[at].is(&["list"]))?;
    let (first, last) = (after.first()?, after.last()?);
    if last.text.ends_with('s') || last.has(&[WordSense::Shown]) {
        return None;
    }
    if let Some(verb) = [first, last].into_iter().find(|word| word.effect().is_some()) {
        return Some(effect(verb, clause));
    }
    let ticks = first.is(&["check", "tick", "uncheck"]) && after.len() > 1 || last.is(&["done"]);
    ticks.then_some(Class::Change("complete"))
}

/// The class of a verb behind one that is a noun, too: `audit_fix`, `saved_search_run`.
pub(super) fn behind_noun(clause: &[Word<'_>], at: usize) -> Option<Class> {
    let after = clause.get(at + 1..).filter(|_| clause[at].has(&[WordSense::ReadOrNoun]))?;
    let (verb, is_search) = (after.last()?, clause[at].is(&["search"]));
    if is_search && verb.is(&["run"]) && at > 0 && after.len() == 1 {
        return Some(Class::Run);
    }
    (!is_search && verb.is(&["fix", "rerequest", "rerun"])).then(|| effect(verb, clause))
}

/// Whether the words behind an object tell of a place to which it is sent: `export_csv_to_s3`, but not
/// `export_image_to_pdf`.
pub(super) fn is_sent(verb: &Word<'_>, behind: &[Word<'_>]) -> bool {
    let mut places = behind.iter().skip_while(|word| !word.is(&["into", "to"])).skip(1);
    verb.is(&["export", "generate"]) && places.any(|word| !word.is(FORMATS))
}

/// Whether a verb that reads is the name of a product, too: `zoom`, `recall`.
pub(super) fn is_product(verb: &Word<'_>) -> bool {
    verb.is(PRODUCTS)
}

/// The verb with an effect that follows the name of a product: `zoom_schedule_meeting`, `poll_vote`, but neither
/// `poll_build_status` nor `echo_message`.
pub(super) fn behind_product<'a, 'b>(product: &Word<'_>, after: &'b [Word<'a>]) -> Option<&'b Word<'a>> {
    let (verb, object) = after.split_first()?;
    let (kind, noun) = verb.effect()?;
    let is_shown = match object.last() {
        Some(last) => kind == Some(ActionKind::Run) && last.is(&["log", "logs", "status"]),
        None => kind.is_some(),
    };
    (is_product(product) && !is_shown && !is_noun(noun, kind, object)).then_some(verb)
}

#[cfg(test)]
mod tests;
