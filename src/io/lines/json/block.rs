//! Sixty-four bytes at once: a question is asked of all of them, and the answer is a mask whose bit i is byte i's.

use fearless_simd::prelude::*;
use fearless_simd::u8x64;

/// How many bytes a block has: as many as a mask has bits.
pub const SIZE: usize = 64;

#[derive(Clone, Copy)]
pub struct Block<S: Simd> {
    simd: S,
    bytes: u8x64<S>,
}

impl<S: Simd> Block<S> {
    #[inline(always)]
    pub fn new(simd: S, bytes: &[u8; SIZE]) -> Block<S> {
        Block { simd, bytes: (*bytes).simd_into(simd) }
    }

    /// Where `byte` stands.
    #[inline(always)]
    pub fn equal(self, byte: u8) -> u64 {
        self.bytes.simd_eq(self.all(byte)).to_bitmask()
    }

    /// Where `byte` stands, or what it is without the bit 0x20: all that makes a brace of a square bracket.
    #[inline(always)]
    pub fn equal_but_0x20(self, byte: u8) -> u64 {
        (self.bytes | self.all(0x20)).simd_eq(self.all(byte)).to_bitmask()
    }

    /// Where a byte is no less than `byte`.
    #[inline(always)]
    pub fn at_least(self, byte: u8) -> u64 {
        self.bytes.simd_ge(self.all(byte)).to_bitmask()
    }

    /// Where a byte is less than `byte`.
    #[inline(always)]
    pub fn below(self, byte: u8) -> u64 {
        self.bytes.simd_lt(self.all(byte)).to_bitmask()
    }

    /// Where ASCII digits stand.
    #[inline(always)]
    pub fn digits(self) -> u64 {
        // What is below '0' wraps around.
        (self.bytes - self.all(b'0')).simd_le(self.all(9)).to_bitmask()
    }

    /// Where JSON's white space stands. All but the space itself are control characters.
    #[inline(always)]
    pub fn spaces(self, control: bool) -> u64 {
        let others = if control { self.equal(b'\t') | self.equal(b'\n') | self.equal(b'\r') } else { 0 };
        self.equal(b' ') | others
    }

    #[inline(always)]
    fn all(self, byte: u8) -> u8x64<S> {
        u8x64::splat(self.simd, byte)
    }
}
