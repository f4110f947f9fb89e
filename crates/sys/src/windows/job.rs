//! A job: a process and all that it starts, which end together.
#![allow(unsafe_code)]

use super::checked;
use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::process::Child;
use std::ptr;
use windows_sys::Win32::Foundation::INVALID_HANDLE_VALUE;
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, TH32CS_SNAPTHREAD, THREADENTRY32, Thread32First, Thread32Next,
};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_BASIC_ACCOUNTING_INFORMATION, JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectBasicAccountingInformation,
    JobObjectExtendedLimitInformation, QueryInformationJobObject, SetInformationJobObject, TerminateJobObject,
};
use windows_sys::Win32::System::Threading::{OpenThread, ResumeThread, THREAD_SUSPEND_RESUME};

/// The exit status of processes that are ended with their job: that of SIGKILL in a shell.
const KILLED: u32 = 137;

/// All its processes end when this is dropped, also if our process ends without doing that.
#[derive(Debug)]
pub(super) struct Job(OwnedHandle);

impl Job {
    /// A job without processes.
    ///
    /// # Errors
    /// Any error of the system.
    pub(super) fn new() -> io::Result<Job> {
        // SAFETY: without attributes and a name, the call only gives a new handle.
        let handle = unsafe { CreateJobObjectW(ptr::null(), ptr::null()) };
        if handle.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the call has just given us this handle, and nobody else has it.
        let job = Job(unsafe { OwnedHandle::from_raw_handle(handle) });
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        let size = size_of::<JOBOBJECT_EXTENDED_LIMIT_INFORMATION>() as u32;
        // SAFETY: the handle is open, and the size is that of the value that the call reads.
        checked(unsafe {
            SetInformationJobObject(
                job.0.as_raw_handle(),
                JobObjectExtendedLimitInformation,
                (&raw const limits).cast(),
                size,
            )
        })?;
        Ok(job)
    }

    /// Takes in a child that was started suspended, and lets it run.
    ///
    /// # Errors
    /// Any error of the system.
    pub(super) fn take_in(&self, child: &Child) -> io::Result<()> {
        // SAFETY: both handles are open as long as they are borrowed.
        checked(unsafe { AssignProcessToJobObject(self.0.as_raw_handle(), child.as_raw_handle()) })?;
        resume(child.id())
    }

    /// Ends all its processes.
    pub(super) fn kill(&self) {
        // This fails only if they are ending already.
        // SAFETY: the handle is open.
        let _ = unsafe { TerminateJobObject(self.0.as_raw_handle(), KILLED) };
    }

    /// Whether any of its processes runs.
    pub(super) fn is_running(&self) -> bool {
        let mut about = JOBOBJECT_BASIC_ACCOUNTING_INFORMATION::default();
        let size = size_of::<JOBOBJECT_BASIC_ACCOUNTING_INFORMATION>() as u32;
        // SAFETY: the handle is open, and the size is that of the place for the result.
        let asked = checked(unsafe {
            QueryInformationJobObject(
                self.0.as_raw_handle(),
                JobObjectBasicAccountingInformation,
                (&raw mut about).cast(),
                size,
                ptr::null_mut(),
            )
        });
        asked.is_ok() && about.ActiveProcesses > 0
    }
}

/// Lets the threads of a process run that was started suspended. The standard library does not keep the handle of its first one.
fn resume(process: u32) -> io::Result<()> {
    // SAFETY: the call only gives a new handle.
    let threads = unsafe { CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0) };
    if threads == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has just given us this handle, and nobody else has it.
    let threads = unsafe { OwnedHandle::from_raw_handle(threads) };
    let mut entry = THREADENTRY32 { dwSize: size_of::<THREADENTRY32>() as u32, ..THREADENTRY32::default() };
    // SAFETY: the handle is open, and the entry has its size in it, as the call requires.
    let mut next = unsafe { Thread32First(threads.as_raw_handle(), &raw mut entry) };
    while next != 0 {
        if entry.th32OwnerProcessID == process {
            resume_thread(entry.th32ThreadID)?;
        }
        // SAFETY: as for the first entry.
        next = unsafe { Thread32Next(threads.as_raw_handle(), &raw mut entry) };
    }
    Ok(())
}

fn resume_thread(id: u32) -> io::Result<()> {
    // SAFETY: the call only gives a new handle.
    let thread = unsafe { OpenThread(THREAD_SUSPEND_RESUME, 0, id) };
    if thread.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has just given us this handle, and nobody else has it.
    let thread = unsafe { OwnedHandle::from_raw_handle(thread) };
    // SAFETY: the handle is open.
    if unsafe { ResumeThread(thread.as_raw_handle()) } == u32::MAX { Err(io::Error::last_os_error()) } else { Ok(()) }
}
