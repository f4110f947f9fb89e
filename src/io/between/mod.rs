//! Standing between two sides: our own stdin and stdout or the clients of a socket (near), children (far), and a person's
//! terminal; or, with neither child nor person nor clients, in a plain pipe.
//!
//! The whole rule of flushing is here: everything decided so far is written before the next read(2), and at no other
//! time. While input is waiting, reads are full and so are writes; when it isn't, nothing waits.
//!
//! One blocking thread reads each side. It reads once, locks the stage, has it decide every complete line,
//! lets it commit, appends what was decided to the sinks, unlocks, and writes. Locks are taken in the order
//! stage, queue; neither is held across a write(2), so two sides that flood each other can't deadlock: each
//! direction waits for its own reader alone. Where there are several peers on a side, nobody waits for one of them but
//! itself: what it doesn't take at once is written on a thread of its own. Order is kept within a direction; across
//! directions nothing is ordered but that a commit comes before the bytes that depend on it.
//!
//! The main thread starts and ends children and wakes the stage at its deadline. It never writes to a peer
//! itself, so a deadline passes even while the other side reads nothing. In a session, threads of their own watch whether
//! our stdin and stdout still have somebody at their other ends.
//!
//! `hub` holds what the threads share, `threads` those that read, listen and watch, `writing` says who writes and waits,
//! `supervisor` is the main thread, `near` our own stdout and the clients, `far` the child.

mod far;
mod hub;
mod near;
mod supervisor;
mod threads;
mod writing;

use super::child::Surroundings;
use super::descriptor::{Descriptor, stderr, stdin, stdout};
use super::lines::Limits;
use super::report::{Failure, Report, Status};
use super::signal::Signals;
use super::sink::Sink;
use super::stage::{Side, Stage};
use super::terminal::Terminal;
use hub::{Hub, Manners, Peer, Sinks};
use near::NearSide;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// What a stage stands between.
#[derive(Debug, Default)]
pub struct Ends {
    /// The near side.
    pub near: Near,
    /// Clients, which are near sides, too: any number of them, which come and go.
    ///
    /// Each client has a number from 1 on ([`Out::near`](super::stage::Out::near)), and order is kept for each. One that reads nothing
    /// holds up neither the others nor a far side: what is sent to it waits here, and while its own requests would add to
    /// that, it is read no further. Once more than 16 MiB wait, it is disconnected. Neither a client nor our stdin waits for a far
    /// side that reads nothing: the stage holds them ([`Out::hold_near`](super::stage::Out::hold_near)).
    pub clients: Option<Listener>,
    /// The far sides, started in this order; what is sent to one that has not been started yet is lost. With several, the near side
    /// never waits for one that reads nothing: the stage holds it
    /// ([`Out::hold_near`](super::stage::Out::hold_near)).
    pub far: Vec<Way>,
    /// Whether the stage adds far sides ([`Out::add_far`](super::stage::Out::add_far)).
    pub adds_far_sides: bool,
    /// Whether the stage hears a child's stderr ([`Side::FarError`]); else it is our own. With a [`Way::Link`] it does: what the
    /// child prints, on stdout too.
    pub hears_errors: bool,
    /// Whether a line that stays unfinished for a moment (a prompt) is given in parts; else it is waited for.
    pub prompt: bool,
    /// Whether SIGHUP asks to open files anew ([`Event::Reopen`](super::stage::Event::Reopen)) instead of to end.
    pub reopens: bool,
    /// The terminal of a person; the foreground is borrowed for the whole run.
    pub person: Option<Terminal>,
    /// Where answers come from that nobody but who is asked may give ([`Side::Answers`]); each is read on a thread of its own,
    /// and its end ends nothing.
    pub answers: Vec<Descriptor>,
    /// Whether a plain pipe goes on when stdin has ended, until the stage stops it: somebody has yet to answer.
    pub stays: bool,
    /// Whether the stage bounds what it sends to its only far side, by holding the near side: then a line of the near side (a cancel)
    /// is read although the far side reads nothing. With several far sides, or clients, a stage has to.
    pub holds_near: bool,
    /// What is believed of every side's lines.
    pub limits: Limits,
    /// What is believed of the far side's, where that is something else.
    pub far_limits: Option<Limits>,
    /// How the end is made.
    pub manner: Manner,
}

/// What is on the near side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Near {
    /// Our own stdin and stdout.
    #[default]
    Stdio,
    /// Our own stdout alone: stdin is not read, and a reader of stdout that has gone is noticed only when something is written.
    Stdout,
    /// Neither: the [clients](Ends::clients) are all there is. The run goes on while there is none, until the stage stops it.
    Clients,
}

/// Waits for the next client, and gives its connection; called again and again on a thread of its own. An error is reported, and the
/// next client is waited for.
pub struct Listener(pub Box<dyn FnMut() -> io::Result<UnixStream> + Send>);

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}

/// How a far side is reached.
#[derive(Debug)]
pub enum Way {
    /// A program that is wrapped: over its stdin and stdout.
    Child(Program),
    /// Over a link: to a program that is started with it, or to somebody who runs already, and whom we leave running. It can't
    /// be started again.
    Link(Link, Option<Program>),
    /// Over a link that is made each time the far side is started.
    Dial(Dial),
}

