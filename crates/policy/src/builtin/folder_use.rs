//! What a shell's text does in its folder: the programs that read but run what files there say.

use super::shell::browser::BrowserCommand;
use crate::working_folder::{ProgramFamily, WorkingFolder};
use std::path::{Component, Path, PathBuf};

/// What a text does in its folder, as far as it has been read.
#[derive(Debug, Default)]
pub(super) struct FolderUse {
    /// The programs, by their names, with the values of `git -C`.
    programs: Vec<(String, Vec<String>)>,
    /// The folders to which the text changes; `None` for one that is not known.
    folders: Vec<Option<String>>,
    /// Whether a part of the text may run several times.
    repeats: bool,
    /// The commands of browsers, which are judged by what they act on.
    browsers: Vec<BrowserCommand>,
    /// The parts of the text that may do more than read.
    causes: Vec<String>,
}

/// The greatest number of changes of the folder in a text.
const MAX_FOLDER_CHANGES: usize = 3;

impl FolderUse {
    pub(super) fn reads(&mut self, text: &str) {
        let joined: String = text.split_whitespace().collect();
        self.repeats |= text.contains("done") || joined.contains("()");
    }

    pub(super) fn runs(&mut self, program: &str, folders: Vec<String>) {
        self.programs.push((program.to_owned(), folders));
    }

    pub(super) fn browses(&mut self, command: BrowserCommand) {
        self.browsers.push(command);
    }

    pub(super) fn browsers(&self) -> Vec<BrowserCommand> {
        self.browsers.clone()
    }

    pub(super) fn repeats(&self) -> bool {
        self.repeats
    }

    /// Records a part that may do more than read.
    pub(super) fn blames(&mut self, part: String) {
        if !self.causes.contains(&part) {
            self.causes.push(part);
        }
    }

    pub(super) fn causes(&self) -> &[String] {
        &self.causes
    }

    pub(super) fn changes_to(&mut self, folder: Option<&str>) {
        self.folders.push(folder.map(str::to_owned));
    }

    /// Whether no program of the text runs code that a file in its folder names.
    pub(super) fn run_nothing_else(&self, place: &WorkingFolder) -> bool {
        self.runs_other_code(place).is_none()
    }

    /// The first program of the text that may run code that a file in its folder names.
    pub(super) fn runs_other_code(&self, place: &WorkingFolder) -> Option<&str> {
        let WorkingFolder { folder: Some(_), runs_nothing: Some(runs_nothing), .. } = place else { return None };
        let folders = self.possible_folders(place);
        let runs_other_code = |(program, own): &&(String, Vec<String>)| {
            let family = family_of(program);
            let Some(folders) = folders.as_ref().and_then(|folders| git_folders(folders, own, place)) else {
                // Where a manager of versions may be at work is not known either; but few people have one.
                return family != ProgramFamily::Any;
            };
            !folders.iter().all(|folder| {
                runs_nothing(ProgramFamily::Any, folder)
                    && (family == ProgramFamily::Any || runs_nothing(family, folder))
            })
        };
        self.programs.iter().find(runs_other_code).map(|(program, _)| program.as_str())
    }

    /// The folders in which a program of the text may run: a change may fail, or count only for a part. `None` if they
    /// are not known.
    fn possible_folders(&self, place: &WorkingFolder) -> Option<Vec<PathBuf>> {
        let mut folders = vec![place.folder.clone()?];
        if self.folders.len() > MAX_FOLDER_CHANGES {
            return None;
        }
        for change in &self.folders {
            let change = change.as_ref()?;
            if self.repeats && !change.starts_with('/') {
                return None;
            }
            // `cd link/..` leads back to the folder of the link; `cd -P` leads to the parent of its target.
            let changed = changed(&folders, change, place)?;
            for folder in changed.iter().map(|folder| without_parents(folder)).chain(changed.iter().cloned()) {
                if !folders.contains(&folder) {
                    folders.push(folder);
                }
            }
        }
        Some(folders)
    }
}

/// The family to which a program belongs.
fn family_of(program: &str) -> ProgramFamily {
    match program {
        "agent-browser" | "playwright-cli" => ProgramFamily::Browser,
        "az" => ProgramFamily::Azure,
        "docker compose" | "podman compose" => ProgramFamily::Compose,
        // gh and go run git.
        "gh" | "git" | "go" => ProgramFamily::Git,
        "cargo" | "rustc" => ProgramFamily::Rust,
        "npm" | "pnpm" => ProgramFamily::Node,
        _ => ProgramFamily::Any,
    }
}

