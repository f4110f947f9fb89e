//! The own tools of harnesses, by what they do.

/// What a harness's own tool does, for a policy that could not tell from its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnToolUse {
    /// Writes a plan or a note for itself, asks its user, or starts an agent whose calls are judged one by one.
    Notes,
    /// Only reads.
    Reads,
    /// Runs shell text. These further arguments, in lower case and without punctuation, do not change what runs.
    Runs(&'static [&'static str]),
    /// Reads pages, whose addresses may be within a text.
    Fetches,
}
