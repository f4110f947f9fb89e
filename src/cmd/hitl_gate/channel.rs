//! Where answers come from that aren't typed at the terminal: `--answers`.

use crate::io::descriptor::Descriptor;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::time::Duration;

/// A file is looked at so often for what was added to it.
const LOOK: Duration = Duration::from_millis(50);

/// A FIFO never ends, whoever opens and closes it; of a file, what is added from now on is read; anything else ends when it does.
///
/// # Errors
/// Where it isn't there, or can't be read.
pub fn open(path: &Path) -> io::Result<Descriptor> {
    let kind = std::fs::metadata(path)?.file_type();
    if kind.is_fifo() {
        let fifo = OpenOptions::new().read(true).write(true).open(path)?;
        return Ok(OwnedFd::from(fifo).into());
    }
    if kind.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let file = File::open(path)?;
    if !kind.is_file() {
        return Ok(OwnedFd::from(file).into());
    }
    follow(file)
}

fn follow(mut file: File) -> io::Result<Descriptor> {
    file.seek(SeekFrom::End(0))?;
    let (read, mut write) = io::pipe()?;
    // It dies with the process; nothing depends on its end.
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        loop {
            match file.read(&mut buffer) {
                Ok(0) => std::thread::sleep(LOOK),
                Ok(read) if write.write_all(&buffer[..read]).is_ok() => {}
                Ok(_) | Err(_) => return,
            }
        }
    });
    Ok(OwnedFd::from(read).into())
}
