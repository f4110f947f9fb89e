//! Runs a stage between two sides: our own stdin and stdout or the clients of a socket (near), and children (far), with
//! an optional terminal of a person. Without child, person and clients, the stage is a filter in a pipe.
//!
//! The rule for flushing: all output decided so far is written before the next read(2), and at no other time. While
//! input is waiting, reads are full and so are writes; when no input is waiting, no output waits either.
//!
//! One blocking thread reads each side. It reads once, locks the stage, has it decide every complete line,
//! lets it commit, appends the output to the sinks, unlocks, and writes. Locks are taken in the order
//! stage, queue; neither is held across a write(2), so two sides that flood each other cannot deadlock: each
//! direction waits only for its own reader. If a side has several peers, a slow peer delays only itself: output that it
//! does not read at once is written on a separate thread. Order is kept within a direction. Across directions, the only
//! guarantee is that a commit precedes the bytes that depend on it.
//!
//! The main thread starts and ends children and wakes the stage at its deadline. It never writes to a peer
//! itself, so deadlines work even while the other side does not read. In a session, separate threads watch for a
//! hang-up of our stdin and stdout.
//!
//! `hub` has the shared state, `threads` the threads that read, listen and watch, `writing` decides which thread writes
//! and waits, `supervisor` is the main thread, `near` our own stdout and the clients, `far` the child.

mod far;
mod hub;
mod near;
mod supervisor;
mod threads;
mod writing;

use super::child::Environment;
use super::report::{Failure, Report, Status};
use super::sink::Sink;
use super::stage::{Side, Stage};
use hub::{Hub, Peer, RunOptions, Sinks};
use near::NearSide;
use pipewright_lines::Limits;
use pipewright_sys::descriptor::{Descriptor, stderr, stdin, stdout};
use pipewright_sys::signal::Signals;
use pipewright_sys::socket;
use pipewright_sys::terminal::Terminal;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::sync::Arc;

/// The two sides of a stage, and the options of the run.
#[derive(Debug, Default)]
pub struct Sides {
    /// The near side.
    pub near: NearKind,
    /// Clients, which are also near sides: any number of them, which come and go.
    ///
    /// Each client has a number from 1 on ([`Side::Near`]), and order is kept for each. A client that does
    /// not read delays neither the others nor a far side: its output waits here, and reading from it pauses while its
    /// own requests would add to that. It is disconnected once more than 16 MiB wait. Neither a client nor our stdin
    /// waits for a far side that does not read: the stage holds them
    /// ([`Out::hold_near`](super::stage::Out::hold_near)).
    pub clients: Option<Listener>,
    /// The far sides, started in this order; output for one that has not been started yet is lost. With several, the
    /// near side never waits for one that does not read: the stage holds it
    /// ([`Out::hold_near`](super::stage::Out::hold_near)).
    pub far: Vec<FarEndpoint>,
    /// Whether the stage adds far sides ([`Out::add_far`](super::stage::Out::add_far)).
    pub adds_far_sides: bool,
    /// Whether the stage receives a child's stderr ([`Side::FarError`]); otherwise the child inherits ours. With a
    /// [`FarEndpoint::Link`], it always receives what the child prints, also on stdout.
    pub receives_errors: bool,
    /// Whether a line that stays unfinished for a moment (a prompt) is passed on in parts; otherwise its end is
    /// awaited.
    pub prompt: bool,
    /// Whether SIGHUP requests to reopen files ([`Event::Reopen`](super::stage::Event::Reopen)) instead of to end.
    pub reopens: bool,
    /// The terminal of a person; the foreground is borrowed for the whole run.
    pub person: Option<Terminal>,
    /// Channels of answers that only the asked party can give ([`Side::Answers`]). Each is read on a separate thread,
    /// and its end has no effect on the run.
    pub answers: Vec<Descriptor>,
    /// Whether a filter continues after the end of stdin until the stage stops it, because an answer is still due.
    pub stays: bool,
    /// Whether the stage itself limits the output for its only far side, by holding the near side. Then a line of the
    /// near side (a cancel) is read even while the far side does not read. With several far sides, or clients, a stage
    /// has to do this.
    pub holds_near: bool,
    /// The limits of every side's lines.
    pub limits: Limits,
    /// The limits of the far side's lines, if different.
    pub far_limits: Option<Limits>,
    /// How the run ends.
    pub end_mode: EndMode,
    /// Whether a signal only begins the end: children are ended, and the stage still gets what they print until then.
    pub drains: bool,
}

/// The near side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NearKind {
    /// Our own stdin and stdout.
    #[default]
    Stdio,
    /// Our own stdout only: stdin is not read, and a closed stdout is noticed only when something is written.
    Stdout,
    /// Only the [clients](Sides::clients). The run continues without any, until the stage stops it.
    Clients,
}

/// Waits for the next client and returns its connection; called repeatedly on a separate thread. An error is reported,
/// and the wait continues.
pub struct Listener(pub Box<dyn FnMut() -> io::Result<socket::Stream> + Send>);

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}

