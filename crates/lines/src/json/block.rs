//! Sixty-four bytes at once: a test of all of them gives a mask whose bit i is the result for byte i.

use fearless_simd::prelude::*;
use fearless_simd::u8x64;

/// The number of bytes in a block, which is the number of bits in a mask.
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

    /// The positions of `byte`.
    #[inline(always)]
    pub fn equal(self, byte: u8) -> u64 {
        self.bytes.simd_eq(self.all(byte)).to_bitmask()
    }

    /// The positions of `byte`, or of `byte` without the bit 0x20, which is the only difference between braces and
    /// square brackets.
    #[inline(always)]
    pub fn equal_but_0x20(self, byte: u8) -> u64 {
        (self.bytes | self.all(0x20)).simd_eq(self.all(byte)).to_bitmask()
    }

    /// The positions of bytes that are at least `byte`.
    #[inline(always)]
    pub fn at_least(self, byte: u8) -> u64 {
        self.bytes.simd_ge(self.all(byte)).to_bitmask()
    }

    /// The positions of bytes less than `byte`.
    #[inline(always)]
    pub fn below(self, byte: u8) -> u64 {
        self.bytes.simd_lt(self.all(byte)).to_bitmask()
    }

    /// The positions of ASCII digits.
    #[inline(always)]
    pub fn digits(self) -> u64 {
        // Bytes below '0' wrap around.
        (self.bytes - self.all(b'0')).simd_le(self.all(9)).to_bitmask()
    }

    /// The positions of JSON's white space. All except the space itself are control characters.
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
