//! Clients of databases that run the statement in their arguments.

use super::super::sql;

/// A client, by the options with which it prints what it has read.
struct Client {
    /// Options that stand alone.
    alone: &'static [&'static str],
    /// Options for a name: of a database, a user.
    named: &'static [&'static str],
    /// Options for a statement; if there are none, the operands behind the database are statements.
    statements: &'static [&'static str],
    /// Commands of the client itself that show what there is.
    shows: &'static [&'static str],
}

const PSQL: Client = Client {
    alone: &["-t", "-A", "-At", "-tA", "-x", "-q", "-X", "-w", "--csv", "--no-psqlrc", "--tuples-only", "--no-align"],
    named: &["-d", "--dbname", "-U", "--username"],
    statements: &["-c", "--command"],
    shows: &["\\d", "\\d+", "\\dt", "\\dt+", "\\dn", "\\du", "\\di", "\\dv", "\\df", "\\l", "\\conninfo"],
};
const MYSQL: Client = Client {
    alone: &["-t", "-N", "-B", "-s", "--table", "--batch", "--silent", "--skip-column-names"],
    named: &["-D", "--database", "-u", "--user"],
    statements: &["-e", "--execute"],
    shows: &[],
};
const SQLITE: Client = Client {
    alone: &[
        "-readonly",
        SAFE,
        "-header",
        "-noheader",
        "-csv",
        "-json",
        "-column",
        "-line",
        "-list",
        "-box",
        "-markdown",
    ],
    named: &[],
    statements: &[],
    shows: &[".tables", ".schema", ".indexes", ".databases"],
};
/// sqlite3's option with which no function runs a program.
const SAFE: &str = "-safe";

/// Whether a client with these arguments only reads; `None` if the program is none.
pub(super) fn reads(program: &str, arguments: &[&str]) -> Option<bool> {
    let client = match program {
        "psql" => &PSQL,
        "mysql" | "mariadb" => &MYSQL,
        "sqlite3" => &SQLITE,
        _ => return None,
    };
    let lists_databases = program == "psql" && matches!(arguments, ["-l" | "--list"]);
    let may_edit = program == "sqlite3" && !arguments.contains(&SAFE);
    let reads = client.reads(arguments) && !(may_edit && arguments[1..].iter().any(|text| may_read_view(text)));
    Some(arguments == ["--version"] || lists_databases || reads)
}

/// Whether a statement may read a view of SQLite: anything but the table of what there is. A view may call `edit()`,
/// which runs a program.
fn may_read_view(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|one: char| !one.is_alphanumeric() && one != '_').collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let is_own = |table: Option<&&str>| table.is_some_and(|table| ["sqlite_master", "sqlite_schema"].contains(table));
    let are_own = words.iter().enumerate().all(|(at, word)| *word != "from" || is_own(words.get(at + 1)));
    // Other tables may follow a comma, and a table may follow `IN`.
    let has_others = lower.split_once("from").is_some_and(|(_, behind)| behind.contains(','));
    !are_own || has_others || words.iter().any(|word| ["in", "join"].contains(word))
}

impl Client {
    fn reads(&self, arguments: &[&str]) -> bool {
        let (mut operands, mut statements, mut rest) = (Vec::new(), Vec::new(), arguments);
        while let Some((&word, behind)) = rest.split_first() {
            let (name, within) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
            let is_valued = self.named.contains(&name) || self.statements.contains(&name);
            let value = if within.is_some() { within } else { behind.first().copied().filter(|_| is_valued) };
            match value {
                Some(value) if is_valued => {
                    if self.statements.contains(&name) { &mut statements } else { &mut operands }.push(value);
                    rest = if within.is_some() { behind } else { &behind[1..] };
                    continue;
                }
                _ if self.alone.contains(&word) => {}
                _ if word.starts_with('-') => return false,
                _ => operands.push(word),
            }
            rest = behind;
        }
        if self.statements.is_empty() && !operands.is_empty() {
            statements = operands.split_off(1);
        }
        // Other words may lead to another machine: `host=...`, `postgresql://...`.
        let is_name = |word: &&str| !word.starts_with('-') && !word.contains(['=', ':', '@']);
        !statements.is_empty() && operands.iter().all(is_name) && statements.iter().all(|text| self.only_shows(text))
    }

    /// Whether a statement only reads. A backslash, or a dot at the begin of a line, begins a command of the client.
    fn only_shows(&self, text: &str) -> bool {
        let text = text.trim();
        let (command, operand) = text.split_once(' ').unwrap_or((text, ""));
        let is_plain = |one: char| one.is_ascii_alphanumeric() || "_.*".contains(one);
        if self.shows.contains(&command) {
            return operand.chars().all(is_plain);
        }
        !text.contains('\\') && !text.lines().any(|line| line.trim_start().starts_with('.')) && sql::only_reads(text)
    }
}
