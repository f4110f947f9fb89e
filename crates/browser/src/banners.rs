//! Closing the dialogs that ask for consent: recognised by what they say, what can be pressed in them and where they are.

use crate::input::Refusal;
use crate::pointer::Aim;
use crate::worlds::{Frame, World};
use crate::{Browser, Fault};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime};

const SCRIPT: &str = include_str!("scripts/banners.js");

/// Phrases by language and category; a category has the phrases of one thing, with `|` between them.
const WORDS: &str = include_str!("data/consent.json");

/// How the dialogs are closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// So long, dialogs are looked for and closed; a press that has begun is ended.
    pub time_budget: Duration,
    /// So often, something is pressed.
    pub max_passes: u32,
    /// What is pressed.
    pub strategy: Strategy,
    /// The languages of the dialogs, as in `en`; all that are known where there are none.
    pub languages: Vec<String>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            time_budget: Duration::from_millis(1200),
            max_passes: 3,
            strategy: Strategy::Safe,
            languages: Vec::new(),
        }
    }
}

/// What is pressed in a dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// What declines, or keeps to what is necessary, also in the settings of the dialog; else what closes it without an answer, an `OK`, or
    /// the one button that there is. Never what accepts where something else is offered.
    Safe,
    /// What accepts.
    Accept,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Closed {
    /// So many dialogs are gone.
    pub closed: u32,
    /// So often, something was pressed.
    pub passes: u32,
    /// How long it took.
    pub elapsed: Duration,
    /// What was pressed, in this order.
    pub clicks: Vec<Click>,
}

/// What was pressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Click {
    /// A path of CSS that leads to it in its document or shadow root.
    pub selector: String,
    /// The address of its frame.
    pub frame_url: String,
    /// When.
    pub time: SystemTime,
}

/// What a press does to a dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    /// It declines, or keeps to what is necessary.
    Decline,
    /// It keeps what is ticked.
    Save,
    /// It shows what can be chosen.
    Settings,
    /// It closes the dialog without an answer.
    Close,
    /// `OK`.
    Acknowledge,
    Accept,
    AcceptAll,
    /// It ticks or unticks a purpose.
    Toggle,
}

#[derive(Debug, Clone, Deserialize)]
struct Action {
    kind: Kind,
    selector: String,
    /// In its world, until that is looked at again.
    number: u32,
}

/// A dialog that asks for consent.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Banner {
    actions: Vec<Action>,
    /// What is ticked and can be unticked.
    on: Vec<Action>,
    has_toggles: bool,
    /// There is one thing to press, and links perhaps.
    is_alone: bool,
}

#[derive(Deserialize)]
struct Looked {
    banners: Vec<Banner>,
    frames: u32,
    opaque: usize,
}

/// A dialog in its frame.
#[derive(Debug)]
struct Found {
    banner: Banner,
    world: World,
    /// The frames around it, from the outermost: the world that each stands in, and its number there.
    around: Vec<(World, u32)>,
    url: String,
}

#[derive(Deserialize)]
struct Described {
    node: Node,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    frame_id: Option<String>,
}

/// A dialog may come a moment after its page.
const PAUSE: Duration = Duration::from_millis(100);

/// A dialog goes with a movement, which takes so long at most.
const GOING: Duration = Duration::from_millis(450);

/// A dialog in a frame of a frame of a frame is looked for no further.
const DEPTH: usize = 3;

impl Banner {
    /// What is pressed next: toggles first, then the last one. None where nothing is to be pressed.
    fn choose(&self, strategy: Strategy, is_within_settings: bool, is_last: bool) -> Option<Vec<&Action>> {
        let first = |kind: Kind| self.actions.iter().find(|action| action.kind == kind);
        let only = |kind: Kind| first(kind).map(|action| vec![action]);
        if strategy == Strategy::Accept {
            let order = [Kind::AcceptAll, Kind::Accept, Kind::Acknowledge, Kind::Save, Kind::Decline, Kind::Close];
            return order.into_iter().find_map(only);
        }
        if let Some(decline) = only(Kind::Decline) {
            return Some(decline);
        }
        // What is ticked is what a save would accept.
        if let Some(save) = first(Kind::Save).filter(|_| self.has_toggles || is_within_settings) {
            return Some(self.on.iter().chain([save]).collect());
        }
        if is_within_settings {
            return None;
        }
        let is_question =
            [Kind::Accept, Kind::AcceptAll, Kind::Acknowledge].into_iter().any(|kind| first(kind).is_some());
        if let Some(settings) = only(Kind::Settings).filter(|_| is_question && !is_last) {
            return Some(settings);
        }
        // Where nothing else is offered, nothing less can be accepted.
        let alone = || [Kind::Accept, Kind::AcceptAll].into_iter().filter(|_| self.is_alone).find_map(only);
        let acknowledge = || only(Kind::Acknowledge).filter(|_| first(Kind::AcceptAll).is_none());
        only(Kind::Close).filter(|_| is_question || self.is_alone).or_else(acknowledge).or_else(alone)
    }
}

