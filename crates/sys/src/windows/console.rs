//! A console's text: UTF-16 on its side, UTF-8 on ours.
#![allow(unsafe_code)]

use super::checked;
use std::fs::File;
use std::io;
use std::os::windows::io::AsRawHandle;
use std::ptr;
use windows_sys::Win32::System::Console::{
    CONSOLE_MODE, GetConsoleMode, GetNumberOfConsoleInputEvents, ReadConsoleW, SetConsoleMode, WriteConsoleW,
};

/// Which console a handle is, if it is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Input,
    Output,
}

/// Which console it is.
pub(super) fn kind(of: &File) -> Option<Kind> {
    mode(of).ok()?;
    let mut events = 0;
    // SAFETY: the handle is open as long as it is borrowed, and there is a place for the result.
    let is_input = unsafe { GetNumberOfConsoleInputEvents(of.as_raw_handle(), &raw mut events) } != 0;
    Some(if is_input { Kind::Input } else { Kind::Output })
}

/// The mode of a console.
///
/// # Errors
/// If it is none.
pub(super) fn mode(of: &File) -> io::Result<CONSOLE_MODE> {
    let mut mode = 0;
    // SAFETY: the handle is open as long as it is borrowed, and there is a place for the result.
    checked(unsafe { GetConsoleMode(of.as_raw_handle(), &raw mut mode) })?;
    Ok(mode)
}

/// Sets the mode of a console.
///
/// # Errors
/// Any error of the system.
pub(super) fn set_mode(of: &File, mode: CONSOLE_MODE) -> io::Result<()> {
    // SAFETY: the handle is open as long as it is borrowed.
    checked(unsafe { SetConsoleMode(of.as_raw_handle(), mode) })
}

/// What was typed and is not taken yet.
#[derive(Debug, Default)]
pub(super) struct Typed {
    bytes: Vec<u8>,
    /// The first half of a surrogate pair.
    half: Option<u16>,
}

/// Ctrl-Z at the beginning of a line means the end of the input.
const END: u8 = 0x1a;

impl Typed {
    /// Waits for text, and puts some of it into the buffer. 0 bytes mean the end.
    ///
    /// # Errors
    /// Any error of the system.
    pub(super) fn read(&mut self, from: &File, buffer: &mut [u8]) -> io::Result<usize> {
        while self.bytes.is_empty() {
            let (mut units, mut count) = ([0_u16; 512], 0);
            // SAFETY: the handle is open as long as it is borrowed, and the count is that of the places for the result.
            checked(unsafe {
                ReadConsoleW(
                    from.as_raw_handle(),
                    units.as_mut_ptr().cast(),
                    units.len() as u32,
                    &raw mut count,
                    ptr::null(),
                )
            })?;
            if count == 0 {
                return Ok(0);
            }
            self.take(&units[..count as usize]);
        }
        if self.bytes[0] == END {
            self.bytes.clear();
            return Ok(0);
        }
        let count = buffer.len().min(self.bytes.len());
        buffer[..count].copy_from_slice(&self.bytes[..count]);
        self.bytes.drain(..count);
        Ok(count)
    }

    fn take(&mut self, units: &[u16]) {
        let mut units: Vec<u16> = self.half.take().into_iter().chain(units.iter().copied()).collect();
        if units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit)) {
            self.half = units.pop();
        }
        self.bytes.extend_from_slice(String::from_utf16_lossy(&units).as_bytes());
    }
}

/// What was written and is no whole character yet.
#[derive(Debug, Default)]
pub(super) struct Unshown(Vec<u8>);

impl Unshown {
    /// Shows text, up to the last whole character. Bytes that are not UTF-8 become replacement characters.
    ///
    /// # Errors
    /// Any error of the system.
    pub(super) fn write(&mut self, to: &File, bytes: &[u8]) -> io::Result<()> {
        self.0.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.0) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.0.len(),
        };
        let units: Vec<u16> = String::from_utf8_lossy(&self.0[..whole]).encode_utf16().collect();
        self.0.drain(..whole);
        let mut rest = &units[..];
        while !rest.is_empty() {
            let (most, mut count) = (rest.len().min(8192), 0);
            // SAFETY: the handle is open as long as it is borrowed, and `most` units can be read.
            checked(unsafe {
                WriteConsoleW(to.as_raw_handle(), rest.as_ptr(), most as u32, &raw mut count, ptr::null())
            })?;
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            rest = &rest[count as usize..];
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_that_comes_in_two_halves_is_one_character() {
        let mut typed = Typed::default();
        let units: Vec<u16> = "\u{1f600}\r\n".encode_utf16().collect();
        typed.take(&units[..1]);
        assert!(typed.bytes.is_empty());
        typed.take(&units[1..]);
        assert_eq!(typed.bytes, "\u{1f600}\r\n".as_bytes());
    }
}