/// How a far side is reached.
#[derive(Debug)]
pub enum FarEndpoint {
    /// A wrapped program, over its stdin and stdout.
    Child(Program),
    /// Over a link: to a program that is started with it, or to a process that already runs and is left running. It
    /// cannot be restarted.
    Link(Link, Option<Program>),
    /// Over a link that is made for each start of the far side.
    Dial(Dialer),
}

impl FarEndpoint {
    /// The program of a command line, if it is not empty.
    pub fn child(command: Vec<OsString>) -> Vec<FarEndpoint> {
        let program = Program { command, environment: Environment::default() };
        if program.command.is_empty() { Vec::new() } else { vec![FarEndpoint::Child(program)] }
    }
}

/// A program that is started.
#[derive(Debug)]
pub struct Program {
    /// Its name and arguments.
    pub command: Vec<OsString>,
    /// Its environment.
    pub environment: Environment,
}

/// Makes a link.
pub struct Dialer(pub Box<dyn FnMut() -> io::Result<Link> + Send>);

impl fmt::Debug for Dialer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Dial")
    }
}

/// A pair of descriptors to and from the far side.
#[derive(Debug)]
pub struct Link {
    /// Output for it is written here.
    pub to: Descriptor,
    /// Its output is read from here.
    pub from: Descriptor,
}

/// How a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EndMode {
    /// Every byte counts: waits until all output is read, however slowly.
    #[default]
    Relay,
    /// A conversation: after the near side has hung up, its remaining lines are read for a moment, and the run ends
    /// soon, even if the far side or the person's terminal does not read.
    Session,
}

/// Runs `stage` until it stops the run, one of `signals` does, or our stdout is closed. The status is the one that the
/// stage stopped with. A closed stdout ends the run quietly with [`Report::finish`], and so does the end of stdin for a
/// filter.
///
/// Between two sides, the stage must stop the run itself when it is done: the end of a side does not end the run.
///
/// # Errors
/// A failure of the stage, a child that cannot be started ([`Status::NotStarted`]), or an stdout that cannot be
/// written ([`Status::Fault`]). The child has been ended when this returns.
pub fn between(
    stage: Box<dyn Stage>,
    sides: Sides,
    signals: &Signals,
    report: &Arc<Report>,
) -> Result<Status, Failure> {
    let signals = signals.receive();
    let Sides { near, clients, far, receives_errors, prompt, reopens, mut person, answers, stays, .. } = sides;
    let Sides { holds_near, adds_far_sides, limits, far_limits, end_mode, drains, .. } = sides;
    let mut person_input = None;
    let mut person_output = None;
    if let Some(terminal) = &mut person {
        terminal.borrow().map_err(Failure::not_started)?;
        person_input = Some(terminal.descriptor().map_err(Failure::not_started)?);
        person_output = Some(Arc::new(Sink::new(terminal.descriptor().map_err(Failure::not_started)?)));
    }
    let sinks = Sinks {
        person: person_output,
        errors: if receives_errors || far.iter().any(|endpoint| matches!(endpoint, FarEndpoint::Link(..))) {
            Some(Arc::new(Sink::new(stderr().map_err(Failure::not_started)?)))
        } else {
            None
        },
    };
    let has_clients = clients.is_some();
    let mut nears = BTreeMap::new();
    if near != NearKind::Clients {
        nears.insert(0, NearSide::stdout(stdout().map_err(Failure::not_started)?));
    }
    let is_pipe = far.is_empty() && !adds_far_sides && person.is_none() && !has_clients;
    let far_limits = far_limits.unwrap_or(limits);
    let (far_count, has_several) = (far.len(), far.len() > 1 || adds_far_sides);
    let waits_for_far = !(has_several || has_clients || holds_near);
    let manners = RunOptions {
        limits,
        far_limits,
        end_mode,
        is_pipe,
        stays,
        prompt,
        reopens,
        has_several,
        waits_for_far,
        drains,
    };
    let hub = Arc::new(Hub::new(stage, nears, far, sinks, Arc::clone(report), manners));
    // Before any input is read, which may be for them.
    (0..far_count).for_each(|far| hub.start(far));
    match near {
        NearKind::Stdio => {
            hub.watch_near().map_err(Failure::not_started)?;
            hub.read(Peer::of(Side::NEAR), stdin().map_err(Failure::not_started)?);
        }
        NearKind::Stdout | NearKind::Clients => {}
    }
    if let Some(listener) = clients {
        hub.accept(listener);
    }
    for input in answers {
        hub.read(Peer::of(Side::Answers), input);
    }
    if let Some(input) = person_input {
        hub.read(Peer::of(Side::Person), input);
    }
    hub.listen(signals);
    let ended = hub.supervise();
    let ended = hub.finish(ended);
    if let Some(terminal) = &mut person {
        terminal.restore();
    }
    // Finish the report once, however the run ended. A wrapper whose child succeeded has its own status.
    let own = report.finish();
    ended.map(|status| if status == Status::Child(0) { own } else { status })
}
