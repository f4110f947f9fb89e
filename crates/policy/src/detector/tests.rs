use super::*;
use pipewright_words::pattern::{self, LISTS, Pattern, PatternPart, PatternWord, alternatives};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

fn kind(name: &str, locale: Option<&str>) -> Option<ActionKind> {
    classify(&Element { name, locale, ..Element::default() }).map(|found| found.kind)
}

fn english(name: &str) -> Option<ActionKind> {
    kind(name, Some("en"))
}

#[test]
fn the_kinds_are_the_names_of_the_lists_in_order() {
    let names: Vec<&str> = ActionKind::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!(names, LISTS[..usize::from(pattern::BENIGN)]);
    for kind in ActionKind::ALL {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
    }
}

#[test]
fn the_reason_has_the_words_as_they_are_written() {
    let because = |name: &str, locale| {
        let found = classify(&Element { name, locale: Some(locale), ..Element::default() });
        found.map(|found| found.because).unwrap_or_default()
    };
    for (name, locale, words) in [
        ("Place order (3)", "en", "order: \"place order\" (en)"),
        ("Cancel my order", "en", "cancel_order: \"cancel my order\" (en)"),
        ("„LÖSCHEN“", "de", "delete: \"löschen\" (de)"),
        ("3 × Lo\u{308}schen", "de", "delete: \"löschen\" (de)"),
        ("PDFを削除", "ja", "delete: \"削除\" (ja)"),
        ("\u{200b}Удалить…", "ru", "delete: \"удалить\" (ru)"),
    ] {
        assert_eq!(because(name, locale), words);
    }
}

#[test]
fn a_harmless_phrase_cancels_an_action_that_is_not_longer() {
    assert_eq!(english("Send later"), None);
    assert_eq!(english("Cancel"), None);
    assert_eq!(english("Cancel order"), Some(ActionKind::CancelOrder), "longer than cancel");
    assert_eq!(english("Reset filters"), None);
    assert_eq!(english("Delete reset filters"), Some(ActionKind::Delete), "it does not overlap delete");
}

#[test]
fn short_names_of_payments_signatures_and_keys_count() {
    for (name, of_kind) in [
        ("Apple Pay", ActionKind::Pay),
        ("Continue to PayPal", ActionKind::Pay),
        ("🗑️", ActionKind::Delete),
        ("Adopt and sign", ActionKind::Confirm),
        ("E-sign", ActionKind::Confirm),
        ("Easy Apply", ActionKind::Submit),
        ("Enroll", ActionKind::Submit),
        ("Create token", ActionKind::Grant),
        ("Add SSH key", ActionKind::Grant),
    ] {
        assert_eq!(english(name), Some(of_kind), "{name}");
    }
    for name in ["Apple Pay accepted here", "PayPal", "SSH keys", "Enrollment"] {
        assert_eq!(english(name), None, "{name}");
    }
}

#[test]
fn everyday_english_buttons_are_harmless_in_any_language() {
    let names = "Start|Play|Pause|Resume|Continue|Start game|Load \
                 game|Open|Save|Options|Import|Export|Filter|Sync|Refresh|Connect|Update";
    for name in names.split('|') {
        assert_eq!(kind(name, None), None, "{name}");
    }
}

#[test]
fn a_negation_applies_to_the_next_two_words() {
    assert_eq!(english("Don't delete"), None);
    assert_eq!(english("Do not ever send"), None);
    assert_eq!(english("Not that I want to send"), Some(ActionKind::Send));
    assert_eq!(english("Not now. Delete"), Some(ActionKind::Delete), "another sentence");
    assert_eq!(english("Delete not used"), Some(ActionKind::Delete));
}

#[test]
fn patterns_may_be_bound_to_the_ends_of_a_name() {
    assert_eq!(english("Order"), Some(ActionKind::Order));
    assert_eq!(english("Order history"), None);
    assert_eq!(english("Last order"), None);
    assert_eq!(english("Run tests now"), Some(ActionKind::Run));
    assert_eq!(english("Home run"), None);
}

