//! The size of a terminal.

use crate::descriptor::AsDescriptor;

/// The width in columns of a descriptor: that of the terminal if it is one, or COLUMNS, or 80.
pub fn width(of: impl AsDescriptor) -> usize {
    let own = terminal_size::terminal_size_of(of).map(|(width, _)| usize::from(width.0));
    let asked = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|&width| width > 0);
    own.filter(|&width| width > 0).or_else(asked).unwrap_or(80)
}

/// The rows of a descriptor: those of the terminal if it is one, or 24.
pub fn height(of: impl AsDescriptor) -> usize {
    let own = terminal_size::terminal_size_of(of).map(|(_, height)| usize::from(height.0));
    own.filter(|&height| height > 0).unwrap_or(24)
}