impl Way {
    /// The program of a command line, where there is one.
    pub fn child(command: Vec<OsString>) -> Vec<Way> {
        let program = Program { command, around: Surroundings::default() };
        if program.command.is_empty() { Vec::new() } else { vec![Way::Child(program)] }
    }
}

/// A program that is started.
#[derive(Debug)]
pub struct Program {
    /// Its name and arguments.
    pub command: Vec<OsString>,
    /// What it finds around it.
    pub around: Surroundings,
}

/// What makes a link.
pub struct Dial(pub Box<dyn FnMut() -> io::Result<Link>>);

impl fmt::Debug for Dial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Dial")
    }
}

/// A way to the far side, and back.
#[derive(Debug)]
pub struct Link {
    /// What is said to it is written here.
    pub to: Descriptor,
    /// What it says is read from here.
    pub from: Descriptor,
}

/// How a run treats its near side at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Manner {
    /// Every byte counts: all that was written is waited for, however slowly it is read.
    #[default]
    Relay,
    /// It is a conversation: once the near side has hung up, what it still said is read for a moment, and the end comes
    /// soon, even where the far side or the person's terminal takes nothing.
    Session,
}

/// Runs `stage` until it stops the run, one of `signals` does, or our stdout is gone. The status is what the stage
/// stopped with; a gone stdout ends quietly with [`Report::finish`], and so does a plain pipe when stdin has ended.
///
/// Between two sides, the stage must stop the run by itself when it has no more use of it: nothing else ends it when a
/// side closes.
///
/// # Errors
/// What the stage fails with, a child that can't be started ([`Status::NotStarted`]), an stdout that can't be
/// written ([`Status::Fault`]). In each case the child has been ended when this returns.
pub fn between(stage: Box<dyn Stage>, ends: Ends, signals: &Signals, report: &Arc<Report>) -> Result<Status, Failure> {
    let system = |error: io::Error| Failure::new(Status::NotStarted, error);
    let signals = signals.receive();
    let Ends { near, clients, far, hears_errors, prompt, reopens, mut person, answers, stays, .. } = ends;
    let Ends { holds_near, adds_far_sides, limits, far_limits, manner, .. } = ends;
    let mut person_input = None;
    let mut person_output = None;
    if let Some(terminal) = &mut person {
        terminal.borrow()?;
        person_input = Some(terminal.descriptor().map_err(system)?);
        person_output = Some(Arc::new(Sink::new(terminal.descriptor().map_err(system)?)));
    }
    let sinks = Sinks {
        person: person_output,
        errors: if hears_errors || far.iter().any(|way| matches!(way, Way::Link(..))) {
            Some(Arc::new(Sink::new(stderr().map_err(system)?)))
        } else {
            None
        },
    };
    let has_clients = clients.is_some();
    let mut nears = BTreeMap::new();
    if near != Near::Clients {
        nears.insert(0, NearSide::stdout(stdout().map_err(system)?));
    }
    let is_pipe = far.is_empty() && !adds_far_sides && person.is_none() && !has_clients;
    let far_limits = far_limits.unwrap_or(limits);
    let (far_count, has_several) = (far.len(), far.len() > 1 || adds_far_sides);
    let waits_for_far = !(has_several || has_clients || holds_near);
    let manners = Manners { limits, far_limits, manner, is_pipe, stays, prompt, reopens, has_several, waits_for_far };
    let hub = Arc::new(Hub::new(stage, nears, far_count, sinks, Arc::clone(report), manners));
    let mut ways: Vec<Option<Way>> = far.into_iter().map(Some).collect();
    let mut start = |far: usize, added: Option<Program>| {
        // Those that the stage adds are started in the order of their numbers.
        ways.extend(added.map(|program| Some(Way::Child(program))));
        match ways[far].take() {
            Some(Way::Child(program)) => {
                hub.start(far, &program);
                ways[far] = Some(Way::Child(program));
            }
            Some(Way::Dial(Dial(mut dial))) => {
                match dial() {
                    Ok(link) => hub.join(far, None, link),
                    Err(error) => hub.not_started(far, system(error)),
                }
                ways[far] = Some(Way::Dial(Dial(dial)));
            }
            Some(Way::Link(link, program)) => hub.join(far, program.as_ref(), link),
            None => hub.not_started(far, Failure::new(Status::NotStarted, "the other side can't be started again")),
        }
    };
    (0..far_count).for_each(|far| start(far, None));
    match near {
        Near::Stdio => {
            hub.watch_near().map_err(system)?;
            hub.read(Peer::near(0), stdin().map_err(system)?);
        }
        Near::Stdout | Near::Clients => {}
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
    let ended = hub.supervise(&mut start);
    let ended = hub.finish(ended);
    if let Some(terminal) = &mut person {
        terminal.restore();
    }
    // Told once, however the run ended; and a wrapper whose child did well has its own status.
    let own = report.finish();
    ended.map(|status| if status == Status::Child(0) { own } else { status })
}
