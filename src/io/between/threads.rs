//! The threads that read the sides, hear signals, and watch our own stdin and stdout.

use super::Manner;
use super::hub::Hub;
use crate::io::descriptor::{Descriptor, stdin, stdout};
use crate::io::lines::Splitter;
use crate::io::lock;
use crate::io::report::{Failure, Status};
use crate::io::signal::{self, Signals};
use crate::io::stage::{Event, Side};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// A session whose near side hung up may still hold lines that we haven't read: they get this long.
const HUNG_UP: Duration = Duration::from_millis(300);

/// Ends the run where a thread panics: a defect of ours is told, and nobody waits for ever.
struct EndOnPanic(Arc<Hub>);

impl Drop for EndOnPanic {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.end(Err(Failure::new(Status::Fault, "a defect of this program, please report it")));
        }
    }
}

impl Hub {
    pub(super) fn spawn(self: &Arc<Hub>, act: impl FnOnce(&Arc<Hub>) + Send + 'static) {
        let guard = EndOnPanic(Arc::clone(self));
        thread::spawn(move || act(&guard.0));
    }

    /// Reads a side on a thread of its own, until it ends or the run does.
    pub(super) fn read(self: &Arc<Hub>, side: Side, epoch: Option<u64>, mut from: Descriptor) {
        self.spawn(move |hub| {
            let mut splitter = Splitter::new(hub.limits);
            loop {
                hub.set_listening(epoch, true);
                let read = splitter.fill(&mut from);
                hub.set_listening(epoch, false);
                hub.deliver(epoch, |stage, out| {
                    while !out.stopped()
                        && let Some(piece) = splitter.next()
                    {
                        stage.on(Event::Piece(side, piece), out)?;
                    }
                    Ok(())
                });
                match read {
                    Ok(0) => break,
                    Ok(_) => {}
                    Err(error) => {
                        // A terminal that was closed, or a child's pipe, has just ended.
                        if side == Side::Near {
                            hub.report.fault("stdin", error);
                        }
                        break;
                    }
                }
                if lock(&hub.core).end.is_some() {
                    return;
                }
            }
            hub.deliver(epoch, |stage, out| stage.on(Event::Closed(side), out));
            hub.said_all(epoch);
        });
    }

    /// Notes whether the child's reader waits for the child, or for somebody who reads what the child said.
    fn set_listening(&self, epoch: Option<u64>, listening: bool) {
        if epoch.is_none() {
            return;
        }
        let mut core = lock(&self.core);
        if epoch == Some(core.epoch)
            && let Some(far) = &mut core.far
        {
            far.listening_since = listening.then(Instant::now);
            if listening && far.has_exited() {
                self.changed.notify_all();
            }
        }
    }

    fn said_all(&self, epoch: Option<u64>) {
        let mut core = lock(&self.core);
        if epoch == Some(core.epoch)
            && let Some(far) = &mut core.far
        {
            far.said_all = true;
            self.changed.notify_all();
        }
    }

    /// The first signal ends the run in order, the second at once.
    pub(super) fn listen(self: &Arc<Hub>, signals: Signals) {
        self.spawn(move |hub| {
            let signal = signals.wait();
            hub.spawn(move |hub| {
                let signal = signals.wait();
                if let Some(group) = *lock(&hub.running) {
                    group.kill();
                }
                signal::die_of(signal)
            });
            lock(&hub.core).signalled = true;
            hub.deliver_aside(|stage, out| stage.on(Event::Signal(signal), out));
            hub.end(Ok(Status::Signal(signal)));
        });
    }

    /// Watches whether our stdout is still read, which a write would tell only when there is something to write; and,
    /// in a session, whether our stdin was hung up, which its reader doesn't see while it waits for the other side.
    ///
    /// # Errors
    /// Where the process has no descriptor left.
    pub(super) fn watch_near(self: &Arc<Hub>) -> io::Result<()> {
        let (input, output) = (stdin()?, stdout()?);
        let session = self.manner == Manner::Session;
        self.spawn(move |hub| {
            let mut watch_input = session;
            loop {
                let mut fds = vec![PollFd::new(output.as_fd(), PollFlags::empty())];
                if watch_input {
                    fds.push(PollFd::new(input.as_fd(), PollFlags::empty()));
                }
                if poll(&mut fds, PollTimeout::NONE).is_err() {
                    continue; // interrupted
                }
                let is_gone = |fd: &PollFd<'_>| {
                    fd.revents().is_some_and(|what| what.intersects(PollFlags::POLLERR | PollFlags::POLLHUP))
                };
                if fds[0].revents().is_some_and(|what| what.contains(PollFlags::POLLNVAL)) {
                    return; // there is nothing to watch
                }
                if is_gone(&fds[0]) {
                    let dirty = hub.near_broken(io::ErrorKind::BrokenPipe.into());
                    return hub.write_aside(dirty);
                }
                if fds.get(1).is_some_and(is_gone) {
                    watch_input = false;
                    hub.spawn(|hub| {
                        thread::sleep(HUNG_UP);
                        hub.deliver_aside(|stage, out| stage.on(Event::Closed(Side::Near), out));
                    });
                }
            }
        });
        Ok(())
    }
}
