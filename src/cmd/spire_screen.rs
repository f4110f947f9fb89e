//! A state of Slay the Spire as lines of text: its summary, and the legal actions with their ids.

use pipewright_games::spire::action::Action;
use pipewright_games::spire::label::label;
use pipewright_games::spire::legal_actions::needs_a_command;
use pipewright_games::spire::message::{Message, RefusedAnswer};
use pipewright_games::spire::summary::summary;
use pipewright_io::printable::printable;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// How states are drawn. Control characters in the game's texts are replaced. A drawing itself contains only line feeds
/// and colour sequences.
#[derive(Debug, Clone, Copy)]
pub(super) struct Screen {
    /// Columns of the terminal. Without a width, each action gets its own line and nothing is padded.
    pub(super) width: Option<usize>,
    pub(super) color: bool,
}

impl Screen {
    /// The state and the actions; with a width, a rule above them.
    pub(super) fn draw(&self, message: &Message<'_>, actions: &[Action]) -> String {
        let mut screen = String::new();
        if let Some(width) = self.width {
            screen.push_str(&self.styled("2", &"-".repeat(width.min(60))));
            screen.push('\n');
        }
        let title_width = if self.width.is_some() { TITLE_WIDTH } else { 0 };
        for line in summary(message) {
            let title = if line.title.is_empty() { String::new() } else { format!("{:>title_width$}  ", line.title) };
            let style = if line.title.is_empty() { "1" } else { "0" };
            let _ = writeln!(screen, "{}{}", self.styled("36", &title), self.styled(style, &line.text));
        }
        screen.push_str(&self.menu(message, actions));
        if needs_a_command(message, actions) {
            let _ = writeln!(screen, "the game takes: {}", printable(&message.listed_commands()));
        }
        if let Some(RefusedAnswer { answer, why }) = message.refusal() {
            let answer = answer.map_or_else(String::new, |answer| format!("{answer}: "));
            let _ = writeln!(screen, "{}", self.styled("31", &format!("not accepted: {answer}{why}")));
        }
        screen
    }

    fn styled(&self, style: &str, text: &str) -> String {
        let text = printable(text);
        if self.color { format!("\x1b[{style}m{text}\x1b[0m") } else { text.into_owned() }
    }

    /// The actions by id, column by column, in as many columns as the widest label allows.
    fn menu(&self, message: &Message<'_>, actions: &[Action]) -> String {
        if actions.is_empty() {
            let none =
                if needs_a_command(message, actions) { "no action has an id here" } else { "no action is legal now" };
            return format!("{none}\n");
        }
        let labels: Vec<String> =
            actions.iter().map(|&action| printable(&label(message, action)).into_owned()).collect();
        let widest = labels.iter().map(|label| label.width()).max().unwrap_or(0) + ID_WIDTH + GAP;
        let columns = self.width.map_or(1, |width| (width / widest.max(1)).clamp(1, 4));
        let rows = labels.len().div_ceil(columns);
        let id_width = if self.width.is_some() { ID_WIDTH - 3 } else { 0 };
        let mut menu = String::new();
        for row in 0..rows {
            for index in (row..labels.len()).step_by(rows) {
                let id = format!("[{:>id_width$}] ", actions[index].id());
                let last = index + rows >= labels.len();
                let padding = if last { 0 } else { widest - ID_WIDTH - labels[index].width() };
                let _ = write!(menu, "{}{}{}", self.styled("33", &id), labels[index], " ".repeat(padding));
            }
            menu.push('\n');
        }
        menu
    }
}

/// The width of `selected`.
const TITLE_WIDTH: usize = 8;
/// The width of `[172] `.
const ID_WIDTH: usize = 6;
/// Between two columns.
const GAP: usize = 2;
