//! Commands that only look. Everything that runs what is written in its arguments is asked about, but for these.

/// Programs that read, whatever their arguments.
const READING: &[&str] = &[
    "basename",
    "cal",
    "cat",
    "cmp",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "expr",
    "false",
    "file",
    "free",
    "grep",
    "groups",
    "head",
    "hexdump",
    "id",
    "ls",
    "md5sum",
    "nl",
    "nproc",
    "od",
    "printenv",
    "printf",
    "ps",
    "pwd",
    "readlink",
    "realpath",
    "rev",
    "sha256sum",
    "seq",
    "stat",
    "strings",
    "tail",
    "test",
    "tr",
    "true",
    "tty",
    "uname",
    "uptime",
    "wc",
    "whereis",
    "which",
    "who",
    "whoami",
];

/// Arguments with which some of them write all the same (`date -s`, `date MMDDhhmm`), or run something.
fn is_writing(program: &str, arguments: &[&str]) -> bool {
    match program {
        "date" => arguments.iter().any(|argument| !argument.starts_with('+') && *argument != "-u"),
        "file" => arguments.iter().any(|argument| argument.starts_with("-C") || argument.starts_with("--comp")),
        // -v NAME assigns.
        "printf" => arguments.first().is_some_and(|argument| argument.starts_with('-')),
        _ => false,
    }
}

/// Whether a shell's command line does nothing but look: one program that only reads, and nothing that a shell would do besides
/// (another command, a redirection, a substitution).
pub fn only_reads(command: &str) -> bool {
    let is_plain = |character: char| character.is_alphanumeric() || " ./_-+=:,@%^\"'".contains(character);
    if !command.chars().all(is_plain) {
        return false;
    }
    let words: Vec<&str> = command.split(' ').filter(|word| !word.is_empty()).collect();
    match words.split_first() {
        Some((&"git", ["status"])) => true,
        Some((program, arguments)) => READING.contains(program) && !is_writing(program, arguments),
        None => false,
    }
}

/// Whether a query of a database does nothing but read: one statement, that begins with a word of reading, and without any word of
/// changing.
pub fn only_selects(query: &str) -> bool {
    const CHANGING: [&str; 17] = [
        "alter", "analyze", "attach", "call", "copy", "create", "delete", "do", "drop", "exec", "execute", "grant",
        "insert", "into", "load", "truncate", "update",
    ];
    let query = query.trim().trim_end_matches(';').to_lowercase();
    let mut words =
        query.split(|character: char| !character.is_alphanumeric() && character != '_').filter(|word| !word.is_empty());
    // A function may do anything; a few are plain.
    let calls = query.match_indices('(').any(|(at, _)| {
        let before = query[..at].trim_end();
        let name: String = before.chars().rev().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let name: String = name.chars().rev().collect();
        ![
            "", "in", "count", "sum", "min", "max", "avg", "lower", "upper", "length", "and", "or", "where", "on",
            "values", "as", "exists", "from", "by", "coalesce",
        ]
        .contains(&name.as_str())
    });
    !query.contains(';')
        && !calls
        && words.next().is_some_and(|word| ["select", "show", "describe", "explain"].contains(&word))
        && !words.any(|word| CHANGING.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_certainly_reads_is_let_through() {
        for command in [
            "ls",
            "ls -la /tmp",
            "cat a.txt b.txt",
            "  pwd ",
            "git status",
            "grep -rn 'x y' src",
            "date",
            "date +%F",
            "wc -l \"a b\"",
        ] {
            assert!(only_reads(command), "{command}");
        }
        for command in [
            "",
            "rm -rf /",
            "ls; rm x",
            "ls && rm x",
            "cat a > b",
            "echo `rm x`",
            "echo $(rm x)",
            "echo $HOME",
            "ls\nrm x",
            "ls | sh",
            "cat <(rm x)",
            "/bin/rm x",
            "./ls",
            "\\rm x",
            "X=1 rm y",
            "git push",
            "git status; rm",
            "git -c x=y status",
            "find . -delete",
            "sudo ls",
            "date -s 12",
            "date 01010101",
            "env rm x",
            "xargs rm",
            "sort -o a b",
            "tee a",
            "lѕ",
            "ls\rrm x",
            "ls & rm x",
            "{ls,}",
            "ls ~",
            "file -C",
            "printf -v PATH x",
        ] {
            assert!(!only_reads(command), "{command}");
        }
    }

    #[test]
    fn only_queries_that_read_are_let_through() {
        for query in [
            "SELECT * FROM t WHERE a = 'x'",
            "select count(*) from t;",
            "SHOW TABLES",
            "select a from t where b in (1, 2)",
        ] {
            assert!(only_selects(query), "{query}");
        }
        for query in [
            "",
            "DELETE FROM t",
            "select 1; drop table t",
            "SELECT * INTO u FROM t",
            "with x as (delete from t returning 1) select 1",
            "update t set a=1",
            "explain analyze delete from t",
            "select pg_terminate_backend(1)",
            "select delete_all()",
            "pragma x",
        ] {
            assert!(!only_selects(query), "{query}");
        }
    }
}
