//! Which languages' lists are asked about a name.

use super::table::LANGUAGES;

/// Sets of languages, by their place in [`LANGUAGES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LanguageSet {
    /// All that are asked.
    pub all: u128,
    /// Those of the locale; what they say comes before what English says. None without a locale.
    pub home: u128,
}

impl LanguageSet {
    pub fn has(self, language: u8) -> bool {
        self.all >> language & 1 == 1
    }

    /// Whether `one` may say that what `other` takes for an action is none.
    pub fn outranks(self, one: u8, other: u8) -> bool {
        let home = |language: u8| self.home >> language & 1 == 1;
        one == other || home(one) && !home(other)
    }
}

/// Those of a locale and English; without a locale, or with one that has no list, all.
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
    // In camel case the region comes without a sign.
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
        // Serbian is written rs by some catalogs; Serbo-Croatian is what it was called.
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
    fn a_locale_s_language_is_asked_whatever_its_spelling() {
        for locale in ["de", "DE", "de-AT", "de_CH.UTF-8", "deAt", "de-Latn-DE"] {
            assert_eq!(home_of(locale), ["de"], "{locale}");
        }
    }

    #[test]
    fn regions_scripts_and_old_tags_lead_to_the_file_that_there_is() {
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
    fn every_language_fits_and_the_unknown_asks_all() {
        assert!(LANGUAGES.len() <= 128);
        for locale in [None, Some(""), Some("tlh"), Some("-"), Some("日本")] {
            assert_eq!(of_locale(locale), LanguageSet { all: u128::MAX, home: 0 });
        }
    }
}