#[test]
fn in_a_sentence_an_action_counts_at_its_beginning_and_end() {
    assert_eq!(english("Delete all of the files that you can see in here"), Some(ActionKind::Delete));
    assert_eq!(english("Yes, delete all of the files that you can see"), Some(ActionKind::Delete));
    assert_eq!(english("All of the files that you can see in here: delete"), Some(ActionKind::Delete));
    assert_eq!(english("Here you see what happens when you delete all of the files"), None);
    assert_eq!(english(&format!("{} delete", "word ".repeat(10_000))), Some(ActionKind::Delete));
    assert_eq!(english("What happens when you delete it?"), Some(ActionKind::Delete), "eight words are a label");
}

#[test]
fn an_action_that_is_only_mentioned_does_not_count() {
    for (name, locale, is_found) in [
        // A word of `before` or `behind` is next to it.
        ("退款", "zh-Hans", true),
        ("退款方式", "zh-Hans", false),
        ("Ngày xác nhận", "vi", false),
        ("Xác nhận", "vi", true),
        // After the last verb, and before the first one.
        ("Hesabı sil", "tr", true),
        ("Sil ve kapat", "tr", true),
        ("Gönder düğmesi", "tr", false),
        ("削除する", "ja", true),
        ("削除履歴", "ja", false),
        ("Conferma", "it", true),
        ("Sì, elimina", "it", true),
        ("Codice di conferma", "it", false),
        ("Vuoi davvero eliminare il file?", "it", true),
        // A field, a statement, a password, a setting.
        ("Antworten", "de", true),
        ("Antworten:", "de", false),
        ("Der Nutzer kann löschen, was er will.", "de", false),
        ("Die Datei löschen.", "de", true),
        ("Bestätigen Sie Ihr Passwort", "de", false),
        ("Povolit", "cs", true),
        ("Povolit zákazníkům upravovat své údaje", "cs", false),
    ] {
        assert_eq!(kind(name, Some(locale)).is_some(), is_found, "{name}");
    }
    // Around a button without a meaning of its own, a statement tells what the button does.
    let ok = Element { name: "OK", context: Some("The file will be deleted: delete it."), ..Element::default() };
    assert!(classify(&ok).is_some());
}

#[test]
fn the_gravest_of_several_actions_is_reported() {
    assert_eq!(english("Confirm and delete"), Some(ActionKind::Delete));
    assert_eq!(english("Accept and pay now"), Some(ActionKind::Pay));
    let found = classify(&Element { name: "Buy now", locale: Some("en-GB"), ..Element::default() }).unwrap();
    assert_eq!((found.severity, &*found.because), (Severity::Strong, "pay: \"buy\" (en)"));
    assert_eq!(ActionKind::Delete.severity(), Severity::Ordinary);
}

#[test]
fn english_applies_in_every_locale() {
    assert_eq!(kind("Delete", Some("ja")), Some(ActionKind::Delete));
    assert_eq!(kind("Datei Delete", Some("de-CH")), Some(ActionKind::Delete));
}

#[test]
fn a_name_without_meaning_is_judged_by_its_dialog() {
    let in_context = |name, context| {
        classify(&Element { name, context: Some(context), ..Element::default() }).map(|found| found.because)
    };
    let because = Some("delete: \"delete\" (en), in its context".to_owned());
    assert_eq!(in_context("OK", "This can't be undone. Do you want to delete report.pdf and the rest of it?"), because);
    assert_eq!(in_context("Yes, continue", "Delete?"), because);
    assert_eq!(in_context("\u{d7}", "Delete?"), because, "a sign");
    assert_eq!(in_context("OK", "Saved"), None);
    assert_eq!(in_context("Cancel", "Delete?"), None, "it has a meaning of its own");
    assert_eq!(in_context("OK", &format!("{} delete", "x".repeat(MAX_CONTEXT))), None, "too far");
    let value = Element { value: Some("Delete"), ..Element::default() };
    assert_eq!(classify(&value).map(|found| found.kind), Some(ActionKind::Delete));
    assert_eq!(classify(&Element { name: "Edit", ..value }), None);
}

#[test]
fn a_passive_element_counts_only_if_its_whole_name_is_an_action() {
    let with_role = |role, name| classify(&Element { role: Some(role), name, ..Element::default() }).is_some();
    for role in ["button", "Link", "menuitem", "tab", "generic", "what-is-this"] {
        assert!(with_role(role, "Delete this page"), "{role}");
    }
    for role in ["heading", "text", "IMG", "paragraph"] {
        assert!(with_role(role, "Delete"), "{role}: the text may be inside a button");
        assert!(!with_role(role, "Delete this page"), "{role}");
    }
    assert!(!with_role("textbox", "Delete"), "a field for typing");
}

