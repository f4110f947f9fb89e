//! Which process started which, read from /proc on Linux. A process cannot change its ancestors, with one exception: when its
//! parent ends, it becomes a child of the nearest ancestor that adopts orphans (PR_SET_CHILD_SUBREAPER), or of process 1.
//!
//! Systems other than Linux do not provide this. There, [`Family::check`] only checks the user.

use super::table::{self, Entry};
use crate::{socket, terminal};
use nix::unistd::{getpgrp, getpid};
use std::io;

/// Whether this system provides the ancestors of a process.
pub const IS_KNOWN: bool = table::IS_KNOWN;

/// A limit above the number of ancestors of any process.
const MOST: usize = 4096;

/// This process and its caller, the process that it works for.
///
/// The caller is
/// 1. the process that started this one, or the outermost of the wrappers around it ([`terminal::LENDERS`]);
/// 2. if that is a shell that runs a script, the process that started the shell, and so on. A shell runs a script if it puts its
///    children into its own process group; an interactive shell, from which a person starts pipelines, gives each pipeline its own
///    group. The search ends at a shell that a terminal emulator has started (it leads a session that has a terminal), because all
///    windows share the emulator;
/// 3. never process 1, from which every process descends: in that case the last process before it.
///
/// A false value of the variable only moves the caller outwards: then more processes are refused, and no additional one is accepted.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    own: i32,
    caller: Option<i32>,
}

impl Family {
    /// There is no caller if process 1 has started this process.
    pub fn of_this_process() -> Family {
        let own = getpid().as_raw();
        let wrappers = std::env::var(terminal::LENDERS).unwrap_or_default();
        let caller = caller(getpgrp().as_raw(), &ancestors(own), &wrappers, runs_shell);
        Family { own, caller }
    }

    /// The caller's name and process id, for people.
    pub fn caller(&self) -> Option<String> {
        let pid = self.caller?;
        Some(format!("{} (process {pid})", name(pid)?))
    }

    /// Checks that the process that listens at the other end belongs to this user, and descends neither from this process nor from
    /// its caller. If the place was named to this process (`is_named`), the listener must be an ancestor: an ancestor has started
    /// this command with its options and environment, and could as well not have started it. No other process is accepted there,
    /// because a leftover process of a world, which descends from neither any more, could listen there too.
    ///
    /// # Errors
    /// `PermissionDenied` if the check fails, or is not possible.
    pub fn check(&self, stream: &socket::Stream, is_named: bool) -> io::Result<()> {
        let refused = |why: String| io::Error::new(io::ErrorKind::PermissionDenied, why);
        socket::check_user(stream)?;
        let Some(pid) = socket::process(stream)? else { return Ok(()) };
        let is_ancestor = is_named && ancestors(self.own).iter().any(|ancestor| ancestor.pid == pid);
        let line = [pid].into_iter().chain(ancestors(pid).into_iter().map(|ancestor| ancestor.pid));
        for ancestor in line.filter(|_| !is_ancestor) {
            if ancestor == self.own {
                return Err(refused(format!("process {pid} descends from this command")));
            }
            if Some(ancestor) == self.caller {
                return Err(refused(format!("process {pid} descends from process {ancestor}, which makes the calls")));
            }
        }
        // The process id may have been reused since.
        if !socket::is_running(stream)? {
            return Err(refused(format!("process {pid}, which listened there, has ended")));
        }
        if is_named && !is_ancestor {
            return Err(refused(format!("process {pid} has not started this command")));
        }
        Ok(())
    }
}

/// The name of a process, which the process can choose, for people. `None` if there is no such process, or the system does not tell.
pub fn name(pid: i32) -> Option<String> {
    table::name(pid)
}

/// From the parent upwards.
fn ancestors(of: i32) -> Vec<Entry> {
    let mut found: Vec<Entry> = Vec::new();
    let mut next = table::entry(of).map(|own| own.parent);
    while let Some(ancestor) = next.filter(|&pid| pid > 0 && found.len() < MOST).and_then(table::entry) {
        next = Some(ancestor.parent);
        found.push(ancestor);
    }
    found
}

/// `group` is that of this process. `wrappers` lists the process groups of the wrappers around us, outermost first; a group that is
/// not an ancestor's was inherited from elsewhere.
fn caller(group: i32, ancestors: &[Entry], wrappers: &str, is_shell: impl Fn(i32) -> bool) -> Option<i32> {
    let above_first = ancestors.iter().take_while(|ancestor| ancestor.pid > 1).count();
    let of_group = |group: i32| ancestors.iter().position(|ancestor| ancestor.group == group);
    let outermost = wrappers.split(',').filter_map(|group| group.trim().parse().ok()).find_map(of_group);
    let mut caller = outermost.map_or(0, |wrapper| wrapper + 1);
    let group_below = |index: usize| index.checked_sub(1).map_or(group, |below| ancestors[below].group);
    while let Some(shell) = ancestors[..above_first].get(caller)
        && shell.group == group_below(caller)
        && !(shell.session == shell.pid && shell.has_terminal)
        && is_shell(shell.pid)
    {
        caller += 1;
    }
    let last = above_first.checked_sub(1)?;
    Some(ancestors[caller.min(last)].pid)
}

