//! The threads that read the sides, receive signals, and watch our own stdin and stdout.

use super::EndMode;
use super::far::FarProcess;
use super::hub::{Hub, Peer};
use crate::report::{Failure, Status};
use crate::stage::{Event, Out, Side, Stage};
use pipewright_lines::Splitter;
use pipewright_sys::descriptor::{Descriptor, close_stdin, stdin, stdout, wait_readable};
use pipewright_sys::lock;
use pipewright_sys::signal::{self, Signal};
use std::io;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long to read lines that a session's near side sent before it hung up.
const HANGUP_GRACE: Duration = Duration::from_millis(300);

/// A line that is not finished after this time may be a prompt.
const UNFINISHED: Duration = Duration::from_millis(200);

/// The run ends this long after the request to end even if the orderly end hangs (writing to an stderr that is not read
/// blocks).
const LAST_RESORT: Duration = Duration::from_millis(1900);

/// How long children are read after a signal: a little longer than it takes to end them, so that our own last writes
/// have time.
const DRAINING: Duration = Duration::from_millis(1300);

/// Ends the run if a thread panics, so that a defect is reported and no other thread waits forever.
struct EndOnPanic(Arc<Hub>);

impl Drop for EndOnPanic {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.end(Err(Failure::new(Status::Fault, "a defect of this program; please report it")));
        }
    }
}

impl Hub {
    pub(super) fn spawn(self: &Arc<Hub>, act: impl FnOnce(&Arc<Hub>) + Send + 'static) {
        let guard = EndOnPanic(Arc::clone(self));
        thread::spawn(move || act(&guard.0));
    }

    /// Reads a side on a separate thread, until it ends or the run does.
    pub(super) fn read(self: &Arc<Hub>, peer: Peer, mut from: Descriptor) {
        self.spawn(move |hub| {
            let side = peer.side;
            let near = if let Side::Near(number) = side { Some(number) } else { None };
            let limits = if matches!(side, Side::Far(_)) { hub.options.far_limits } else { hub.options.limits };
            let mut splitter = Splitter::new(limits);
            loop {
                let mut core = lock(&hub.core);
                while near.is_some_and(|near| core.is_held(near)) {
                    core = hub.changed.wait(core).unwrap_or_else(PoisonError::into_inner);
                }
                if core.end.is_some() || core.draining.is_some() && !peer.is_far() {
                    return;
                }
                if let Some(near) = near
                    && core.out.closes_near(near)
                {
                    match near {
                        0 => return close_stdin(),
                        _ => break,
                    }
                }
                drop(core);
                hub.set_listening(peer, true);
                if hub.options.prompt && splitter.holds() && !wait_readable(&from, UNFINISHED) {
                    splitter.release();
                    hub.pass_lines(peer, &mut splitter);
                    continue;
                }
                let read = splitter.fill(&mut from);
                hub.set_listening(peer, false);
                if read.is_err() {
                    splitter.end();
                }
                hub.pass_lines(peer, &mut splitter);
                match read {
                    Ok(0) => break,
                    Ok(_) => {}
                    Err(error) => {
                        // For a closed terminal, a child's pipe or a client's connection, an error is just the end.
                        if side == Side::NEAR {
                            hub.report.fault("stdin", error);
                        }
                        break;
                    }
                }
            }
            hub.deliver(Some(peer), |stage, out| stage.on(Event::Closed(side), out));
            if hub.options.is_pipe && side == Side::NEAR && !hub.options.stays {
                hub.end(Ok(hub.report.finish()));
            }
            hub.mark_ended(peer);
            if let Some(number @ 1..) = near {
                hub.wait_and_remove(number, &from);
            }
        });
    }

    /// Passes complete lines to the stage. If the stage produces much output, it is sent in between.
    fn pass_lines(self: &Arc<Hub>, peer: Peer, splitter: &mut Splitter) {
        let mut more = true;
        while more {
            more = false;
            let act = |stage: &mut dyn Stage, out: &mut Out| {
                while !more
                    && !out.stopped()
                    && let Some(piece) = splitter.next()
                {
                    stage.on(Event::Piece(peer.side, piece), out)?;
                    more = out.is_full();
                }
                Ok(())
            };
            self.deliver(Some(peer), act);
        }
    }

