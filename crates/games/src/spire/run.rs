//! Detects where one run ends and the next begins: the mod does not report it, and an abandoned run never reaches its
//! GAME_OVER screen.

use super::message::Message;

/// The identity of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The seed, exactly.
    pub seed: Option<i64>,
    /// As the mod writes it: `THE_SILENT`.
    pub class: String,
    /// 0 to 20.
    pub ascension: i64,
}

impl Run {
    /// The run of a message; `None` in menus.
    pub fn of(message: &Message<'_>) -> Option<Run> {
        let state = message.game_state.as_ref().filter(|_| message.in_game)?;
        Some(Run { seed: state.seed, class: state.class.to_string(), ascension: state.ascension_level })
    }

    /// The class as players write it: `Silent`, `Ironclad`. Only letters and digits, since it names files.
    pub fn class_name(&self) -> String {
        let name = self.class.strip_prefix("THE_").unwrap_or(&self.class);
        let mut letters = name.chars().filter(char::is_ascii_alphanumeric);
        let first = letters.next().unwrap_or('X');
        std::iter::once(first.to_ascii_uppercase()).chain(letters.map(|letter| letter.to_ascii_lowercase())).collect()
    }
}

/// What a message means for the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunTransition {
    /// The run continues.
    Same,
    /// A run from its beginning: nothing of it can have been recorded yet.
    New,
    /// The first message seen of a run that had already begun: part of it may have been recorded.
    Joined,
    /// A run was over, and the menu is back.
    BackInMenu,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOver {
    /// The run.
    pub run: Run,
    /// The last floor seen.
    pub floor: i64,
    /// The contents of the GAME_OVER screen; `None` if the run was abandoned without one.
    pub end: Option<GameOver>,
}

/// The contents of a GAME_OVER screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GameOver {
    /// Whether the run was won.
    pub victory: bool,
    /// The score.
    pub score: Option<i64>,
}

/// Follows messages from run to run.
#[derive(Debug, Default)]
pub struct Runs {
    current: Option<Run>,
    floor: i64,
    over: bool,
    menu: bool,
    /// The current run's GAME_OVER screen, until it is in `run_over`.
    end: Option<GameOver>,
    run_over: Option<RunOver>,
}

impl Runs {
    /// Takes the next message. A run is new at Neow (unless it was there before), after a GAME_OVER, and when seed,
    /// class or ascension change.
    pub fn follow(&mut self, message: &Message<'_>) -> RunTransition {
        if message.error.is_some() {
            return RunTransition::Same;
        }
        let (Some(run), Some(state)) = (Run::of(message), message.game_state.as_ref()) else {
            let back = self.over && !self.menu;
            self.menu = true;
            self.end();
            return if back { RunTransition::BackInMenu } else { RunTransition::Same };
        };
        let at_neow = &*state.screen_state.event_id == "Neow Event";
        let game_over = &*state.screen_type == "GAME_OVER";
        // After its end a run may still show something on its floor (credits). Only a state that cannot follow belongs
        // to another run.
        let from_neow = at_neow && (self.over || self.menu || self.floor > state.floor);
        let after_end = self.over && !game_over && (self.menu || self.floor > state.floor);
        let turn = match &self.current {
            Some(current) if *current == run && !from_neow && !after_end => RunTransition::Same,
            Some(_) if at_neow || self.over => RunTransition::New,
            // The first message we see: we may have been restarted in the middle of the run, even at Neow.
            _ => RunTransition::Joined,
        };
        if turn != RunTransition::Same {
            self.end_before(turn, &run);
        }
        if game_over {
            self.end = Some(GameOver { victory: state.screen_state.victory, score: state.screen_state.score });
        }
        self.current = Some(run);
        self.floor = state.floor;
        self.over = game_over || self.over && turn == RunTransition::Same;
        self.menu = false;
        turn
    }

    /// A run that begins ends the one before. If the new run has another class, or had already begun, the old one may
    /// still be saved.
    fn end_before(&mut self, turn: RunTransition, next: &Run) {
        let was_over = self.over;
        self.end();
        if let Some(run) =
            self.current.take_if(|run| turn == RunTransition::New && !was_over && run.class == next.class)
        {
            self.run_over = Some(RunOver { run, floor: self.floor, end: None });
        }
    }