/// Whether a process runs a shell, by its executable: the name of a process that runs a script is that of the script.
fn runs_shell(pid: i32) -> bool {
    const SHELLS: [&str; 9] = ["ash", "bash", "busybox", "dash", "fish", "ksh", "mksh", "sh", "zsh"];
    let program = table::executable(pid);
    program.is_some_and(|path| path.file_name().is_some_and(|name| SHELLS.iter().any(|shell| name == *shell)))
}

/// Makes this process the parent of its descendants whose own parent has ended, and reaps them when they end.
///
/// # Errors
/// The error of the kernel.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn adopt_orphans() -> io::Result<()> {
    nix::sys::prctl::set_child_subreaper(true)?;
    std::thread::Builder::new().spawn(wait_for_orphans)?;
    Ok(())
}

/// Does nothing on this system.
///
/// # Errors
/// None on this system.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub fn adopt_orphans() -> io::Result<()> {
    Ok(())
}

/// Each child of our own has a thread that waits for it and takes its status at once. A process that has ended and was not reaped
/// after this time is an orphan.
#[cfg(any(target_os = "linux", target_os = "android"))]
const UNCLAIMED: std::time::Duration = std::time::Duration::from_secs(1);

#[cfg(any(target_os = "linux", target_os = "android"))]
fn wait_for_orphans() {
    use nix::sys::wait::{Id, WaitPidFlag, waitid};
    let ended = WaitPidFlag::WEXITED;
    loop {
        // Leaves the status for a waiting thread.
        let found = waitid(Id::All, ended | WaitPidFlag::WNOWAIT);
        std::thread::sleep(UNCLAIMED);
        if let Some(pid) = found.ok().and_then(|status| status.pid()) {
            // This fails if a thread has reaped it meanwhile.
            let _ = waitid(Id::Pid(pid), ended | WaitPidFlag::WNOHANG);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn of(pid: i32, group: i32) -> Entry {
        Entry { pid, parent: 0, group, session: 1, has_terminal: true }
    }

    #[test]
    fn the_caller_is_the_process_that_started_the_outermost_wrapper() {
        // A gate in a wrapper (30) in another (20), which a third (10) runs; a client (5) started that.
        let line = [of(30, 20), of(20, 20), of(10, 4), of(5, 4), of(1, 1)];
        let caller = |wrappers: &str| caller(30, &line, wrappers, |_| false);
        assert_eq!(caller("4,20"), Some(5));
        assert_eq!(caller("999,20"), Some(20), "a group that is not an ancestor's is ignored");
        assert_eq!(caller(""), Some(30));
        assert_eq!(caller("1"), Some(5), "everything descends from process 1");
    }

    #[test]
    fn a_wrapper_started_by_process_1_is_the_caller() {
        let line = [of(30, 30), of(20, 20), of(1, 1)];
        assert_eq!(caller(30, &line, "20", |_| false), Some(20));
        assert_eq!(caller(30, &[of(1, 1)], "", |_| false), None);
    }

    #[test]
    fn the_process_that_started_a_shell_for_a_script_is_the_caller() {
        let is_shell = |pid| pid >= 20;
        let script = of(20, 20);
        let (interactive, client) = (of(21, 21), of(9, 9));
        assert_eq!(caller(20, &[script, client, of(1, 1)], "", is_shell), Some(9));
        assert_eq!(caller(20, &[of(22, 20), script, client, of(1, 1)], "", is_shell), Some(9));
        assert_eq!(caller(20, &[script, interactive, client, of(1, 1)], "", is_shell), Some(21), "of a person");
        assert_eq!(caller(30, &[interactive, client, of(1, 1)], "", is_shell), Some(21), "a pipeline of a person");
        assert_eq!(caller(20, &[script, of(1, 1)], "", is_shell), Some(20));
        let alone = Entry { session: 20, ..script };
        assert_eq!(caller(20, &[alone, client, of(1, 1)], "", is_shell), Some(20), "in a window of its own");
        let detached = Entry { has_terminal: false, ..alone };
        assert_eq!(caller(20, &[detached, client, of(1, 1)], "", is_shell), Some(9), "in a session of the client's");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn our_own_child_descends_from_us() {
        let mut child = std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        assert_eq!(ancestors(pid)[0].pid, getpid().as_raw());
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(ancestors(pid).is_empty());
    }
}
