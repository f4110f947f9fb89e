"""Logs that are followed while they are written, through every rotation."""

import glob
import json
import os

DECODER = json.JSONDecoder()
# Where the first line of a file has its number.
BEGINNING = 200
# So often is looked for the next file of a log.
TRIES = 200


class Log:
    """A log of jsonl-record. `take(direction, message)` gets each message with its bytes, `fail(why)` each number that is left out."""

    def __init__(self, path, take, fail):
        self.path, self.take, self.fail = path, take, fail
        self.file, self.rest, self.number, self.messages, self.tries = None, b"", None, 0, 0

    def look(self):
        """Reads what is new."""
        while True:
            if self.file is None and not self.open_next():
                return
            # Looked at before the end is read: nothing is written to a file once another has its name.
            is_left = self.is_left()
            while read := self.file.read(1 << 18):
                *lines, self.rest = (self.rest + read).split(b"\n")
                for line in lines:
                    self.line(line)
            if not is_left:
                return
            if self.rest:
                self.fail(f"{self.path}: a rotated file ends within a line")
            self.file.close()
            self.file, self.rest = None, b""

    def open_next(self):
        """The file that goes on where the last one ended: the log may have been rotated several times since. It may not be there
        yet; where it doesn't come, something is missing, and the file that has the name is read."""
        due = b"" if self.number is None else b'"seq":%d,' % (self.number + 1)
        self.tries += 1
        for path in [self.path, *glob.glob(f"{self.path}.*")]:
            try:
                file = open(path, "rb", buffering=0)
            except FileNotFoundError:
                continue
            if due in file.read(BEGINNING) or path == self.path and self.tries > TRIES:
                file.seek(0)
                self.file, self.tries = file, 0
                return True
            file.close()
        return False

    def is_left(self):
        try:
            return os.stat(self.path).st_ino != os.fstat(self.file.fileno()).st_ino
        except FileNotFoundError:
            return False

    def line(self, line):
        try:
            said = json.loads(line)
            number = said["seq"]
        except (ValueError, KeyError) as error:
            return self.fail(f"{self.path}: a line can't be read ({error}): {line[:200]!r}")
        if self.number is not None and number != self.number + 1:
            self.fail(f"{self.path}: seq {number} follows {self.number}")
        self.number = number
        if said.get("lost"):
            self.fail(f"{self.path}: the recorder has lost {said['lost']} messages")
        if "msg" in said:
            self.messages += 1
            text = line.decode()
            start = text.index('"msg":') + len('"msg":')
            raw = text[start : DECODER.raw_decode(text, start)[1]]
            self.take(said["dir"], (raw + said.get("eol", "\n")).encode())


class Records:
    """NDJSON that is only appended to."""

    def __init__(self, path, take):
        self.path, self.take, self.file, self.rest = path, take, None, b""

    def look(self):
        if self.file is None:
            try:
                self.file = open(self.path, "rb", buffering=0)
            except FileNotFoundError:
                return
        while read := self.file.read(1 << 18):
            *lines, self.rest = (self.rest + read).split(b"\n")
            for line in lines:
                self.take(json.loads(line))
