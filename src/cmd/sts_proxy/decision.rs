//! A decision point: a state in which the game waits and at least one action is legal, or only a command helps.

use super::decision_state::DecisionState;
use super::player::PlayerReply;
use memchr::memmem;
use pipewright_games::spire::action::{Action, is_command};
use pipewright_games::spire::command::{self, CommandEffect};
use pipewright_games::spire::legal_actions::needs_a_command;
use pipewright_games::spire::message::Message;
use pipewright_games::spire::offer;
use pipewright_games::spire::targets::Targets;
use pipewright_lines::{self as lines, FieldPosition, Line};
use pipewright_record::{Fields, Unreadable, flag, unreadable};
use std::ops::Deref;

/// What a player is asked, kept until the decision is recorded.
#[derive(Debug)]
pub(super) struct Decision {
    /// Counts the decisions of this process, from 1.
    pub(super) number: u64,
    situation: DecisionState,
    /// The line that asks an agent.
    pub(super) offered: Vec<u8>,
    /// No action leaves the screen: the player has to find a command.
    pub(super) needs_a_command: bool,
    /// In the Match and Keep event the game hangs when choices come too fast.
    pub(super) needs_pace: bool,
}

impl Deref for Decision {
    type Target = DecisionState;
    fn deref(&self) -> &DecisionState {
        &self.situation
    }
}

impl Decision {
    /// `None` in menus.
    pub(super) fn new(
        number: u64,
        line: &Line<'_>,
        text: &str,
        message: &Message<'_>,
        actions: Vec<Action>,
    ) -> Option<Decision> {
        let state = message.game_state.as_ref()?;
        let needs_a_command = needs_a_command(message, &actions);
        let mut actions_json = Vec::new();
        offer::write_actions(message, &actions, &mut actions_json);
        let mut offered = Vec::with_capacity(line.raw().len() + actions_json.len() + 32);
        offer::set(line, text, message, &actions_json, &mut offered);
        if !offered.ends_with(b"\n") {
            offered.push(b'\n');
        }
        let offered = with_field(offered, "decision", &number.to_string());
        Some(Decision {
            number,
            situation: DecisionState { labelled: actions_json, ..DecisionState::new(line, message, actions)? },
            offered,
            needs_a_command,
            needs_pace: &*state.screen_state.event_id == "Match and Keep!",
        })
    }

    /// The line that asks the agent again; `refused` is a JSON object that says why.
    pub(super) fn repeated_offer(&self, refused: &str) -> Vec<u8> {
        with_field(self.offered.clone(), "refused", refused)
    }

    /// Reads an answer: an id, `{"action_id":N}`, or a mod command. Does not check which decision it is for.
    ///
    /// # Errors
    /// Why it is none of these, or not legal here, in words that follow "the answer".
    pub(super) fn read(&self, answer: &str) -> Result<PlayerReply, String> {
        read_answer(answer, &self.actions, &self.targets)
            .map(PlayerReply::Act)
            .or_else(|why| self.read_command(answer).unwrap_or(Err(why)))
    }

    /// A command in a form that is not in the action table; `None` if it is no command that is known here.
    fn read_command(&self, answer: &str) -> Option<Result<PlayerReply, String>> {
        let answer = answer.trim();
        if !is_answer(answer, Some(self)) {
            return None;
        }
        match command::read(answer, &Message::read(&self.text()).ok()??) {
            Ok(CommandEffect::Action(action)) if self.actions.contains(&action) => Some(Ok(PlayerReply::Act(action))),
            Ok(CommandEffect::Other) => Some(Ok(PlayerReply::Other(answer.to_owned()))),
            Ok(CommandEffect::Ask) => Some(Ok(PlayerReply::Ask(answer.to_owned()))),
            // (That another action is not legal here says more.)
            Err(refusal) if is_command(answer) && Action::from_command(answer, &self.targets).is_none() => {
                Some(Err(format!("would be refused by the mod: {}", refusal.error)))
            }
            _ => None,
        }
    }

    /// Whether the game lists this command on a screen that no action leaves.
    fn is_listed(&self, line: &str) -> bool {
        let text = self.text();
        let word = line.split_whitespace().next().unwrap_or_default().to_lowercase();
        // A sentence may begin with the name of a command.
        let is_sentence = match &*word {
            "key" | "click" | "wait" => !is_command(line),
            _ => line.split_whitespace().count() > 3,
        };
        !is_sentence
            && self.needs_a_command
            && Message::read(&text).ok().flatten().is_some_and(|message| message.offers(&word))
    }

    /// Whether a choice has this name. The mod ignores case.
    fn has_choice(&self, name: &str) -> bool {
        let text = self.text();
        let state = Message::read(&text).ok().flatten().and_then(|message| message.game_state);
        state.is_some_and(|state| state.choice_list.iter().any(|choice| choice.eq_ignore_ascii_case(name)))
    }
}

/// The line, which is an object, with a field set to this JSON text. A line that has the field twice is returned
/// unchanged.
fn with_field(line: Vec<u8>, field: &str, json: &str) -> Vec<u8> {
    // Most states are long and do not have the field, which is seen without parsing them once more.
    let has = |text: &str| memmem::find(&line, text.as_bytes()).is_some();
    let place = match has(&format!("\"{field}\"")) || has("\\u") {
        true => lines::find(Line::new(&line, 1).body(), field),
        false => Ok(FieldPosition::Absent),
    };
    let Ok(place) = place else { return line };
    let mut changed = Vec::with_capacity(line.len() + json.len() + 16);
    lines::set_at(&Line::new(&line, 1), &place, field, json.as_bytes(), &mut changed);
    changed
}