/// The phrases of these languages, or of all, by category.
fn words(languages: &[String]) -> Result<Vec<(String, String)>, Fault> {
    let all: BTreeMap<String, BTreeMap<String, String>> =
        serde_json::from_str(WORDS).map_err(|error| Fault::Unreadable(format!("the words of consent: {error}")))?;
    // "de-AT" is German.
    let is_wanted = |language: &str| {
        let of = |wanted: &String| wanted.split(['-', '_']).next().unwrap_or_default().to_lowercase() == language;
        language.is_empty() || languages.is_empty() || languages.iter().any(of)
    };
    Ok(all.into_iter().filter(|(language, _)| is_wanted(language)).flat_map(|(_, categories)| categories).collect())
}

impl Browser {
    /// Closes the dialogs of the active page that ask for consent to cookies and the like, with real clicks, also in frames of other sites.
    /// Where there is none, or none comes in half of its time, nothing is pressed.
    ///
    /// # Errors
    /// The page answers not in time, or not at all.
    pub fn close_banners(&mut self, settings: &Settings, until: Instant) -> Result<Closed, Fault> {
        let (begun, words) = (Instant::now(), json!(words(&settings.languages)?));
        let end = until.min(begun + settings.time_budget);
        let mut closed = Closed { closed: 0, passes: 0, elapsed: Duration::ZERO, clicks: Vec::new() };
        let mut is_within_settings = false;
        while closed.passes < settings.max_passes {
            let is_last = closed.passes + 1 == settings.max_passes;
            let found = match self.find_banners(&words, until) {
                Err(Fault::Refused(_)) => Vec::new(),
                found => found?,
            };
            let next = found
                .iter()
                .find_map(|found| Some((found, found.banner.choose(settings.strategy, is_within_settings, is_last)?)));
            let half = begun + (end.saturating_duration_since(begun)) / 2;
            let Some((found, actions)) = next else {
                // The settings of a dialog may take a moment to be shown.
                let enough = if closed.passes > 0 && !is_within_settings {
                    begun
                } else if is_within_settings {
                    end
                } else {
                    half
                };
                if Instant::now() >= enough {
                    break;
                }
                self.pause(PAUSE)?;
                continue;
            };
            let is_settings = actions.iter().any(|action| action.kind == Kind::Settings);
            let is_pressed = self.press_all(found, &actions, &mut closed.clicks, until)?;
            if is_pressed {
                closed.passes += 1;
                is_within_settings = is_settings;
                let going = Instant::now() + GOING;
                if is_settings {
                    self.pause(PAUSE)?;
                } else if self.goes(found, &words, going, until)? {
                    closed.closed += 1;
                }
            } else {
                // Something is before it, perhaps only for as long as it moves.
                self.pause(PAUSE)?;
            }
            if Instant::now() >= end {
                break;
            }
        }
        self.release(until)?;
        closed.elapsed = begun.elapsed();
        Ok(closed)
    }

    fn pause(&mut self, pause: Duration) -> Result<(), Fault> {
        self.wait(Instant::now() + pause, |_| false).map(drop)
    }

