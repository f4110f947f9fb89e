//! Checks whether a line is JSON, fast enough for writing logs.
//!
//! No parser that goes from token to token: each block of 64 bytes becomes masks, one for each kind of byte
//! (bit i is byte i), and a rule of the grammar becomes a few operations on masks that hold for the complete block:
//! the inside of strings by xor, adjacency by a shift, the next byte after a run by the carry of an addition. The open
//! state of a block is carried into the next one. Only brackets (kept on a stack), escapes other than
//! `\n`, `\"` and `\\`, and values that are neither string nor plain integer are processed one by one.
//!
//! serde_json's `IgnoredAny` after the depth check would need a tenth of this code, but `jsonl-record` would fall from
//! 0.70 to
//! 0.49 times the speed of `tee` on lines of 196 bytes (0.5 is the goal), and `jsonl-log check` would take up to twice as long.

mod block;
mod nesting;
mod scalar;
#[cfg(test)]
mod tests;

use block::{Block, SIZE};
use fearless_simd::{Level, Simd, dispatch};
pub(crate) use nesting::Nesting;

/// Whether `body` is exactly one JSON value (RFC 8259: in UTF-8, with only JSON's white space around it), and nests
/// arrays and objects at most `max_depth` deep. Half a surrogate pair, as in `"\ud800"`, is accepted, and so is a
/// number beyond the range of a reader's type.
///
/// ```
/// use pipewright_lines::is_json;
/// assert!(is_json(br#"{"a":[1, -2.5e3, "\u00e9\n", true]}"#, 2));
/// assert!(!is_json(br#"{"a":[]}"#, 1), "too deep");
/// assert!(!is_json(br#"{"a":01}"#, 1) && !is_json(b"[1,]", 1) && !is_json(b"{} {}", 1));
/// ```
pub fn is_json(body: &[u8], max_depth: usize) -> bool {
    is_json_at(Level::new(), body, max_depth)
}

/// Uses the vectors of `level`. All code that uses them has to be inlined here, where it is compiled once for each
/// level.
fn is_json_at(level: Level, body: &[u8], max_depth: usize) -> bool {
    dispatch!(level, simd => is_json_with(simd, body, max_depth))
}

#[inline(always)]
fn is_json_with<S: Simd>(simd: S, body: &[u8], max_depth: usize) -> bool {
    let mut check = Check::new(body, max_depth);
    let mut padded = [b' '; SIZE];
    for base in (0..body.len()).step_by(SIZE) {
        let rest = &body[base..];
        let bytes = rest.first_chunk().unwrap_or_else(|| {
            padded[..rest.len()].copy_from_slice(rest);
            &padded
        });
        if !check.block(Block::new(simd, bytes), base) {
            return false;
        }
    }
    check.is_complete() && (!check.foreign || std::str::from_utf8(body).is_ok())
}

/// The state after a block. A field described as a carry is bit 0 of the next block, or zero.
struct Check<'a> {
    body: &'a [u8],
    nesting: Nesting,
    /// All bits if no bracket, comma or colon may follow: the outermost value has ended, or is not an array or object.
    finished: u64,
    /// Whether there was a byte that is not ASCII.
    foreign: bool,
    /// Carry: the byte is escaped.
    escape: u64,
    /// All bits inside a string.
    in_string: u64,
    /// Carry: a value comes next (or the end of an empty array or object).
    value_next: u64,
    /// Carry: the next token is the first in its array or object.
    first_next: u64,
    /// Carry: a string comes next, and then a colon.
    colon_next: u64,
    /// Carry: the byte before belongs to a scalar (a number, `true`, `false` or `null`).
    in_scalar: u64,
    /// Carry: the byte before is a zero at the start of a scalar.
    after_zero: u64,
    /// The end of the last scalar that was checked byte by byte.
    scalar_end: usize,
}

/// The positions of bytes outside of strings and scalars.
struct Structure {
    open: u64,
    close: u64,
    commas: u64,
    colons: u64,
    /// `{` and `}`; may also include other bytes.
    braces: u64,
}

impl Structure {
    #[inline(always)]
    fn new<S: Simd>(block: Block<S>, outside: u64) -> Structure {
        Structure {
            open: block.equal_but_0x20(b'{') & outside,
            close: block.equal_but_0x20(b'}') & outside,
            commas: block.equal(b',') & outside,
            colons: block.equal(b':') & outside,
            braces: block.at_least(b'{'),
        }
    }

    #[inline(always)]
    fn all(&self) -> u64 {
        self.open | self.close | self.commas | self.colons
    }
}

