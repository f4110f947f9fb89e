//! How a game is started: arguments of the engine, and environment variables that the addon reads (`agent_options.gd`).
//!
//! Variables, for a game that parses its own arguments would refuse those of the addon.

use crate::io::report::{Failure, Status};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf, absolute};

/// What a game is given when it is started.
#[derive(Debug, clap::Args)]
pub struct StartOptions {
    /// Show the game in a window; else it runs headless
    #[arg(long)]
    pub window: bool,
    /// Freeze the game from its first frame on: it has frames, all of the same length, only while a command needs them
    #[arg(long)]
    pub lockstep: bool,
    /// Seed the global random numbers before the game's nodes are made [default with --lockstep: 0]
    #[arg(long, value_name = "N")]
    pub seed: Option<i64>,
    /// Permit the commands that change properties, call methods and run code
    #[arg(long)]
    pub allow_edit: bool,
    /// The folder for screenshots and other files that the game writes for a command; made where it is missing
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Record the window as a video, with all frames of the same length: FILE ends in .avi, .ogv or .png (a picture a frame)
    #[arg(long, value_name = "FILE", value_parser = movie)]
    pub movie: Option<PathBuf>,
}

/// What the engine can write (`--write-movie`).
const MOVIES: [&str; 3] = ["avi", "ogv", "png"];

fn movie(text: &str) -> Result<PathBuf, String> {
    let file = PathBuf::from(text);
    let is_known = file.extension().is_some_and(|extension| MOVIES.iter().any(|known| extension == *known));
    if is_known { Ok(file) } else { Err("a movie's name ends in .avi, .ogv or .png".to_owned()) }
}

impl StartOptions {
    /// The first of the options that is given.
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

    /// What the engine is to do differently; `ticks` is the project's number of physics ticks a second.
    ///
    /// # Errors
    /// [`Status::NotStarted`] where there is no folder for the movie.
    pub fn engine_arguments(&self, ticks: u32) -> Result<Vec<OsString>, Failure> {
        let mut arguments = Vec::new();
        if self.lockstep || self.movie.is_some() {
            arguments.extend(["--fixed-fps".into(), ticks.to_string().into()]);
        }
        if let Some(movie) = &self.movie {
            // The engine would take it relative to the project.
            let path = absolute(movie).and_then(|path| path.parent().map_or(Ok(()), fs::create_dir_all).map(|()| path));
            arguments.extend(["--write-movie".into(), path.map_err(failed(movie))?.into_os_string()]);
        }
        Ok(arguments)
    }

    /// The variables for the addon. Each is set, so that none of ours reaches the game; an empty one is an option that is not given.
    ///
    /// # Errors
    /// [`Status::NotStarted`] where the folder for files can't be made.
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
