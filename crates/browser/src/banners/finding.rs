//! Finds consent dialogs in all frames of a page.

use super::choice::Banner;
use crate::worlds::{Frame, IsolatedWorld};
use crate::{ActionError, Browser};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Instant;

const SCRIPT: &str = concat!(
    "(...given) => {",
    include_str!("../scripts/members.js"),
    "return (",
    include_str!("../scripts/banners.js"),
    ")(...given) }"
);

/// Phrases by language and category. The phrases of a category are separated by `|`.
const WORDS: &str = include_str!("../data/consent.json");

#[derive(Deserialize)]
struct ScanResult {
    banners: Vec<Banner>,
    frames: u32,
    opaque: usize,
}

/// A dialog in its frame.
#[derive(Debug)]
pub(super) struct FoundBanner {
    pub(super) banner: Banner,
    pub(super) world: IsolatedWorld,
    /// The frames around it, from the outermost: each one's world, and its number there.
    pub(super) around: Vec<(IsolatedWorld, u32)>,
    pub(super) url: String,
}

/// Dialogs are not searched for in more deeply nested frames.
const DEPTH: usize = 3;

/// The phrases of these languages, or of all languages, by category.
pub(super) fn words(languages: &[String]) -> Result<Vec<(String, String)>, ActionError> {
    let all: BTreeMap<String, BTreeMap<String, String>> = serde_json::from_str(WORDS)
        .map_err(|error| ActionError::Unreadable(format!("the list of consent phrases: {error}")))?;
    // "de-AT" is German.
    let is_wanted = |language: &str| {
        let of = |wanted: &String| wanted.split(['-', '_']).next().unwrap_or_default().to_lowercase() == language;
        language.is_empty() || languages.is_empty() || languages.iter().any(of)
    };
    Ok(all.into_iter().filter(|(language, _)| is_wanted(language)).flat_map(|(_, categories)| categories).collect())
}

impl Browser {
    /// The consent dialogs of the active page.
    pub(super) fn find_banners(&mut self, words: &Value, until: Instant) -> Result<Vec<FoundBanner>, ActionError> {
        let frames = self.frames(until)?;
        let mut next = vec![(self.main_frame()?, Vec::new())];
        let mut found = Vec::new();
        while let Some((frame, around)) = next.pop() {
            let (world, looked) = match self.banners_of_frame(&frame, !around.is_empty(), words, until) {
                Ok(looked) => looked,
                // A frame may disappear while the others are searched.
                Err(ActionError::Refused(_) | ActionError::NoPage | ActionError::SilentFrame) => continue,
                Err(fault) => return Err(fault),
            };
            if !looked.banners.is_empty() {
                let url = self.run(&world, "() => location.href", &json!([]), true, until)?;
                let url = url.value.and_then(|url| url.as_str().map(str::to_owned)).unwrap_or_default();
                let found_here =
                    |banner| FoundBanner { banner, world: world.clone(), around: around.clone(), url: url.clone() };
                found.extend(looked.banners.into_iter().map(found_here));
            }
            for number in 0..looked.frames {
                let Some(id) = self.frame_of(&world, number, until)? else { continue };
                let inner = frames.iter().find(|frame| frame.id == id).cloned();
                if let Some(inner) = inner.filter(|_| around.len() < DEPTH) {
                    let mut around = around.clone();
                    around.push((world.clone(), number));
                    next.push((inner, around));
                }
            }
        }
        Ok(found)
    }

    fn banners_of_frame(
        &mut self,
        frame: &Frame,
        is_inside: bool,
        words: &Value,
        until: Instant,
    ) -> Result<(IsolatedWorld, ScanResult), ActionError> {
        let world = self.world(frame, until)?;
        let mut looked = self.banners_of_world(&world, is_inside, words, &[], until)?;
        if looked.banners.is_empty() && looked.opaque > 0 {
            let roots = self.closed_roots(&world, looked.opaque, until)?;
            if !roots.is_empty() {
                looked = self.banners_of_world(&world, is_inside, words, &roots, until)?;
            }
        }
        Ok((world, looked))
    }

    fn banners_of_world(
        &mut self,
        world: &IsolatedWorld,
        is_inside: bool,
        words: &Value,
        roots: &[String],
        until: Instant,
    ) -> Result<ScanResult, ActionError> {
        let script = format!("(words, isInside, ...known) => ({SCRIPT})(words, isInside, known)");
        let known = roots.iter().map(|id| json!({"objectId": id}));
        let arguments = [json!({"value": words}), json!({"value": is_inside})].into_iter().chain(known).collect();
        let remote = self.run(world, &script, &arguments, true, until)?;
        remote.read()
    }

    /// The id of a frame found in a world.
    fn frame_of(&mut self, world: &IsolatedWorld, number: u32, until: Instant) -> Result<Option<String>, ActionError> {
        let owner = "(number) => globalThis[Symbol.for(\"pipewright\")].frames_of[number]";
        let owner = self.run(world, owner, &json!([{"value": number}]), false, until)?;
        let Some(owner) = owner.object_id else { return Ok(None) };
        self.frame_id(world, &owner, until)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_language_include_those_of_all_languages() {
        let all = words(&[]).unwrap();
        let german = words(&["de-AT".to_owned()]).unwrap();
        let has = |words: &[(String, String)], word: &str| {
            words.iter().any(|(_, phrases)| phrases.split('|').any(|one| one == word))
        };
        assert!(has(&all, "ablehnen") && has(&all, "reject") && has(&all, "cookies"));
        assert!(has(&german, "ablehnen") && !has(&german, "reject") && has(&german, "cookies"));
    }
}
