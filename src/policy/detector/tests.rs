use super::pattern::{LISTS, Pattern, Piece, Step, alternatives};
use super::*;
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
fn kinds_are_the_lists_by_name_and_order() {
    let names: Vec<&str> = ActionKind::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!(names, LISTS[..usize::from(pattern::BENIGN)]);
    for kind in ActionKind::ALL {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
    }
}

#[test]
fn a_harmless_word_takes_the_action_away_that_is_no_longer_than_it() {
    assert_eq!(english("Send later"), None);
    assert_eq!(english("Cancel"), None);
    assert_eq!(english("Cancel order"), Some(ActionKind::CancelOrder), "longer than cancel");
    assert_eq!(english("Reset filters"), None);
    assert_eq!(english("Delete reset filters"), Some(ActionKind::Delete), "it doesn't touch delete");
}

#[test]
fn everyday_english_buttons_are_harmless_in_any_language() {
    let names = "Start|Play|Pause|Resume|Continue|Start game|Load game|Open|Save|Options|Import|Export|Filter|Sync|Refresh|Connect|Update";
    for name in names.split('|') {
        assert_eq!(kind(name, None), None, "{name}");
    }
}

#[test]
fn a_negation_denies_what_follows_within_two_words() {
    assert_eq!(english("Don't delete"), None);
    assert_eq!(english("Do not ever send"), None);
    assert_eq!(english("Not that I want to send"), Some(ActionKind::Send));
    assert_eq!(english("Not now. Delete"), Some(ActionKind::Delete), "another sentence");
    assert_eq!(english("Delete not used"), Some(ActionKind::Delete));
}

#[test]
fn ends_are_ends() {
    assert_eq!(english("Order"), Some(ActionKind::Order));
    assert_eq!(english("Order history"), None);
    assert_eq!(english("Last order"), None);
    assert_eq!(english("Run tests now"), Some(ActionKind::Run));
    assert_eq!(english("Home run"), None);
}

#[test]
fn a_sentence_counts_where_an_action_begins_or_ends_it() {
    assert_eq!(english("Delete all of the files that you can see in here"), Some(ActionKind::Delete));
    assert_eq!(english("Yes, delete all of the files that you can see"), Some(ActionKind::Delete));
    assert_eq!(english("All of the files that you can see in here: delete"), Some(ActionKind::Delete));
    assert_eq!(english("Here you see what happens when you delete all of the files"), None);
    assert_eq!(english(&format!("{} delete", "word ".repeat(10_000))), Some(ActionKind::Delete));
    assert_eq!(english("What happens when you delete it?"), Some(ActionKind::Delete), "eight words are a label");
}

#[test]
fn an_action_that_is_only_mentioned_is_none() {
    for (name, locale, is_found) in [
        // A word of `before` or `behind` next to it.
        ("退款", "zh-Hans", true),
        ("退款方式", "zh-Hans", false),
        ("Ngày xác nhận", "vi", false),
        ("Xác nhận", "vi", true),
        // Behind the last verb, and before the first one.
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
    // Around a button that says nothing, a statement says what it does.
    let ok = Element { name: "OK", context: Some("The file will be deleted: delete it."), ..Element::default() };
    assert!(classify(&ok).is_some());
}

#[test]
fn what_weighs_most_is_told_where_there_are_several() {
    assert_eq!(english("Confirm and delete"), Some(ActionKind::Delete));
    assert_eq!(english("Accept and pay now"), Some(ActionKind::Pay));
    let found = classify(&Element { name: "Buy now", locale: Some("en-GB"), ..Element::default() }).unwrap();
    assert_eq!((found.severity, &*found.because), (Severity::Strong, "pay: \"buy\" (en)"));
    assert_eq!(ActionKind::Delete.severity(), Severity::Ordinary);
}

#[test]
fn english_is_heard_in_every_locale() {
    assert_eq!(kind("Delete", Some("ja")), Some(ActionKind::Delete));
    assert_eq!(kind("Datei Delete", Some("de-CH")), Some(ActionKind::Delete));
}

#[test]
fn a_name_that_says_nothing_is_what_its_dialog_asks() {
    let in_context = |name, context| {
        classify(&Element { name, context: Some(context), ..Element::default() }).map(|found| found.because)
    };
    let because = Some("delete: \"delete\" (en), in its context".to_owned());
    assert_eq!(in_context("OK", "This can't be undone. Do you want to delete report.pdf and the rest of it?"), because);
    assert_eq!(in_context("Yes, continue", "Delete?"), because);
    assert_eq!(in_context("\u{d7}", "Delete?"), because, "a sign");
    assert_eq!(in_context("OK", "Saved"), None);
    assert_eq!(in_context("Cancel", "Delete?"), None, "it says something of its own");
    assert_eq!(in_context("OK", &format!("{} delete", "x".repeat(NEAR))), None, "too far");
    let value = Element { value: Some("Delete"), ..Element::default() };
    assert_eq!(classify(&value).map(|found| found.kind), Some(ActionKind::Delete));
    assert_eq!(classify(&Element { name: "Edit", ..value }), None);
}

#[test]
fn a_role_that_can_t_be_activated_must_be_nothing_but_an_action() {
    let with_role = |role, name| classify(&Element { role: Some(role), name, ..Element::default() }).is_some();
    for role in ["button", "Link", "menuitem", "tab", "generic", "what-is-this"] {
        assert!(with_role(role, "Delete this page"), "{role}");
    }
    for role in ["heading", "text", "IMG", "paragraph"] {
        assert!(with_role(role, "Delete"), "{role}: what is clicked may be inside a button");
        assert!(!with_role(role, "Delete this page"), "{role}");
    }
    assert!(!with_role("textbox", "Delete"), "what is typed into");
}

/// The lists as they are written, by language.
fn files() -> BTreeMap<String, BTreeMap<String, Vec<String>>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/policy/words");
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

/// A name that has nothing but the words of a pattern.
fn name_of(pattern: &Pattern) -> String {
    let mut name = "7 ".repeat(usize::from(pattern.lead)) + &pattern.first.text;
    for step in &pattern.rest {
        if !pattern.unspaced {
            name.push(' ');
        }
        match step {
            Step::Word(Piece { text, .. }) => name += text,
            Step::One | Step::Few => name.push('7'),
        }
    }
    name
}

/// Every fault of the lists at once, for whoever corrects them.
#[test]
fn each_pattern_of_each_list_finds_what_it_says() {
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
            // An action may be denied as well as done by one word, never by the same list twice.
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
fn every_file_is_a_language_that_is_asked_by_its_name() {
    for language in files().keys() {
        let home = languages::of_locale(Some(language)).home;
        assert_eq!(home.count_ones(), 1, "{language}");
        assert_eq!(table::LANGUAGES[home.trailing_zeros() as usize], language);
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
    fn spelling_changes_nothing(label in prop::sample::select(labels())) {
        use unicode_normalization::UnicodeNormalization;
        let verdict = classify(&Element { name: &label, ..Element::default() });
        let spellings =
            [label.to_uppercase(), label.to_lowercase(), label.nfd().collect(), label.nfc().collect(), format!("  {label}\n")];
        for name in &spellings {
            prop_assert_eq!(&classify(&Element { name, ..Element::default() }), &verdict, "{}", name);
        }
    }
}