    /// Presses one after the other; false where one could not be pressed.
    fn press_all(
        &mut self,
        found: &Found,
        actions: &[&Action],
        clicks: &mut Vec<Click>,
        until: Instant,
    ) -> Result<bool, Fault> {
        for action in actions {
            let element = "(number) => globalThis[Symbol.for(\"pipewright\")].actions?.[number]?.element";
            let object = match self.run(&found.world, element, &json!([{"value": action.number}]), false, until) {
                Ok(remote) => remote.object_id,
                Err(Fault::Refused(_) | Fault::NoPage) => None,
                Err(fault) => return Err(fault),
            };
            let Some(object) = object else { return Ok(false) };
            let at = match self.reach_object(&found.world, &object, Aim::Press, until) {
                Ok(at) => at,
                Err(Refusal::Fault(Fault::Refused(_) | Fault::NoPage)) => return Ok(false),
                Err(Refusal::Fault(fault)) => return Err(fault),
                Err(_) => return Ok(false),
            };
            let press = "(number) => { globalThis[Symbol.for(\"pipewright\")].pressed.add(globalThis[Symbol.for(\"pipewright\")].actions[number].element); }";
            self.run(&found.world, press, &json!([{"value": action.number}]), true, until)?;
            let (selector, frame_url) = (action.selector.clone(), found.url.clone());
            clicks.push(Click { selector, frame_url, time: SystemTime::now() });
            for (kind, buttons) in [("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 0)] {
                self.mouse(kind, at, buttons, until)?;
            }
            if action.kind == Kind::Toggle && self.is_on(found, action, until)? {
                // A save would accept it.
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_on(&mut self, found: &Found, toggle: &Action, until: Instant) -> Result<bool, Fault> {
        let script = "(number) => { const { element } = globalThis[Symbol.for(\"pipewright\")].actions[number]; return element.checked || element.ariaChecked === \"true\"; }";
        let on = self.run(&found.world, script, &json!([{"value": toggle.number}]), true, until)?;
        Ok(on.value == Some(Value::Bool(true)))
    }

    /// Waits until a dialog has gone, or nothing of it can be pressed any more.
    fn goes(&mut self, found: &Found, words: &Value, going: Instant, until: Instant) -> Result<bool, Fault> {
        let number = found.banner.actions.first().map_or(0, |action| action.number);
        let is_there = "(number) => { const { container } = globalThis[Symbol.for(\"pipewright\")].actions[number];
            if (!container.isConnected || !container.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false;
            const box = container.getBoundingClientRect();
            return box.width > 0 && box.height > 0 && box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth; }";
        let is_frame_there = "(number) => { const frame = globalThis[Symbol.for(\"pipewright\")].frames_of[number], box = frame.getBoundingClientRect();
            return frame.isConnected && frame.checkVisibility({ opacityProperty: true, visibilityProperty: true })
                && box.width > 1 && box.height > 1 && box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth; }";
        let mut places: Vec<(&World, u32, &str)> = Vec::new();
        places.extend(found.around.iter().map(|(world, number)| (world, *number, is_frame_there)));
        places.push((&found.world, number, is_there));
        loop {
            for (world, number, script) in &places {
                match self.run(world, script, &json!([{"value": number}]), true, until) {
                    Ok(remote) if remote.value == Some(Value::Bool(true)) => {}
                    // Its document is no more.
                    Ok(_) | Err(Fault::Refused(_) | Fault::NoPage | Fault::Unreadable(_)) => return Ok(true),
                    Err(fault) => return Err(fault),
                }
            }
            if Instant::now() >= going {
                // What held it may stay, empty or for something else.
                return Ok(self.find_banners(words, until).is_ok_and(|found| found.is_empty()));
            }
            self.pause(Duration::from_millis(30))?;
        }
    }

    /// The consent dialogs of the active page.
    fn find_banners(&mut self, words: &Value, until: Instant) -> Result<Vec<Found>, Fault> {
        let frames = self.frames(until)?;
        let mut next = vec![(self.main_frame()?, Vec::new())];
        let mut found = Vec::new();
        while let Some((frame, around)) = next.pop() {
            let (world, looked) = match self.banners_of_frame(&frame, !around.is_empty(), words, until) {
                Ok(looked) => looked,
                // A frame may go while the others are looked at.
                Err(Fault::Refused(_) | Fault::NoPage) => continue,
                Err(fault) => return Err(fault),
            };
            if !looked.banners.is_empty() {
                let url = self.run(&world, "() => location.href", &json!([]), true, until)?;
                let url = url.value.and_then(|url| url.as_str().map(str::to_owned)).unwrap_or_default();
                let found_here =
                    |banner| Found { banner, world: world.clone(), around: around.clone(), url: url.clone() };
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
    ) -> Result<(World, Looked), Fault> {
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
        world: &World,
        is_inside: bool,
        words: &Value,
        roots: &[String],
        until: Instant,
    ) -> Result<Looked, Fault> {
        let script = format!("(words, isInside, ...known) => ({SCRIPT})(words, isInside, known)");
        let known = roots.iter().map(|id| json!({"objectId": id}));
        let arguments = [json!({"value": words}), json!({"value": is_inside})].into_iter().chain(known).collect();
        let remote = self.run(world, &script, &arguments, true, until)?;
        serde_json::from_value(remote.value.unwrap_or_default()).map_err(|error| Fault::Unreadable(error.to_string()))
    }

    /// The id of a frame that was found in a world.
    fn frame_of(&mut self, world: &World, number: u32, until: Instant) -> Result<Option<String>, Fault> {
        let owner = "(number) => globalThis[Symbol.for(\"pipewright\")].frames_of[number]";
        let owner = self.run(world, owner, &json!([{"value": number}]), false, until)?;
        let Some(owner) = owner.object_id else { return Ok(None) };
        let described: Result<Described, Fault> =
            self.call(Some(&world.session), "DOM.describeNode", &json!({"objectId": owner}), until);
        match described {
            Ok(Described { node }) => Ok(node.frame_id),
            Err(Fault::Refused(_) | Fault::NoPage) => Ok(None),
            Err(fault) => Err(fault),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn banner(kinds: &[Kind], on: usize, has_toggles: bool) -> Banner {
        let action = |kind: &Kind| Action { kind: *kind, selector: String::new(), number: 0 };
        let on = vec![action(&Kind::Toggle); on];
        Banner { actions: kinds.iter().map(action).collect(), on, has_toggles, is_alone: kinds.len() == 1 }
    }

    fn chosen(banner: &Banner, is_within_settings: bool, is_last: bool) -> Option<Vec<Kind>> {
        let actions = banner.choose(Strategy::Safe, is_within_settings, is_last)?;
        Some(actions.iter().map(|action| action.kind).collect())
    }

    #[test]
    fn safe_accepts_only_where_nothing_else_is_offered() {
        use Kind::{Accept, AcceptAll, Acknowledge, Close, Decline, Save, Settings, Toggle};
        for (kinds, expected) in [
            (&[AcceptAll, Settings, Decline][..], Some(Decline)),
            (&[AcceptAll, Settings, Close], Some(Settings)),
            (&[AcceptAll, Close], Some(Close)),
            (&[AcceptAll, Save], None),
            (&[AcceptAll, Acknowledge], None),
            (&[Accept, AcceptAll], None),
            (&[AcceptAll], Some(AcceptAll)),
            (&[Accept], Some(Accept)),
            (&[Acknowledge], Some(Acknowledge)),
            (&[Settings], None),
            (&[], None),
        ] {
            assert_eq!(chosen(&banner(kinds, 0, false), false, false), expected.map(|kind| vec![kind]), "{kinds:?}");
        }
        let ticked = banner(&[AcceptAll, Save], 2, true);
        assert_eq!(chosen(&ticked, false, false), Some(vec![Toggle, Toggle, Save]));
        let settings = banner(&[AcceptAll, Settings], 0, false);
        assert_eq!(chosen(&settings, false, true), None, "there is no pass left for what they show");
        assert_eq!(chosen(&banner(&[AcceptAll], 0, false), true, false), None, "the settings are still to come");
        assert_eq!(chosen(&banner(&[AcceptAll, Save], 0, false), true, false), Some(vec![Save]));
    }

    #[test]
    fn the_words_of_a_language_are_its_own_and_those_of_all() {
        let all = words(&[]).unwrap();
        let german = words(&["de-AT".to_owned()]).unwrap();
        let has = |words: &[(String, String)], word: &str| {
            words.iter().any(|(_, phrases)| phrases.split('|').any(|one| one == word))
        };
        assert!(has(&all, "ablehnen") && has(&all, "reject") && has(&all, "cookies"));
        assert!(has(&german, "ablehnen") && !has(&german, "reject") && has(&german, "cookies"));
    }
}
