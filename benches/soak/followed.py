"""Logs: followed while they are written, through every rotation, and checked afterwards."""

import glob
import json
import os
import subprocess

DECODER = json.JSONDecoder()
# The first bytes of a file, which have the number of its first line.
BEGINNING = 200
# The next file of a log is looked for this often.
TRIES = 200


# What `jsonl-log check` must not find.
FAULTS = ("missing", "lost", "torn", "unreadable", "fused", "out_of_order", "backwards")


def check_log(programs, log):
    """The result of `jsonl-log check`, the faults among it, and its exit status."""
    checked = subprocess.run([os.path.join(programs, "jsonl-log"), "check", log], capture_output=True, text=True)
    result = json.loads(checked.stdout)
    return result, {name: result[name] for name in FAULTS if result[name]}, checked.returncode


class Log:
    """A log of jsonl-record. Calls `take(direction, message)` with the bytes of each message, and `fail(why)` for each missing number."""

    def __init__(self, path, take, fail):
        self.path, self.take, self.fail = path, take, fail
        self.file, self.rest, self.number, self.messages, self.tries = None, b"", None, 0, 0

    def look(self):
        """Reads what is new."""
        while True:
            if self.file is None and not self.open_next():
                return
            # Before the end is read: nothing is written to a file once another one has its name.
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
        """Opens the file that continues the last one; the log may have been rotated several times since. It may not exist yet. If it never
        does, lines are missing, and the file with the log's own name is read."""
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
            record = json.loads(line)
            number = record["seq"]
        except (ValueError, KeyError) as error:
            return self.fail(f"{self.path}: a line cannot be read ({error}): {line[:200]!r}")
        if self.number is not None and number != self.number + 1:
            self.fail(f"{self.path}: seq {number} follows {self.number}")
        self.number = number
        if record.get("lost"):
            self.fail(f"{self.path}: the recorder has lost {record['lost']} messages")
        if "msg" in record:
            self.messages += 1
            text = line.decode()
            start = text.index('"msg":') + len('"msg":')
            raw = text[start : DECODER.raw_decode(text, start)[1]]
            self.take(record["dir"], (raw + record.get("eol", "\n")).encode())


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