/// The lists as they are written, by language.
fn files() -> BTreeMap<String, BTreeMap<String, Vec<String>>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../words/lists");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files
        .map(|path| {
            let lists = toml::from_str::<BTreeMap<String, Vec<String>>>(&std::fs::read_to_string(&path).unwrap());
            let lists = lists.unwrap_or_else(|error| panic!("{path:?}: {error}"));
            let all = |patterns: Vec<String>| patterns.iter().flat_map(|one| alternatives(one).unwrap()).collect();
            let lists = lists.into_iter().map(|(name, patterns)| (name, all(patterns))).collect();
            (path.file_stem().unwrap().to_str().unwrap().to_owned(), lists)
        })
        .collect()
}

/// A name with only the words of a pattern.
fn name_of(pattern: &Pattern) -> String {
    let mut name = "7 ".repeat(usize::from(pattern.lead)) + &pattern.first.text;
    for step in &pattern.rest {
        if !pattern.unspaced {
            name.push(' ');
        }
        match step {
            PatternPart::Word(PatternWord { text, .. }) => name += text,
            PatternPart::One | PatternPart::Few => name.push('7'),
        }
    }
    name
}

/// Reports every fault of the lists at once.
#[test]
fn each_pattern_of_each_list_matches_its_own_words() {
    let mut faults = Vec::new();
    for (language, lists) in files() {
        for required in &LISTS[..=usize::from(pattern::NEGATIONS)] {
            if !lists.contains_key(*required) {
                faults.push(format!("{language}: no {required}"));
            }
        }
        let mut seen = BTreeMap::new();
        for (list, written) in lists.iter().flat_map(|(list, all)| all.iter().map(move |written| (list, written))) {
            let Some(place) = LISTS.iter().position(|known| known == list) else {
                faults.push(format!("{language}: {list}: no such list"));
                continue;
            };
            let pattern = match Pattern::read(written) {
                Ok(pattern) => pattern,
                Err(error) => {
                    faults.push(format!("{language}: {list}: {written:?}: {error}"));
                    continue;
                }
            };
            // One word may be both an action and its negation, but not twice in the same list.
            if let Some(other) = seen.insert((format!("{pattern:?}"), place >= usize::from(pattern::NEGATIONS)), list) {
                faults.push(format!("{language}: {list}: {written:?} is in {other} already"));
                continue;
            }
            let name = name_of(&pattern);
            let found = kind(&name, Some(&language));
            let is_it = match list.as_str() {
                "benign" | "generic" => found.is_none(),
                "negations" | "before" | "behind" => true,
                _ => found.is_some_and(|kind| kind.name() == list),
            };
            if !is_it {
                faults.push(format!("{language}: {list}: {written:?}: {name:?} is found to be {found:?}"));
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn every_file_is_a_language_that_its_tag_selects() {
    for language in files().keys() {
        let home = languages::of_locale(Some(language)).home;
        assert_eq!(home.count_ones(), 1, "{language}");
        assert_eq!(pipewright_words::LANGUAGES[home.trailing_zeros() as usize], language);
    }
}

fn labels() -> Vec<String> {
    let files = files();
    let written: BTreeSet<&String> = files.values().flat_map(BTreeMap::values).flatten().collect();
    written.into_iter().filter_map(|written| Some(name_of(&Pattern::read(written).ok()?))).collect()
}

proptest! {
    #[test]
    fn any_text_is_judged(name in "\\PC*", locale in "[a-zA-Z_-]{0,9}", context in "\\PC*", button: bool) {
        let role = button.then_some("button");
        classify(&Element { role, name: &name, value: Some(&context), locale: Some(&locale), context: Some(&context) });
        classify(&Element { name: &name, context: Some(&context), ..Element::default() });
    }

    #[test]
    fn spelling_makes_no_difference(label in prop::sample::select(labels())) {
        use unicode_normalization::UnicodeNormalization;
        let judged = |name| classify(&Element { name, ..Element::default() }).map(|found| found.kind);
        let spellings =
            [label.to_uppercase(), label.to_lowercase(), label.nfd().collect(), label.nfc().collect(), format!("  {label}\n")];
        for name in &spellings {
            prop_assert_eq!(judged(name), judged(&label), "{}", name);
        }
    }
}
