//! The remaining fuel of a run, and why it was stopped.
//!
//! The meter belongs to the thread, because the operators of values (`+`, `==`) get only the values. Once a run is
//! stopped, every charge is refused, so all of its operations end at once. Its output then does not count; the reason
//! is reported instead. No `try`, `?`, `//` or `label` can continue the run.

use std::cell::Cell;

/// Why a run was stopped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The run has spent its fuel.
    Fuel,
    /// A value or a recursion went too deep.
    Depth,
}

/// The stack that a step must leave free: enough for everything between two checks.
const RED_ZONE: usize = if cfg!(debug_assertions) { 640 << 10 } else { 192 << 10 };

/// The initial stack of a run.
pub const RUN_STACK: usize = if cfg!(debug_assertions) { 8 << 20 } else { 2 << 20 };

/// A run that starts with less stack than this gets its own stack.
pub const ENOUGH_STACK: usize = if cfg!(debug_assertions) { 1536 << 10 } else { 768 << 10 };

struct Meter {
    fuel: Cell<u64>,
    stop: Cell<Option<StopReason>>,
    max_depth: Cell<u32>,
    /// The number of the run, for charges that a run pays only once.
    run: Cell<u64>,
    /// Whether a pattern could not be used.
    has_bad_pattern: Cell<bool>,
}

thread_local! {
    static METER: Meter = const {
        Meter {
            fuel: Cell::new(0),
            stop: Cell::new(None),
            max_depth: Cell::new(0),
            run: Cell::new(0),
            has_bad_pattern: Cell::new(false),
        }
    };
}

/// Begins a run.
pub fn begin(fuel: u64, max_depth: u32) {
    METER.with(|meter| {
        meter.fuel.set(fuel);
        meter.stop.set(None);
        meter.max_depth.set(max_depth);
        meter.run.set(meter.run.get().wrapping_add(1));
        meter.has_bad_pattern.set(false);
    });
}

/// Notes that a pattern could not be used in this run.
pub fn note_bad_pattern() {
    METER.with(|meter| meter.has_bad_pattern.set(true));
}

/// Whether a pattern could not be used in this run.
pub fn has_bad_pattern() -> bool {
    METER.with(|meter| meter.has_bad_pattern.get())
}

/// The number of this thread's current run.
pub fn run() -> u64 {
    METER.with(|meter| meter.run.get())
}

/// Why the run was stopped, if it was.
pub fn stopped() -> Option<StopReason> {
    METER.with(|meter| meter.stop.get())
}

/// Stops the run. The first reason is kept.
pub fn stop(why: StopReason) {
    METER.with(|meter| {
        meter.fuel.set(0);
        if meter.stop.get().is_none() {
            meter.stop.set(Some(why));
        }
    });
}

/// Spends `cost`. Returns false if there is not enough fuel, or the run has been stopped.
pub fn charge(cost: u64) -> bool {
    METER.with(|meter| {
        let left = meter.fuel.get().checked_sub(cost);
        meter.fuel.set(left.unwrap_or(0));
        if left.is_some() && meter.stop.get().is_none() {
            return true;
        }
        if meter.stop.get().is_none() {
            meter.stop.set(Some(StopReason::Fuel));
        }
        false
    })
}

/// Spends `cost`, and checks that there is enough stack left.
pub fn step(cost: u64) -> bool {
    if stacker::remaining_stack().is_none_or(|left| left < RED_ZONE) {
        stop(StopReason::Depth);
    }
    charge(cost)
}

/// Stops the run if a value may not have this depth. Returns whether it may.
pub fn check_depth(depth: u32) -> bool {
    let allowed = METER.with(|meter| depth <= meter.max_depth.get());
    if !allowed {
        stop(StopReason::Depth);
    }
    allowed
}

/// The maximum depth of a value.
pub fn max_depth() -> u32 {
    METER.with(|meter| meter.max_depth.get())
}

/// The cost of making, reading or comparing this many bytes.
pub fn of_bytes(bytes: usize) -> u64 {
    1 + bytes as u64 / 16
}

/// Whether there is enough fuel.
pub fn can_charge(cost: u64) -> bool {
    METER.with(|meter| meter.stop.get().is_none() && cost <= meter.fuel.get())
}