    /// The current run is over if its GAME_OVER screen was seen; nothing more comes of it.
    pub fn end(&mut self) {
        if let (Some(end), Some(run)) = (self.end.take(), &self.current) {
            self.run_over = Some(RunOver { run: run.clone(), floor: self.floor, end: Some(end) });
        }
    }

    /// The run that has ended since the last call.
    pub fn take_over(&mut self) -> Option<RunOver> {
        self.run_over.take()
    }

    /// The run of the last message that belonged to one.
    pub fn current(&self) -> Option<&Run> {
        self.current.as_ref()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn follow(runs: &mut Runs, seed: i64, floor: i64, screen: &str) -> RunTransition {
        let (screen_type, event) = match screen {
            "NEOW" => ("EVENT", "Neow Event"),
            other => (other, ""),
        };
        let text = format!(
            r#"{{"ready_for_command":true,"available_commands":[],"in_game":true,"game_state":{{"seed":{seed},"class":"THE_SILENT","ascension_level":20,"floor":{floor},"screen_type":"{screen_type}","screen_state":{{"event_id":"{event}"}}}}}}"#
        );
        runs.follow(&Message::read(&text).unwrap().unwrap())
    }

    fn menu(runs: &mut Runs) -> RunTransition {
        let text = r#"{"ready_for_command":true,"available_commands":["start"],"in_game":false}"#;
        runs.follow(&Message::read(text).unwrap().unwrap())
    }

    #[test]
    fn runs_split_on_neow_game_over_and_a_changed_seed() {
        let mut runs = Runs::default();
        assert_eq!(menu(&mut runs), RunTransition::Same, "no run was over");
        assert_eq!(follow(&mut runs, 1, 0, "NEOW"), RunTransition::Joined, "we may have been restarted");
        assert_eq!(follow(&mut runs, 1, 0, "GRID"), RunTransition::Same);
        assert_eq!(follow(&mut runs, 1, 0, "NEOW"), RunTransition::Same, "Neow continues after a grid");
        assert_eq!(follow(&mut runs, 1, 3, "NONE"), RunTransition::Same);
        assert_eq!(follow(&mut runs, 1, 3, "GAME_OVER"), RunTransition::Same);
        assert_eq!(menu(&mut runs), RunTransition::BackInMenu);
        assert_eq!(menu(&mut runs), RunTransition::Same, "reported once");
        assert_eq!(follow(&mut runs, 1, 0, "NEOW"), RunTransition::New, "the same seed again");
        assert_eq!(follow(&mut runs, 1, 5, "NONE"), RunTransition::Same);
        assert_eq!(follow(&mut runs, 2, 0, "NEOW"), RunTransition::New, "abandoned: no GAME_OVER");
        assert_eq!(follow(&mut runs, 3, 7, "MAP"), RunTransition::Joined, "another saved run");
    }

    #[test]
    fn a_saved_run_continues_and_one_abandoned_at_neow_does_not() {
        let mut runs = Runs::default();
        follow(&mut runs, 1, 0, "NEOW");
        follow(&mut runs, 1, 4, "NONE");
        assert_eq!(menu(&mut runs), RunTransition::Same);
        assert_eq!(follow(&mut runs, 1, 4, "NONE"), RunTransition::Same);
        assert_eq!(menu(&mut runs), RunTransition::Same);
        assert_eq!(follow(&mut runs, 1, 0, "NEOW"), RunTransition::New);
    }

    #[test]
    fn a_run_that_continues_right_after_its_end_is_new() {
        let mut runs = Runs::default();
        follow(&mut runs, 1, 9, "GAME_OVER");
        assert_eq!(follow(&mut runs, 1, 9, "GAME_OVER"), RunTransition::Same);
        assert_eq!(follow(&mut runs, 1, 9, "NONE"), RunTransition::Same, "credits");
        assert_eq!(follow(&mut runs, 1, 1, "MAP"), RunTransition::New);
    }

    #[test]
    fn classes_are_named_as_players_do() {
        let named = |class: &str| Run { seed: None, class: class.into(), ascension: 0 }.class_name();
        assert_eq!(named("THE_SILENT"), "Silent");
        assert_eq!(named("IRONCLAD"), "Ironclad");
        assert_eq!(named("../x y"), "Xy");
        assert_eq!(named(""), "X");
    }
}