/// The id in `{"action_id":N}`.
fn id_of_object(answer: &str) -> Result<i64, Unreadable> {
    let fields = Fields::read(answer)?;
    fields.spelled_as(&["action_id", "decision", "requires_approval"])?;
    if flag("requires_approval", fields.get("requires_approval"))? {
        return unreadable("it still requires approval");
    }
    if fields.get("decision").is_some() && named_decision(answer).is_none() {
        return unreadable("its decision is not a whole number");
    }
    let id = fields.get("action_id").and_then(|id| id.get().parse().ok());
    id.map_or_else(|| unreadable("its action_id is missing or not a whole number"), Ok)
}

/// The number in `{"decision":N}`: the decision that the answer names. `None` if it names none that can be read.
pub(super) fn named_decision(answer: &str) -> Option<u64> {
    Fields::read(answer).ok()?.get("decision")?.get().parse().ok()
}

/// Whether a line is meant as an answer, valid or not: a whole number, an object, a mod command, or a choice of the
/// `open` decision by name, or a command that only its screen has. Any other output of a program is ignored.
pub(super) fn is_answer(line: &str, open: Option<&Decision>) -> bool {
    let line = line.trim();
    let is_choice = || {
        let name = line.get(..7).filter(|word| word.eq_ignore_ascii_case("choose ")).and_then(|_| line.get(7..));
        name.zip(open).is_some_and(|(name, open)| open.has_choice(name.trim()))
    };
    let is_listed = || open.is_some_and(|open| open.is_listed(line));
    line.parse::<i64>().is_ok() || line.starts_with('{') || is_command(line) || is_choice() || is_listed()
}

/// Reads an answer that is an id, `{"action_id":N}`, or a command as it stands in the action table.
fn read_answer(answer: &str, legal: &[Action], targets: &Targets) -> Result<Action, String> {
    let answer = answer.trim();
    if answer.is_empty() {
        return Err("was empty".to_owned());
    }
    let action = if let Ok(id) = answer.parse::<i64>() {
        from_id(id)?
    } else if answer.starts_with('{') {
        from_id(id_of_object(answer).map_err(|why| format!("cannot be read: {why}"))?)?
    } else {
        Action::from_command(answer, targets).ok_or_else(|| {
            let answer = shortened(answer);
            format!("is not understood: {answer}; it is an id, {{\"action_id\":N}}, or a mod command that has an id")
        })?
    };
    if legal.contains(&action) {
        return Ok(action);
    }
    let ids: Vec<String> = legal.iter().map(|action| action.id().to_string()).collect();
    let legal = if ids.is_empty() { "only commands without an id".to_owned() } else { ids.join(" ") };
    Err(format!("is not legal here: {} ({}); legal are {legal}", action.id(), action.command(targets)))
}

fn from_id(id: i64) -> Result<Action, String> {
    u8::try_from(id).ok().and_then(Action::from_id).ok_or_else(|| format!("is not an id: {id}; ids are 0 to 172"))
}

/// Foreign text, cut to a length that fits into a message.
pub(super) fn shortened(text: &str) -> String {
    const MAX_LISTED: usize = 80;
    pipewright_io::report::shortened(text, MAX_LISTED)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_ids_objects_or_commands() {
        let legal = [Action::Choose { index: 0 }, Action::Proceed];
        let id = |answer: &str| read_answer(answer, &legal, &Targets::default()).map(Action::id);
        let held_no_more = r#"{"action_id":110,"requires_approval":false}"#;
        for answer in ["110", " 110\r", r#"{"action_id":110,"why":"x"}"#, held_no_more, "CHOOSE 0"] {
            assert_eq!(id(answer), Ok(110), "{answer}");
        }
        assert_eq!(id("confirm"), Ok(171));
        for (answer, why) in [
            ("", "empty"),
            ("0", "not legal here: 0 (play 1); legal are 110 171"),
            ("173", "0 to 172"),
            ("-1", "0 to 172"),
            ("1.0", "not understood"),
            ("state", "not understood"),
            ("choose strike", "not understood"),
            ("110 171", "not understood"),
            (r#"{"action_id":"110"}"#, "action_id is missing"),
            (r#"{"action_id":110,"action_id":171}"#, "twice"),
            (r#"{"id":110}"#, "action_id is missing"),
            (r#"{"action_id":110,"requires_approval":true}"#, "requires approval"),
            (r#"{"action_id":110,"Requires_Approval":true}"#, "ignore case"),
            (r#"{"action_id":110,"decision":"1"}"#, "decision is not a whole number"),
            (r#"{"action_id":110,"decision":-1}"#, "decision is not a whole number"),
            (r#"{"action_id":110,"Decision":1}"#, "ignore case"),
        ] {
            let error = id(answer).unwrap_err();
            assert!(error.contains(why), "{answer}: {error}");
        }
    }

    #[test]
    fn an_answer_may_name_its_decision() {
        assert_eq!(named_decision(r#"{"action_id":7,"decision":12}"#), Some(12));
        for none in ["7", "end", r#"{"action_id":7}"#, r#"{"decision":1.5}"#, r#"{"decision":1,"decision":2}"#] {
            assert_eq!(named_decision(none), None, "{none}");
        }
    }

    #[test]
    fn other_lines_are_not_answers() {
        for answer in ["0", " -1\r", "999", "{}", "{torn", "end", "STATE", "choose 99", "play 99", "wait 30"] {
            assert!(is_answer(answer, None), "{answer}");
        }
        for noise in [
            "",
            " ",
            "hello",
            "1.0",
            "110 171",
            "[110]",
            "\"end\"",
            "end of turn",
            "I play 3",
            "Choose the best option now",
            "Traceback:",
        ] {
            assert!(!is_answer(noise, None), "{noise}");
        }
    }
}
