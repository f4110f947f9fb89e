//! What a run may still spend, and why it was stopped.
//!
//! The meter belongs to the thread, because the operators of values (`+`, `==`) are given nothing but the values. Once a
//! run is stopped every charge is refused, so that whatever it was doing comes to its end at once; what it gives then
//! doesn't count, and the reason is told instead. No `try`, `?`, `//` or `label` can bring it back.

use std::cell::Cell;

/// Why a run was stopped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// It has spent its fuel.
    Fuel,
    /// A value or a recursion went too deep.
    Depth,
}

/// The stack that must be left where a run goes on: for all that lies between two looks at it.
const RED_ZONE: usize = if cfg!(debug_assertions) { 640 << 10 } else { 192 << 10 };

/// The stack that a run begins with.
pub const RUN_STACK: usize = if cfg!(debug_assertions) { 8 << 20 } else { 2 << 20 };

/// A run that begins with less stack than this is given a stack of its own.
pub const ENOUGH_STACK: usize = if cfg!(debug_assertions) { 1536 << 10 } else { 768 << 10 };

struct Meter {
    fuel: Cell<u64>,
    stop: Cell<Option<Stop>>,
    max_depth: Cell<u32>,
    /// Which run this is; what a run pays for once looks here.
    run: Cell<u64>,
}

thread_local! {
    static METER: Meter = const {
        Meter { fuel: Cell::new(0), stop: Cell::new(None), max_depth: Cell::new(0), run: Cell::new(0) }
    };
}

/// Begins a run.
pub fn begin(fuel: u64, max_depth: u32) {
    METER.with(|meter| {
        meter.fuel.set(fuel);
        meter.stop.set(None);
        meter.max_depth.set(max_depth);
        meter.run.set(meter.run.get().wrapping_add(1));
    });
}

/// Which run of this thread is going on.
pub fn run() -> u64 {
    METER.with(|meter| meter.run.get())
}

/// Why the run was stopped, if it was.
pub fn stopped() -> Option<Stop> {
    METER.with(|meter| meter.stop.get())
}

/// Stops the run. The first reason stays.
pub fn stop(why: Stop) {
    METER.with(|meter| {
        meter.fuel.set(0);
        if meter.stop.get().is_none() {
            meter.stop.set(Some(why));
        }
    });
}

/// Spends `cost`; false where there isn't as much, or the run was stopped already.
pub fn charge(cost: u64) -> bool {
    METER.with(|meter| {
        let left = meter.fuel.get().checked_sub(cost);
        meter.fuel.set(left.unwrap_or(0));
        if left.is_some() && meter.stop.get().is_none() {
            return true;
        }
        if meter.stop.get().is_none() {
            meter.stop.set(Some(Stop::Fuel));
        }
        false
    })
}

/// Spends `cost`, and looks whether there is stack left to go on.
pub fn step(cost: u64) -> bool {
    if stacker::remaining_stack().is_none_or(|left| left < RED_ZONE) {
        stop(Stop::Depth);
    }
    charge(cost)
}

/// Whether a value may be this deep; where it may not, the run is stopped.
pub fn allows_depth(depth: u32) -> bool {
    let allowed = METER.with(|meter| depth <= meter.max_depth.get());
    if !allowed {
        stop(Stop::Depth);
    }
    allowed
}

/// How deep a value may be.
pub fn max_depth() -> u32 {
    METER.with(|meter| meter.max_depth.get())
}

/// What it costs to make, read or compare so many bytes.
pub fn of_bytes(bytes: usize) -> u64 {
    1 + bytes as u64 / 16
}

/// Whether there is as much.
pub fn can_charge(cost: u64) -> bool {
    METER.with(|meter| meter.stop.get().is_none() && cost <= meter.fuel.get())
}
