//! Which thread writes the output, and for which readers it waits.

use super::hub::{Hub, Peer};
use crate::report::Failure;
use crate::sink::Sink;
use crate::stage::{Event, Out, Side, Stage};
use std::io;
use std::sync::Arc;

/// The sinks with output, in the order of writing.
#[derive(Default)]
pub(super) struct DirtySinks(Vec<(Peer, Arc<Sink>)>);

impl DirtySinks {
    pub(super) fn push(&mut self, to: Peer, sink: &Arc<Sink>) {
        self.0.push((to, Arc::clone(sink)));
    }
}

impl Hub {
    /// Passes an event to the stage and writes its output; blocks for the readers for which it [waits](Hub::waits).
    pub(super) fn deliver(
        self: &Arc<Hub>,
        about: Option<Peer>,
        act: impl FnOnce(&mut dyn Stage, &mut Out) -> Result<(), Failure>,
    ) {
        let dirty = self.decide(about, Box::new(act));
        self.write(about, dirty);
    }

    /// Passes an event to the stage and writes on other threads, for threads that must not wait for a reader.
    pub(super) fn deliver_aside(self: &Arc<Hub>, act: impl FnOnce(&mut dyn Stage, &mut Out) -> Result<(), Failure>) {
        self.write_aside(self.decide(None, Box::new(act)));
    }

    /// Whether the thread that reads `from` waits until `to` has read its output.
    ///
    /// The reader of a far side must not wait for any far side: a single-threaded child does not read while it writes,
    /// and would wait for us forever. Of several far sides, or several clients, none may delay the others. A client
    /// waits only for itself. A stage that holds the near side itself has all of its lines read.
    fn waits(&self, from: Option<Peer>, to: Peer) -> bool {
        match to.side {
            Side::Far(_) => self.options.waits_for_far && !from.is_some_and(|from| from.is_far()),
            Side::Near(number) => number == 0 || from == Some(to),
            Side::FarError(_) | Side::Person | Side::Answers => true,
        }
    }

    /// Writes for the thread that reads `from`. Output that a reader it does not wait for does not read at once is
    /// written aside.
    fn write(self: &Arc<Hub>, from: Option<Peer>, DirtySinks(mut dirty): DirtySinks) {
        let mut slow = DirtySinks::default();
        for (to, sink) in dirty.extract_if(.., |(to, _)| !self.waits(from, *to)) {
            match sink.drain_at_once() {
                Ok(true) => {}
                Ok(false) => slow.0.push((to, sink)),
                Err(error) => self.write(from, self.broken(to, error)),
            }
        }
        self.write_aside(slow);
        for (to, sink) in dirty {
            if let Err(error) = sink.drain() {
                self.write(from, self.broken(to, error));
            }
        }
    }

    /// Writes each sink on a separate thread, so that none waits for the reader of another. A sink that is already
    /// being written is left to its writer.
    pub(super) fn write_aside(self: &Arc<Hub>, DirtySinks(dirty): DirtySinks) {
        for (to, sink) in dirty {
            self.spawn(move |hub| {
                if let Err(error) = sink.drain_unless_busy() {
                    hub.write_aside(hub.broken(to, error));
                }
            });
        }
    }

    /// Notifies the stage of a reader that has closed its end.
    fn broken(&self, to: Peer, error: io::Error) -> DirtySinks {
        match to.side {
            Side::NEAR => self.stdout_broken(error),
            Side::Near(number) => self.client_broken(number, error),
            side => {
                // Our stderr, for example, belongs to no far side, which could have been replaced.
                let about = Some(to).filter(|to| matches!(to.side, Side::Far(_)));
                self.decide(about, Box::new(move |stage, out| stage.on(Event::Broken(side, error), out)))
            }
        }
    }
}
