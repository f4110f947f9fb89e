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
    /// The state and the actions, with a line above them if there is a width.
    pub(super) fn draw(&self, message: &Message<'_>, actions: &[Action]) -> String {
        let mut screen = String::new();
        if let Some(width) = self.width {
            screen.push_str(&self.styled(DIM, &"-".repeat(width.min(60))));
            screen.push('\n');
        }
        let title_width = if self.width.is_some() { TITLE_WIDTH } else { 0 };
        for line in summary(message) {
            let (title, style) = match &*line.title {
                "" => (String::new(), BOLD),
                title => (format!("{title:>title_width$}  "), PLAIN),
            };
            let _ = writeln!(screen, "{}{}", self.styled(CYAN, &title), self.styled(style, &line.text));
        }
        screen.push_str(&self.menu(message, actions));
        if needs_a_command(message, actions) {
            let _ = writeln!(screen, "the game takes: {}", printable(&message.listed_commands()));
        }
        if let Some(RefusedAnswer { answer, why }) = message.refusal() {
            let answer = answer.map_or_else(String::new, |answer| format!("{answer}: "));
            let _ = writeln!(screen, "{}", self.styled(RED, &format!("not accepted: {answer}{why}")));
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
            let needs_a_command = needs_a_command(message, actions);
            let text = if needs_a_command { "no action has an id here\n" } else { "no action is legal now\n" };
            return text.to_owned();
        }
        let labels: Vec<String> =
            actions.iter().map(|&action| printable(&label(message, action)).into_owned()).collect();
        let column_width = ID_WIDTH + labels.iter().map(|label| label.width()).max().unwrap_or(0) + GAP;
        let columns = self.width.map_or(1, |width| (width / column_width).clamp(1, 4));
        let rows = labels.len().div_ceil(columns);
        let id_width = if self.width.is_some() { ID_WIDTH - "[] ".len() } else { 0 };
        let mut menu = String::new();
        for row in 0..rows {
            for index in (row..labels.len()).step_by(rows) {
                let id = format!("[{:>id_width$}] ", actions[index].id());
                let is_last_column = index + rows >= labels.len();
                let padding = if is_last_column { 0 } else { column_width - ID_WIDTH - labels[index].width() };
                let _ = write!(menu, "{}{}{}", self.styled(YELLOW, &id), labels[index], " ".repeat(padding));
            }
            menu.push('\n');
        }
        menu
    }
}

// Parameters of the terminal's colour sequences (SGR).
const PLAIN: &str = "0";
const BOLD: &str = "1";
const DIM: &str = "2";
const RED: &str = "31";
const YELLOW: &str = "33";
const CYAN: &str = "36";

/// The width of the longest title, `selected`.
const TITLE_WIDTH: usize = 8;
/// The width of the longest id, `[172] `.
const ID_WIDTH: usize = 6;
/// The blanks between two columns.
const GAP: usize = 2;
