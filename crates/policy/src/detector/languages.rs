//! The languages whose lists apply to a name.

use pipewright_words::LANGUAGES;

/// Sets of languages, as bits by their index in [`LANGUAGES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LanguageSet {
    /// All languages that apply.
    pub all: u128,
    /// The languages of the locale, which take precedence over English. Empty without a locale.
    pub home: u128,
}

impl LanguageSet {
    pub fn has(self, language: u8) -> bool {
        self.all >> language & 1 == 1
    }

    /// Whether a benign pattern of `one` may cancel an action of `other`.
    pub fn outranks(self, one: u8, other: u8) -> bool {
        let home = |language: u8| self.home >> language & 1 == 1;
        one == other || home(one) && !home(other)
    }
}

/// The languages of a locale, and English; without a locale, or if it has no list, all languages.
pub fn of_locale(locale: Option<&str>) -> LanguageSet {
    let home = locale.map_or(0, home);
    match home {
        0 => LanguageSet { all: u128::MAX, home },
        home => LanguageSet { all: home | set("en"), home },
    }
}

/// `pt-BR`, `zh_TW.UTF-8`, `zhTw`, `nb-NO`.
fn home(locale: &str) -> u128 {
    let first = locale.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    // In camel case, no punctuation separates the region.
    let end =
        if first.len() > 3 { first.find(|c: char| c.is_ascii_uppercase()).unwrap_or(first.len()) } else { first.len() };
    let (primary, rest) = locale.split_at(end);
    let rest = rest.to_ascii_lowercase();
    let has = |tags: &[&str]| tags.iter().any(|tag| rest.contains(tag));
    let primary = primary.to_ascii_lowercase();
    match &*primary {
        "zh" if has(&["hant", "tw", "hk", "mo"]) => set("zh-Hant"),
        "zh" if has(&["hans", "cn", "sg"]) => set("zh-Hans"),
        "zh" | "cmn" => set("zh-Hans") | set("zh-Hant"),
        "yue" => set("zh-Hant"),
        "no" => set("nb"),
        // Some catalogs write Serbian as rs; sh was the tag of Serbo-Croatian.
        "sh" | "rs" => set("sr"),
        "iw" => set("he"),
        "in" => set("id"),
        "tl" => set("fil"),
        primary => set(primary),
    }
}

/// The set of one language, or none.
fn set(language: &str) -> u128 {
    LANGUAGES.binary_search(&language).map_or(0, |at| 1 << at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home_of(locale: &str) -> Vec<&'static str> {
        let home = of_locale(Some(locale)).home;
        LANGUAGES.iter().enumerate().filter(|(at, _)| home >> at & 1 == 1).map(|(_, language)| *language).collect()
    }

    #[test]
    fn a_locales_language_applies_in_any_spelling() {
        for locale in ["de", "DE", "de-AT", "de_CH.UTF-8", "deAt", "de-Latn-DE"] {
            assert_eq!(home_of(locale), ["de"], "{locale}");
        }
    }

    #[test]
    fn regions_scripts_and_old_tags_lead_to_the_existing_file() {
        for (locale, file) in [
            ("pt-BR", "pt"),
            ("zh_TW", "zh-Hant"),
            ("zhTw", "zh-Hant"),
            ("zh-Hant-HK", "zh-Hant"),
            ("zh-CN", "zh-Hans"),
            ("nb-NO", "nb"),
            ("no", "nb"),
            ("rsLatin", "sr"),
            ("iw", "he"),
            ("in-ID", "id"),
            ("tl", "fil"),
        ] {
            assert_eq!(home_of(locale), if LANGUAGES.contains(&file) { vec![file] } else { vec![] }, "{locale}");
        }
    }

    #[test]
    fn every_language_fits_and_all_apply_to_an_unknown_locale() {
        assert!(LANGUAGES.len() <= 128);
        for locale in [None, Some(""), Some("tlh"), Some("-"), Some("日本")] {
            assert_eq!(of_locale(locale), LanguageSet { all: u128::MAX, home: 0 });
        }
    }
}
