//! Handles: a file, a pipe, a console. A console takes and gives UTF-8 here.
#![allow(unsafe_code)]

use super::console::{Kind, Typed, Unshown, kind};
pub use crate::about::About;

use super::file::{State, is_on_disk};
use std::fs::File;
use std::io::{self, Read, Write};
/// What has a handle: a file, a pipe, a console.
pub use std::os::windows::io::AsHandle as AsDescriptor;
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, OwnedHandle};
use std::ptr;
use std::thread;
use std::time::{Duration, Instant};
use windows_sys::Wdk::Storage::FileSystem::{
    FILE_PIPE_LOCAL_INFORMATION, FilePipeLocalInformation, NtQueryInformationFile,
};
use windows_sys::Win32::Foundation::{ERROR_BROKEN_PIPE, ERROR_NO_DATA, ERROR_PIPE_NOT_CONNECTED};
use windows_sys::Win32::Storage::FileSystem::{FILE_TYPE_PIPE, GetFileType};
use windows_sys::Win32::System::Console::{STD_INPUT_HANDLE, SetStdHandle};
use windows_sys::Win32::System::IO::IO_STATUS_BLOCK;
use windows_sys::Win32::System::Pipes::PeekNamedPipe;

/// A handle to read from or write to.
#[derive(Debug)]
pub struct Descriptor {
    file: File,
    console: Option<Console>,
}

#[derive(Debug)]
enum Console {
    Input(Typed),
    Output(Unshown),
    /// The console of a person, which is two files: what is shown goes to the other one.
    Both(Typed, File, Unshown),
}

/// Our standard input.
///
/// # Errors
/// If the process has no handle left.
pub fn stdin() -> io::Result<Descriptor> {
    Descriptor::copy(io::stdin())
}

/// Closes our standard input, so that its writer gets a broken pipe once no other thread here reads it.
pub fn close_stdin() {
    // SAFETY: std holds no copy of the handle: it asks for it at each use, and finds none then.
    unsafe {
        let stdin = io::stdin().as_raw_handle();
        if SetStdHandle(STD_INPUT_HANDLE, ptr::null_mut()) != 0 && !stdin.is_null() {
            windows_sys::Win32::Foundation::CloseHandle(stdin);
        }
    }
}

/// Our standard output.
///
/// # Errors
/// If the process has no handle left.
pub fn stdout() -> io::Result<Descriptor> {
    Descriptor::copy(io::stdout())
}

/// Whether our standard output is known to be the null device. Here a closed one is none.
///
/// # Errors
/// None here.
pub fn stdout_is_null_device() -> io::Result<bool> {
    Ok(false)
}

/// Our standard error, for the stderr of a child.
///
/// # Errors
/// If the process has no handle left.
pub fn stderr() -> io::Result<Descriptor> {
    Descriptor::copy(io::stderr())
}

impl AsHandle for Descriptor {
    fn as_handle(&self) -> BorrowedHandle<'_> {
        self.file.as_handle()
    }
}

impl Descriptor {
    /// That of a file, a pipe or the like.
    pub fn new(of: impl Into<OwnedHandle>) -> Descriptor {
        let file = File::from(of.into());
        let console = kind(&file).map(|kind| match kind {
            Kind::Input => Console::Input(Typed::default()),
            Kind::Output => Console::Output(Unshown::default()),
        });
        Descriptor { file, console }
    }

    /// The two files of a console.
    pub(super) fn of_console(input: File, output: File) -> Descriptor {
        let console = Console::Both(Typed::default(), output, Unshown::default());
        Descriptor { file: input, console: Some(console) }
    }

    /// Another handle of the same file, pipe or the like.
    ///
    /// # Errors
    /// If the process has no handle left.
    pub fn copy(of: impl AsDescriptor) -> io::Result<Descriptor> {
        Ok(Descriptor::new(of.as_handle().try_clone_to_owned()?))
    }

