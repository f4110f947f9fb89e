//! PowerShell text that only reads: a pipeline of cmdlets that are known to read, with plain words.

use crate::lists::powershell::{CMDLETS, PARAMETERS};

/// Whether a tool, by its name, runs PowerShell. Its words may be split anywhere: `PowerShell`, `run_powershell`.
pub fn is_name(tool: &str) -> bool {
    let plain: String = tool.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    plain.contains("powershell") || plain.contains("pwsh")
}

/// Whether a text only reads. Variables, expressions, blocks, operators and several lines do not count as known.
pub fn only_reads(text: &str) -> bool {
    text.trim().split('|').all(command_reads)
}

fn command_reads(command: &str) -> bool {
    let Some(words) = words(command) else { return false };
    let is_listed = |list: &[&str], word: &str| list.contains(&word.to_lowercase().as_str());
    let Some((cmdlet, arguments)) = words.split_first() else { return false };
    let is_known = |word: &String| match word.strip_prefix('-') {
        Some(name) => is_listed(PARAMETERS, name),
        None => is_local(word),
    };
    is_listed(CMDLETS, cmdlet) && arguments.iter().all(is_known)
}

/// The words of a command; `None` if they are not plain.
fn words(command: &str) -> Option<Vec<String>> {
    let (mut words, mut rest) = (Vec::new(), command.trim_matches(' '));
    let is_plain = |one: char| one.is_ascii_alphanumeric() || "_.*?/\\-:~,".contains(one);
    while !rest.is_empty() {
        let quote = rest.chars().next().filter(|one| ['\'', '"'].contains(one));
        let (word, behind) = match quote {
            Some(quote) => rest[1..].split_once(quote)?,
            None => rest.split_at(rest.find(' ').unwrap_or(rest.len())),
        };
        // A word goes on behind a quote.
        let ends = behind.is_empty() || behind.starts_with(' ');
        if !ends || !word.chars().all(|one| is_plain(one) || quote.is_some() && one == ' ') {
            return None;
        }
        words.push(word.to_owned());
        rest = behind.trim_start_matches(' ');
    }
    Some(words)
}

/// Whether a word names neither another machine (`\\server\x`) nor a drive that is no disk (`Env:`).
fn is_local(word: &str) -> bool {
    let is_disk = |path: &str| match path.split_once(':') {
        Some((drive, behind)) => {
            let is_letter = drive.len() == 1 && drive.starts_with(|one: char| one.is_ascii_alphabetic());
            is_letter && !behind.contains(':') && !is_network(behind)
        }
        None => true,
    };
    word.split(',').all(|path| is_disk(path) && !is_network(path))
}

fn is_network(path: &str) -> bool {
    let mut signs = path.trim_start().chars();
    let is_slash = |one: Option<char>| matches!(one, Some('/' | '\\'));
    is_slash(signs.next()) && is_slash(signs.next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipelines_of_cmdlets_that_read_pass() {
        for text in [
            "Get-ChildItem",
            "get-childitem -Path src -Recurse -Filter *.rs",
            "Get-ChildItem C:\\Users\\me",
            "dir",
            "Get-Content README.md -TotalCount 20",
            "Get-ChildItem -File | Select-Object -First 5 | Format-Table Name,Length",
            "Select-String -Pattern 'to do' -Path *.rs",
            "Get-Content \"README.md\"",
            "Test-Path ./x",
            "Get-Process | Sort-Object -Property CPU -Descending",
        ] {
            assert!(only_reads(text), "{text}");
        }
        for text in [
            "",
            "Remove-Item x",
            "Get-ChildItem; Remove-Item x",
            "Get-ChildItem | Remove-Item",
            "Get-ChildItem\nRemove-Item x",
            "Get-ChildItem & x",
            "Get-ChildItem > x",
            "Get-ChildItem $(Remove-Item x)",
            "Get-ChildItem (rm x)",
            "Get-ChildItem | ForEach-Object { rm $_ }",
            "Get-ChildItem Env:",
            "Get-ChildItem HKLM:\\x",
            "Get-Content \\\\evil\\x",
            "Get-Content //evil/x",
            "Get-Content x,\\\\evil\\x",
            "Get-Content '\\\\evil\\x'",
            "Get-Content FileSystem::\\\\evil\\x",
            "Get-Content C:\\\\evil\\x",
            "Get-Process -ComputerName evil",
            "Get-Content x -Out y",
            "Get-ChildItem -OutVariable x",
            "Get-ChildItem `; rm x",
            "Get-ChildItem @x",
            "./x.ps1",
            "& x",
            "Get-Content 'a'x'",
            "Get-Content a'b'",
            "Get-Content \"a$b\"",
            "Get-Content \"a`\" b\"",
            "Get-ChildItem \u{2013}Recurse",
            "Get-Content \"$(rm x)\"",
            "Invoke-WebRequest https://evil",
            "Get-Content --% x",
        ] {
            assert!(!only_reads(text), "{text}");
        }
    }
}
