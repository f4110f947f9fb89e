//! The folder in which a shell's text runs, and the programs that read but run what its files say.

use std::path::{Component, Path, PathBuf};

/// Programs that take the name of a program, or a piece of code, from files of the folder in which they run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runner {
    /// Any program: managers of versions (asdf, mise) put a program in place of another.
    Any,
    /// Its configuration, its hooks.
    Git,
    /// cargo and rustc: the toolchain file of rustup, cargo's configuration.
    Rust,
    /// npm and pnpm: their configuration, hooks of pnpm.
    Node,
}

impl Runner {
    /// The one to which a program belongs.
    pub(super) fn of(program: &str) -> Runner {
        match program {
            "git" => Runner::Git,
            "cargo" | "rustc" => Runner::Rust,
            "npm" | "pnpm" => Runner::Node,
            _ => Runner::Any,
        }
    }
}

/// Whether no file in a folder, or in one above it, makes these programs run other code. The policy reads no files: the command looks.
pub type RunsNothing = fn(Runner, &Path) -> bool;

/// The folder in which a text runs.
#[derive(Debug, Clone, Default)]
pub struct Place {
    /// `None` if it is not known: then the text is judged without it.
    pub folder: Option<PathBuf>,
    /// `None` if nobody looks.
    pub runs_nothing: Option<RunsNothing>,
}

/// What a text does in its folder, as far as it has been read.
#[derive(Debug, Default)]
pub(super) struct Visits {
    /// The programs, with the folder in which git is told to run.
    programs: Vec<(Runner, PathBuf)>,
    /// The folders to which the text changes; `None` for one that is not known.
    folders: Vec<Option<String>>,
    /// Whether a part of the text may run several times.
    repeats: bool,
}

/// The greatest number of changes of the folder in a text.
const CHANGES: usize = 3;

impl Visits {
    pub(super) fn reads(&mut self, text: &str) {
        self.repeats |= ["done", "()", "function"].iter().any(|part| text.contains(part));
    }

    pub(super) fn runs(&mut self, program: &str, folder: Option<PathBuf>) {
        self.programs.push((Runner::of(program), folder.unwrap_or_default()));
    }

    pub(super) fn changes_to(&mut self, folder: Option<&str>) {
        self.folders.push(folder.map(str::to_owned));
    }

    /// Whether no program of the text runs code that a file in its folder names.
    pub(super) fn run_nothing_else(&self, place: &Place) -> bool {
        let Place { folder: Some(folder), runs_nothing: Some(runs_nothing) } = place else { return true };
        let Some(folders) = self.possible_folders(folder) else { return false };
        let is_quiet = |folder: &Path, runner| {
            as_shells_and_programs_read(folder).iter().all(|folder| {
                runs_nothing(Runner::Any, folder) && (runner == Runner::Any || runs_nothing(runner, folder))
            })
        };
        self.programs.iter().all(|(runner, own)| folders.iter().all(|folder| is_quiet(&folder.join(own), *runner)))
    }

    /// The folders in which a program of the text may run: a change may fail, or count only for a part. `None` if they are not known.
    fn possible_folders(&self, start: &Path) -> Option<Vec<PathBuf>> {
        let mut folders = vec![start.to_owned()];
        if self.folders.len() > CHANGES {
            return None;
        }
        for change in &self.folders {
            let change = Path::new(change.as_ref()?);
            if self.repeats && change.is_relative() {
                return None;
            }
            let changed: Vec<PathBuf> = folders.iter().map(|folder| folder.join(change)).collect();
            folders.extend(changed);
        }
        Some(folders)
    }
}

/// A folder with `..` may be two: a shell goes back to where it came from, a program to the folder that contains it.
fn as_shells_and_programs_read(folder: &Path) -> Vec<PathBuf> {
    let mut plain = PathBuf::new();
    for part in folder.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    if plain == folder { vec![plain] } else { vec![plain, folder.to_owned()] }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The folders about which a text asks, each once.
    fn asks(folders: &[Option<&str>], own: Option<&str>, repeats: bool) -> Option<Vec<PathBuf>> {
        let mut visits = Visits { repeats, ..Visits::default() };
        folders.iter().for_each(|folder| visits.changes_to(*folder));
        visits.runs("git", own.map(PathBuf::from));
        visits.possible_folders(Path::new("/a"))
    }

    #[test]
    fn a_text_runs_in_each_folder_to_which_it_may_change() {
        let paths = |paths: &[&str]| Some(paths.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(asks(&[], None, false), paths(&["/a"]));
        assert_eq!(asks(&[Some("b"), Some("/c")], None, false), paths(&["/a", "/a/b", "/c", "/c"]));
        assert_eq!(asks(&[Some("/c")], None, true), paths(&["/a", "/c"]));
        // In a loop, it goes deeper each time.
        assert_eq!(asks(&[Some("b")], None, true), None);
        assert_eq!(asks(&[None], None, false), None);
        assert_eq!(asks(&[Some("/c"); 4], None, false), None);
    }

    #[test]
    fn a_folder_above_is_looked_for_as_shells_and_as_programs_do() {
        let both = as_shells_and_programs_read(Path::new("/a/link/../b"));
        assert_eq!(both, [PathBuf::from("/a/b"), PathBuf::from("/a/link/../b")]);
    }

    #[test]
    fn a_program_counts_where_it_runs() {
        let only_a: RunsNothing = |_, folder| folder == Path::new("/a");
        let place = Place { folder: Some("/a".into()), runs_nothing: Some(only_a) };
        let run = |folders: &[Option<&str>], own: Option<&str>| {
            let mut visits = Visits::default();
            folders.iter().for_each(|folder| visits.changes_to(*folder));
            visits.runs("git", own.map(PathBuf::from));
            visits.run_nothing_else(&place)
        };
        assert!(run(&[], None) && run(&[Some("/a")], None) && run(&[Some(".")], None) && run(&[], Some("/a")));
        assert!(!run(&[Some("b")], None) && !run(&[], Some("b")) && !run(&[None], None));
        assert!(Visits::default().run_nothing_else(&place));
        let unknown = Visits { programs: vec![(Runner::Git, "b".into())], ..Visits::default() };
        assert!(unknown.run_nothing_else(&Place::default()));
    }
}