/// The folders in which git runs with these values of `-C`.
fn git_folders(folders: &[PathBuf], told: &[String], place: &WorkingFolder) -> Option<Vec<PathBuf>> {
    told.iter().try_fold(folders.to_vec(), |folders, change| changed(&folders, change, place))
}

/// The folders to which a change may lead. `~` is another folder without quotes.
fn changed(folders: &[PathBuf], change: &str, place: &WorkingFolder) -> Option<Vec<PathBuf>> {
    let mut changed: Vec<PathBuf> = folders.iter().map(|folder| folder.join(change)).collect();
    if let Some(behind) = change.strip_prefix('~') {
        let home = place.home.as_ref()?;
        changed.push(if behind.is_empty() { home.clone() } else { home.join(behind.strip_prefix('/')?) });
    }
    Some(changed)
}

/// A path without `..`, as if no folder were a link.
fn without_parents(folder: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in folder.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::working_folder::FolderCheck;

    fn place(runs_nothing: FolderCheck) -> WorkingFolder {
        WorkingFolder {
            folder: Some("/a".into()),
            home: Some("/home".into()),
            runs_nothing: Some(runs_nothing),
            resolve: None,
        }
    }

    /// The folders in which git may run.
    fn folders(changes: &[Option<&str>], told: &[&str], repeats: bool) -> Option<Vec<String>> {
        let mut visits = FolderUse { repeats, ..FolderUse::default() };
        changes.iter().for_each(|folder| visits.changes_to(*folder));
        let place = place(|_, _| true);
        let told: Vec<String> = told.iter().map(|&folder| folder.to_owned()).collect();
        let folders = git_folders(&visits.possible_folders(&place)?, &told, &place)?;
        Some(folders.iter().map(|folder| folder.to_str().unwrap_or_default().to_owned()).collect())
    }

    #[test]
    fn a_text_runs_in_each_folder_to_which_it_may_change() {
        let paths = |paths: &[&str]| Some(paths.iter().map(|&path| path.to_owned()).collect::<Vec<_>>());
        assert_eq!(folders(&[], &[], false), paths(&["/a"]));
        assert_eq!(folders(&[Some("b")], &[], false), paths(&["/a", "/a/b"]));
        assert_eq!(folders(&[Some("/c")], &[], true), paths(&["/a", "/c"]));
        assert_eq!(folders(&[], &["b", "c"], false), paths(&["/a/b/c"]));
        // A shell goes back from a link, git to the folder that contains the link's target.
        let both = folders(&[Some("l/..")], &["m/.."], false);
        assert_eq!(both, paths(&["/a/m/..", "/a/l/../m/.."]));
        assert_eq!(folders(&[Some("~/c")], &[], false), paths(&["/a", "/a/~/c", "/home/c"]));
        assert_eq!(folders(&[], &["~"], false), paths(&["/a/~", "/home"]));
        // In a loop, it goes deeper each time.
        assert_eq!(folders(&[Some("b")], &[], true), None);
        for unknown in [&[None][..], &[Some("~x")], &[Some("~+/c")], &[Some("/c"); 4]] {
            assert_eq!(folders(unknown, &[], false), None, "{unknown:?}");
        }
        assert_eq!(folders(&[], &["~+/c"], false), None);
    }

    #[test]
    fn a_program_counts_where_it_runs() {
        let place = place(|_, folder| folder == Path::new("/a"));
        let run = |program: &str, changes: &[Option<&str>]| {
            let mut visits = FolderUse::default();
            changes.iter().for_each(|folder| visits.changes_to(*folder));
            visits.runs(program, Vec::new());
            visits.run_nothing_else(&place)
        };
        assert!(run("git", &[]) && run("git", &[Some("/a")]) && run("git", &[Some(".")]));
        assert!(!run("git", &[Some("b")]) && !run("git", &[None]) && run("ls", &[None]));
        assert!(FolderUse::default().run_nothing_else(&place));
        let unknown = FolderUse { programs: vec![("git".to_owned(), vec!["b".to_owned()])], ..FolderUse::default() };
        assert!(unknown.run_nothing_else(&WorkingFolder::default()));
    }
}