    /// It as a file.
    pub fn into_file(self) -> File {
        self.file
    }

    /// What the system says about it. Folders cannot be opened to read.
    ///
    /// # Errors
    /// Any error of the system.
    pub fn about(&self) -> io::Result<About> {
        let length = is_on_disk(self).then(|| State::of(&self.file)).transpose()?.map(|state| state.length);
        Ok(About { is_folder: false, length })
    }

    /// Closes it.
    pub fn close(self) {}

    /// Returns false: Windows does not tell when the other end of a pipe is closed before it is read or written.
    pub fn wait_for_hang_up(&self, _: bool) -> bool {
        false
    }

    /// Whether a small write (4096 bytes) would not block, because there is room. False if that is not known.
    pub fn takes_a_little(&self) -> bool {
        const LITTLE: u32 = 4096;
        if !is_pipe(self) {
            return true;
        }
        let (mut status, mut about) = (IO_STATUS_BLOCK::default(), FILE_PIPE_LOCAL_INFORMATION::default());
        // SAFETY: the handle is open, and the size is that of the place for the result.
        let asked = unsafe {
            NtQueryInformationFile(
                self.file.as_raw_handle(),
                &raw mut status,
                (&raw mut about).cast(),
                size_of::<FILE_PIPE_LOCAL_INFORMATION>() as u32,
                FilePipeLocalInformation,
            )
        };
        asked == 0 && about.WriteQuotaAvailable >= LITTLE
    }
}

fn is_pipe(of: &impl AsDescriptor) -> bool {
    // SAFETY: the handle is open as long as it is borrowed.
    unsafe { GetFileType(of.as_handle().as_raw_handle()) == FILE_TYPE_PIPE }
}

/// How often to look whether a pipe has something: nothing on Windows waits for that.
const LOOK: Duration = Duration::from_millis(5);

/// Waits at most this long for input or the end of it; returns whether it came. Only for a pipe that no other thread reads.
pub fn wait_readable(from: &impl AsDescriptor, time: Duration) -> bool {
    let begun = Instant::now();
    while is_pipe(from) && !has_input(from) {
        if begun.elapsed() >= time {
            return false;
        }
        thread::sleep(LOOK);
    }
    true
}

fn has_input(pipe: &impl AsDescriptor) -> bool {
    let (none, mut count) = (ptr::null_mut(), 0);
    let pipe = pipe.as_handle().as_raw_handle();
    // SAFETY: the handle is open as long as it is borrowed, and there is a place for the only result that is asked for.
    let peeked = unsafe { PeekNamedPipe(pipe, ptr::null_mut(), 0, none, &raw mut count, none) };
    // If it fails, the read that follows reports why.
    peeked == 0 || count > 0
}

/// Whether the other end of a pipe was closed: "the pipe has been ended", "is being closed", "no process is on the other end".
fn is_closed(error: &io::Error) -> bool {
    let closed = [ERROR_BROKEN_PIPE, ERROR_NO_DATA, ERROR_PIPE_NOT_CONNECTED].map(|code| code as i32);
    error.raw_os_error().is_some_and(|code| closed.contains(&code))
}

impl Read for Descriptor {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match &mut self.console {
            Some(Console::Input(typed) | Console::Both(typed, ..)) => typed.read(&self.file, buffer),
            _ => self.file.read(buffer),
        };
        match read {
            Err(error) if is_closed(&error) => Ok(0),
            read => read,
        }
    }
}

impl Write for Descriptor {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.console {
            Some(Console::Output(unshown)) => unshown.write(&self.file, bytes).map(|()| bytes.len()),
            Some(Console::Both(_, output, unshown)) => unshown.write(output, bytes).map(|()| bytes.len()),
            _ => self.file.write(bytes),
        };
        written.map_err(|error| if is_closed(&error) { io::ErrorKind::BrokenPipe.into() } else { error })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
