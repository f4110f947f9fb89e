//! Which process started which, as Linux tells in /proc. A process cannot change who it descends from, but for one thing: when its
//! parent ends, it becomes a child of the nearest ancestor that adopts orphans (PR_SET_CHILD_SUBREAPER), else of process 1.
//!
//! Other systems than Linux tell neither; there [`Family::check`] only checks the user.

use super::{peer, terminal};
use nix::unistd::getpid;
use std::io;
use std::os::unix::net::UnixStream;

/// Whether the kernel tells here which process started which.
pub const IS_KNOWN: bool = cfg!(any(target_os = "linux", target_os = "android"));

/// More ancestors than any process has.
const MOST: usize = 4096;

/// This process, and the one that it works for.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    own: i32,
    caller: Option<i32>,
}

impl Family {
    /// The caller is the process that started this one, or the outermost of the wrappers around it. None where that is process 1, from
    /// which every process descends.
    pub fn of_this_process() -> Family {
        let own = getpid().as_raw();
        let caller = caller(&ancestors(own), &std::env::var(terminal::LENDERS).unwrap_or_default());
        Family { own, caller }
    }

    /// The caller's name and process id, for people.
    pub fn caller(&self) -> Option<String> {
        let pid = self.caller?;
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
        Some(format!("{} (process {pid})", name.trim_end()))
    }

    /// Checks that the process that listens at the other end is one of this user, and descends neither from this process nor from its
    /// caller.
    ///
    /// # Errors
    /// `PermissionDenied` where it is not so, or cannot be known.
    pub fn check(&self, stream: &UnixStream) -> io::Result<()> {
        let refused = |why: String| io::Error::new(io::ErrorKind::PermissionDenied, why);
        peer::check_user(stream)?;
        let Some(pid) = peer::process(stream)? else { return Ok(()) };
        let line = [pid].into_iter().chain(ancestors(pid).into_iter().map(|ancestor| ancestor.pid));
        for ancestor in line {
            if ancestor == self.own {
                return Err(refused(format!("process {pid} descends from this command")));
            }
            if Some(ancestor) == self.caller {
                return Err(refused(format!("process {pid} descends from process {ancestor}, which makes the calls")));
            }
        }
        // Its number may have been given to another process since.
        if peer::is_running(stream)? {
            return Ok(());
        }
        Err(refused(format!("process {pid}, which listened there, has ended")))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ancestor {
    pid: i32,
    group: i32,
}

/// From the parent upwards.
fn ancestors(of: i32) -> Vec<Ancestor> {
    let mut found: Vec<Ancestor> = Vec::new();
    let mut next = parent_and_group(of).map(|(parent, _)| parent);
    while let Some(pid) = next.filter(|&pid| pid > 0 && found.len() < MOST) {
        let Some((parent, group)) = parent_and_group(pid) else { break };
        found.push(Ancestor { pid, group });
        next = Some(parent);
    }
    found
}

/// `wrappers` are the process groups of the wrappers around us, outermost first; a name that is no ancestor's group was inherited from
/// elsewhere.
fn caller(ancestors: &[Ancestor], wrappers: &str) -> Option<i32> {
    let of_group = |group: i32| ancestors.iter().position(|ancestor| ancestor.group == group);
    let outermost = wrappers.split(',').filter_map(|group| group.trim().parse().ok()).find_map(of_group);
    let caller = ancestors.get(outermost.map_or(0, |wrapper| wrapper + 1))?;
    (caller.pid > 1).then_some(caller.pid)
}

fn parent_and_group(pid: i32) -> Option<(i32, i32)> {
    let stat = stat(pid)?;
    let mut fields = stat.split_ascii_whitespace().skip(1).map(str::parse);
    Some((fields.next()?.ok()?, fields.next()?.ok()?))
}

/// What /proc says of a process behind its name (proc_pid_stat(5)): its state, its parent, its process group, and so on. None where there
/// is no such process, or no /proc.
pub(super) fn stat(pid: i32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold anything, but no line says more after the last parenthesis.
    Some(stat.rsplit_once(')')?.1.trim_start().to_owned())
}

/// Makes this process the parent of every process that descends from it and whose own parent has ended, and waits for those when they end.
///
/// # Errors
/// What the kernel says to that.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn adopt_orphans() -> io::Result<()> {
    nix::sys::prctl::set_child_subreaper(true)?;
    std::thread::Builder::new().spawn(wait_for_orphans)?;
    Ok(())
}

/// Makes this process the parent of orphans; nothing here.
///
/// # Errors
/// None here.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub fn adopt_orphans() -> io::Result<()> {
    Ok(())
}

/// A child of our own has a thread that waits for it and takes its status at once. What has ended and is still there after this time is an
/// orphan that nobody waits for.
#[cfg(any(target_os = "linux", target_os = "android"))]
const UNCLAIMED: std::time::Duration = std::time::Duration::from_secs(1);

#[cfg(any(target_os = "linux", target_os = "android"))]
fn wait_for_orphans() {
    use nix::sys::wait::{Id, WaitPidFlag, waitid};
    let ended = WaitPidFlag::WEXITED;
    loop {
        // Leaves its status to whoever waits for it.
        let found = waitid(Id::All, ended | WaitPidFlag::WNOWAIT);
        std::thread::sleep(UNCLAIMED);
        if let Some(pid) = found.ok().and_then(|status| status.pid()) {
            // It fails where somebody has waited for it meanwhile.
            let _ = waitid(Id::Pid(pid), ended | WaitPidFlag::WNOHANG);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_caller_is_behind_the_outermost_wrapper() {
        let of = |pid, group| Ancestor { pid, group };
        // A gate in a wrapper (30) in a shell (20), which a wrapper (10) runs; a client (5) started that.
        let line = [of(30, 20), of(20, 20), of(10, 5), of(5, 5), of(1, 1)];
        assert_eq!(caller(&line, "5,20"), Some(5));
        assert_eq!(caller(&line, "999,20"), Some(20), "a group that is no ancestor's says nothing");
        assert_eq!(caller(&line, ""), Some(30));
        assert_eq!(caller(&line, "1"), None);
        assert_eq!(caller(&[of(1, 1)], ""), None, "everything descends from process 1");
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
