//! The stack of open arrays and objects.

/// A bit for each open bracket, 1 for a brace. At most 64 of the innermost are in one word; the outer ones are stored
/// away.
#[derive(Debug)]
pub struct Nesting {
    depth: usize,
    max_depth: usize,
    inner: u64,
    outer: Vec<u64>,
}

impl Nesting {
    #[inline(always)]
    pub fn new(max_depth: usize) -> Nesting {
        Nesting { depth: 0, max_depth, inner: 0, outer: Vec::new() }
    }

    #[inline(always)]
    pub fn is_outermost(&self) -> bool {
        self.depth == 0
    }

    /// Whether the innermost is an object.
    #[inline(always)]
    pub fn is_object(&self) -> bool {
        self.inner & 1 == 1
    }

    /// All bits if the innermost is an object; none if it is an array, or nothing is open.
    #[inline(always)]
    pub fn object_mask(&self) -> u64 {
        (self.inner & 1).wrapping_neg()
    }

    /// `None` if that is too deep.
    #[inline(always)]
    pub fn open(&mut self, brace: bool) -> Option<()> {
        if self.depth == self.max_depth {
            return None;
        }
        if self.is_full() {
            self.put_away();
        }
        self.inner = self.inner << 1 | u64::from(brace);
        self.depth += 1;
        Some(())
    }

    /// `None` if the innermost is of the other kind, or nothing is open.
    #[inline(always)]
    pub fn close(&mut self, brace: bool) -> Option<()> {
        if self.depth == 0 || self.inner & 1 != u64::from(brace) {
            return None;
        }
        self.inner >>= 1;
        self.depth -= 1;
        if self.is_full() {
            self.inner = self.outer.pop().unwrap_or_default();
        }
        Some(())
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        self.depth.is_multiple_of(64) && self.depth != 0
    }

    #[cold]
    fn put_away(&mut self) {
        self.outer.push(self.inner);
    }
}