    /// Records whether the child's reader waits for the child, or for a reader of the child's output.
    fn set_listening(&self, peer: Peer, listening: bool) {
        if peer.is_far()
            && let Some(far) = lock(&self.core).child(peer)
            && far.outlet(peer.side).set_listening(listening)
        {
            self.changed.notify_all();
        }
    }

    fn mark_ended(&self, peer: Peer) {
        if let Some(far) = lock(&self.core).child(peer) {
            far.outlet(peer.side).has_ended = true;
            self.changed.notify_all();
        }
    }

    /// The first signal ends the run in order, the second immediately.
    pub(super) fn listen(self: &Arc<Hub>, signals: Receiver<Signal>) {
        self.spawn(move |hub| {
            let Some(signal) = hub.wait_to_end(&signals) else { return };
            hub.spawn(move |hub| {
                let Some(signal) = hub.wait_to_end(&signals) else { return };
                hub.end_children_at_once();
                signal::die_of(signal)
            });
            hub.spawn(move |hub| {
                thread::sleep(LAST_RESORT);
                hub.end_children_at_once();
                signal::die_of(signal)
            });
            hub.signalled.store(true, Ordering::Relaxed);
            hub.end_by(signal);
        });
    }

    /// Passes the signal to the stage, as its last event unless the children are still read.
    fn end_by(self: &Arc<Hub>, signal: Signal) {
        let dirty = {
            let mut core = lock(&self.core);
            let act = move |stage: &mut dyn Stage, out: &mut Out| {
                out.give_up_parts();
                stage.on(Event::Signal(signal), out)
            };
            let dirty = self.decide_in(&mut core, Box::new(act));
            match self.options.drains && core.end.is_none() {
                true => core.draining = Some((signal, Instant::now() + DRAINING)),
                false => drop(core.end.get_or_insert(Ok(Status::Signal(signal)))),
            }
            for slot in core.fars.values().filter(|_| self.options.drains) {
                if let Some(ending) = slot.far.as_ref().map(FarProcess::ending) {
                    self.spawn(move |_| ending.end(|| true));
                }
            }
            dirty
        };
        self.changed.notify_all();
        self.write_aside(dirty);
    }

    /// Waits for a signal that requests the end; passes requests to reopen to the stage. `None` if no signal can come
    /// any more.
    fn wait_to_end(self: &Arc<Hub>, signals: &Receiver<Signal>) -> Option<Signal> {
        loop {
            let signal = signals.recv().ok()?;
            if signal != Signal::Hangup || !self.options.reopens {
                return Some(signal);
            }
            self.deliver_aside(|stage, out| stage.on(Event::Reopen, out));
        }
    }

    fn end_children_at_once(&self) {
        lock(&self.running).values().for_each(|group| group.end_at_once());
    }

    /// In a session, watches for a hang-up of our stdin, which its reader does not notice while it waits for the other
    /// side, and of our stdout, which a write would notice only when there is something to write.
    /// (A relay replaces a pipe, and ends like one.)
    ///
    /// # Errors
    /// If the process has no descriptor left.
    pub(super) fn watch_near(self: &Arc<Hub>) -> io::Result<()> {
        if self.options.end_mode == EndMode::Relay {
            return Ok(());
        }
        for (from, is_stdout) in [(stdin()?, false), (stdout()?, true)] {
            self.spawn(move |hub| {
                if from.wait_for_hang_up(!is_stdout) {
                    hub.hung_up(is_stdout);
                }
            });
        }
        Ok(())
    }

    /// The near side has hung up. Unread lines may still confirm a command.
    fn hung_up(self: &Arc<Hub>, stdout: bool) {
        thread::sleep(HANGUP_GRACE);
        self.spawn(|hub| {
            thread::sleep(LAST_RESORT - HANGUP_GRACE);
            hub.end_children_at_once();
            std::process::exit(i32::from(Status::Fault.code()));
        });
        if stdout {
            let dirty = self.stdout_broken(io::ErrorKind::BrokenPipe.into());
            self.write_aside(dirty);
        } else {
            self.deliver_aside(|stage, out| stage.on(Event::Closed(Side::NEAR), out));
        }
    }
}