impl<'a> Check<'a> {
    #[inline(always)]
    fn new(body: &'a [u8], max_depth: usize) -> Check<'a> {
        let nests = matches!(body.trim_ascii_start().first(), Some(b'{' | b'['));
        Check {
            body,
            nesting: Nesting::new(max_depth),
            finished: if nests { 0 } else { !0 },
            foreign: false,
            escape: 0,
            in_string: 0,
            value_next: 1,
            first_next: 0,
            colon_next: 0,
            in_scalar: 0,
            after_zero: 0,
            scalar_end: 0,
        }
    }

    #[inline(always)]
    fn is_complete(&self) -> bool {
        self.nesting.is_outermost() && self.in_string == 0 && self.value_next == 0
    }

    /// Takes the next block, which starts at `base`. False if this cannot be JSON.
    #[inline(always)]
    fn block<S: Simd>(&mut self, block: Block<S>, base: usize) -> bool {
        self.foreign |= block.at_least(0x80) != 0;
        let Some(quotes) = self.quotes(block, base) else {
            return false;
        };
        let control = block.below(b' ');
        if quotes == 0 && self.in_string != 0 {
            return control == 0;
        }
        // From each opening quote up to the byte before the closing one.
        let strings = prefix_xor(quotes) ^ self.in_string;
        self.in_string = (strings >> 63).wrapping_neg();
        strings & control == 0 && self.outside(block, base, strings, quotes, control != 0)
    }

    /// The beginnings and ends of strings: the quotes that are not escaped.
    #[inline(always)]
    fn quotes<S: Simd>(&mut self, block: Block<S>, base: usize) -> Option<u64> {
        let quotes = block.equal(b'"');
        let backslashes = block.equal(b'\\');
        if backslashes | self.escape == 0 {
            return Some(quotes);
        }
        let escaped = self.escaped(backslashes);
        let mut unusual = escaped & !(quotes | backslashes | block.equal(b'n'));
        while unusual != 0 {
            if !scalar::is_escape(self.body, base + unusual.trailing_zeros() as usize) {
                return None;
            }
            unusual &= unusual - 1;
        }
        Some(quotes & !escaped)
    }

    /// The bytes after backslashes that are not escaped themselves: in a run of backslashes, every second one.
    #[inline(always)]
    fn escaped(&mut self, backslashes: u64) -> u64 {
        const ODD_BITS: u64 = 0xaaaa_aaaa_aaaa_aaaa;
        let starts = backslashes & !self.escape;
        // The subtraction borrows through each run of backslashes, and changes every second bit of it, up to the
        // byte after it if the length of the run is odd.
        let every_second = ((starts << 1) | ODD_BITS).wrapping_sub(starts) ^ ODD_BITS;
        let escaped = every_second ^ (backslashes | self.escape);
        self.escape = (every_second & backslashes) >> 63;
        escaped
    }

    /// Checks the part of a block outside its strings.
    #[inline(always)]
    fn outside<S: Simd>(&mut self, block: Block<S>, base: usize, strings: u64, quotes: u64, control: bool) -> bool {
        let outside = !(strings | quotes);
        let structure = Structure::new(block, outside);
        let Some(objects) = self.nest(&structure) else {
            return false;
        };
        let digits = block.digits() & outside;
        let rest = outside & !(structure.all() | digits);
        let spaces = if rest == 0 { 0 } else { block.spaces(control) & rest };
        if !self.scalars(rest & !spaces, base) {
            return false;
        }
        let scalars = outside & !(structure.all() | spaces);
        let scalar_starts = scalars & !(scalars << 1 | self.in_scalar);
        self.in_scalar = scalars >> 63;
        // Numbers with more than digits have been checked; for plain integers, check that none begins with a zero.
        let zeros = scalar_starts & block.equal(b'0');
        let leading_zeros = (zeros << 1 | self.after_zero) & digits;
        self.after_zero = zeros >> 63;
        let value_starts = (quotes & strings) | structure.open | scalar_starts;
        leading_zeros == 0 && self.order(&structure, objects, value_starts, scalars, spaces)
    }

    /// Whether the order of values and separators is valid.
    #[inline(always)]
    fn order(&mut self, structure: &Structure, objects: u64, value_starts: u64, scalars: u64, spaces: u64) -> bool {
        let Structure { open, close, commas, colons, braces } = structure;
        // A value starts only after an opening bracket, a comma or a colon.
        let values = next(open | commas | colons, spaces, &mut self.value_next);
        let empty = next(*open, spaces, &mut self.first_next) & close;
        // The members of an object: a string after the brace and after each comma, then a colon. There are no other
        // colons.
        let members = (open & braces) | (commas & objects);
        let named = next(members, !(structure.all() | scalars), &mut self.colon_next);
        values == value_starts | empty && named & !empty == *colons
    }

    /// Tracks the brackets; returns the positions of bytes directly inside an object.
    #[inline(always)]
    fn nest(&mut self, structure: &Structure) -> Option<u64> {
        if structure.all() & self.finished != 0 {
            return None;
        }
        let mut objects = self.nesting.object_mask();
        let mut brackets = structure.open | structure.close;
        while brackets != 0 {
            let bracket = brackets & brackets.wrapping_neg();
            let is_brace = structure.braces & bracket != 0;
            if structure.open & bracket != 0 {
                self.nesting.open(is_brace)?;
            } else {
                self.nesting.close(is_brace)?;
                if self.nesting.is_outermost() {
                    self.finished = !0;
                    if structure.all() & !(bracket | (bracket - 1)) != 0 {
                        return None;
                    }
                }
            }
            let before = bracket - 1;
            objects = (objects & before) | (self.nesting.object_mask() & !before);
            brackets &= brackets - 1;
        }
        Some(objects)
    }

    /// Checks each scalar that contains a byte of `odd`; all bytes of `odd` belong to scalars.
    #[inline(always)]
    fn scalars(&mut self, mut odd: u64, base: usize) -> bool {
        loop {
            let seen = self.scalar_end.saturating_sub(base);
            odd = if seen < SIZE { odd >> seen << seen } else { 0 };
            if odd == 0 {
                return true;
            }
            let at = base + odd.trailing_zeros() as usize;
            match scalar::end_around(self.body, at) {
                Some(end) => self.scalar_end = end,
                None => return false,
            }
        }
    }
}

/// Bit i of the result is the parity of the bits up to i.
#[inline(always)]
fn prefix_xor(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

/// The first position after each bit of `from` that is not in `through`: the carry of the addition runs through a row
/// of ones. A carry out of the block goes into the next. No bit of `from` may be in `through`, so that each has its own
/// row.
#[inline(always)]
fn next(from: u64, through: u64, carry: &mut u64) -> u64 {
    let (sum, overflow) = (from << 1 | *carry).overflowing_add(through);
    *carry = from >> 63 | u64::from(overflow);
    sum & !through
}
