//! How a game is started: arguments of the engine, and environment variables that the addon reads (`agent_options.gd`).
//!
//! The addon gets variables because a game that parses its own arguments would reject the addon's.

use pipewright_io::report::{Failure, Status};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf, absolute};

/// The options for starting a game.
#[derive(Debug, clap::Args)]
pub struct StartOptions {
    /// Show the game in a window; by default it runs headless
    #[arg(long)]
    pub window: bool,
    /// Freeze the game from its first frame on: it advances only while a command needs frames, all of the same length
    #[arg(long)]
    pub lockstep: bool,
    /// Seed the global random number generator before the game's nodes are created [default with --lockstep: 0]
    #[arg(long, value_name = "N")]
    pub seed: Option<i64>,
    /// Allow the commands that change properties, call methods and run code
    #[arg(long)]
    pub allow_edit: bool,
    /// The folder for screenshots and other files that the game writes for a command; created if missing
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Record the window as a video, with all frames of the same length: FILE ends in .avi, .ogv or .png (one picture per frame)
    #[arg(long, value_name = "FILE", value_parser = movie_path)]
    pub movie: Option<PathBuf>,
}

/// What the engine can write (`--write-movie`).
const MOVIES: [&str; 3] = ["avi", "ogv", "png"];

fn movie_path(text: &str) -> Result<PathBuf, String> {
    let file = PathBuf::from(text);
    let is_known = file.extension().is_some_and(|extension| MOVIES.iter().any(|known| extension == *known));
    if is_known { Ok(file) } else { Err("the name must end in .avi, .ogv or .png".to_owned()) }
}

impl StartOptions {
    /// The first option that is given.
    pub fn first_given(&self) -> Option<&'static str> {
        let given = [
            (self.window, "--window"),
            (self.lockstep, "--lockstep"),
            (self.seed.is_some(), "--seed"),
            (self.allow_edit, "--allow-edit"),
            (self.output.is_some(), "--output"),
            (self.movie.is_some(), "--movie"),
        ];
        given.into_iter().find_map(|(is_given, name)| is_given.then_some(name))
    }

    /// Additional arguments for the engine; `ticks` is the project's number of physics ticks per second.
    ///
    /// # Errors
    /// [`Status::NotStarted`] if the folder for the movie cannot be created.
    pub fn engine_arguments(&self, ticks: u32) -> Result<Vec<OsString>, Failure> {
        let mut arguments = Vec::new();
        if self.lockstep || self.movie.is_some() {
            arguments.extend(["--fixed-fps".into(), ticks.to_string().into()]);
        }
        if let Some(movie) = &self.movie {
            // The engine would resolve it relative to the project.
            let path = absolute(movie).and_then(|path| path.parent().map_or(Ok(()), fs::create_dir_all).map(|()| path));
            arguments.extend(["--write-movie".into(), path.map_err(failed(movie))?.into_os_string()]);
        }
        Ok(arguments)
    }

    /// The variables for the addon. All are set, so that the game inherits none of ours; an empty one stands for an
    /// option that is not given.
    ///
    /// # Errors
    /// [`Status::NotStarted`] if the folder for files cannot be created.
    pub fn variables(&self, session: &Path, address: &str) -> Result<Vec<(OsString, OsString)>, Failure> {
        let flag = |is_given: bool| OsString::from(if is_given { "1" } else { "" });
        let seed = self.seed.or(self.lockstep.then_some(0));
        let output = match &self.output {
            Some(folder) => {
                let made = fs::create_dir_all(folder).and_then(|()| absolute(folder));
                made.map_err(failed(folder))?.into_os_string()
            }
            None => OsString::new(),
        };
        let variables = [
            ("MODE", flag(true)),
            ("DIR", session.as_os_str().to_owned()),
            ("CONNECT", address.into()),
            ("OWNER", std::process::id().to_string().into()),
            ("LOCKSTEP", flag(self.lockstep)),
            ("SEED", seed.map(|seed| seed.to_string()).unwrap_or_default().into()),
            ("ALLOW_EDIT", flag(self.allow_edit)),
            ("OUTPUT", output),
        ];
        Ok(variables.map(|(name, value)| (format!("AGENT_BRIDGE_{name}").into(), value)).into())
    }
}

fn failed(path: &Path) -> impl FnOnce(std::io::Error) -> Failure {
    move |error| Failure::new(Status::NotStarted, format_args!("{}: {error}", path.display()))
}
