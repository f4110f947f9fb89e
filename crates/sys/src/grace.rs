//! How long children may take to end.

use crate::terminal;
use std::time::Duration;

/// How long a child may take to end by itself after its stdin is closed, and again after it was asked to end. Both together stay well
/// under the two seconds after which the Spire mod kills us. If a signal hurries us, each inner wrapper takes a
/// third of the time of the next outer one, so that it has ended its own child, in both steps, before it is killed itself.
pub fn grace(hurried: bool) -> Duration {
    let outer = if hurried { terminal::lenders().matches(',').count().min(3) as u32 } else { 0 };
    Duration::from_millis(600) / 3u32.pow(outer)
}
