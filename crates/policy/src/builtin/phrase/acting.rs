//! Names that begin like one of a tool that reads, and act.

use super::super::lexicon::WordSense;
use super::super::names::Class;
use super::{Word, clause_class, is_noun};
use crate::detector::ActionKind;
use crate::lists::senses::{FORMATS, PRODUCTS};

/// Verbs that read, and change something with these objects.
const ACTING_OBJECTS: &[(&str, &[&str])] = &[("check", &["todo"]), ("watch", &["repo", "repository"])];

/// The class of a verb that reads other objects, if it acts on this one: `list_item_for_sale`, `watch_repository`.
fn on_object(verb: &Word<'_>, after: &[Word<'_>]) -> Option<Class> {
    let acts =
        |&&(listed, objects): &&(&str, &[&str])| verb.is(&[listed]) && matches!(after, [object] if object.is(objects));
    if let Some((listed, _)) = ACTING_OBJECTS.iter().find(acts) {
        return Some(Class::Change(listed));
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
