#!/usr/bin/env python3
"""Stands in for the Slay the Spire mod CommunicationMod, with an engine in place of the game.

Starts CHILD as the mod does, sends it states and carries out its commands until the wanted games
are played. Run it with the Python whose path `scripts/install-engine` prints.

Exit status: 0 when all games (or --steps commands) were played and the child then ended by
itself once its stdin was closed, 1 otherwise. Rejected commands are only reported.
"""

import argparse
import collections
import json
import os
import queue
import random
import subprocess
import sys
import threading
import time

# Keeps Python from leaving compiled files in the source tree.
sys.dont_write_bytecode = True

from protocol import Game, InvalidCommand, Reply
from spire_run import EngineFailure

READY_SECONDS = 10
END_SECONDS = 5
ERRORS_REPORTED = 10


class SessionFailure(Exception):
    """The reason why a session ended early."""


class Child:
    """The external process. Its lines arrive in a queue, so that waiting for one can time out."""

    def __init__(self, words, stderr_path):
        # The mod splits its one command line on white space, so no word may contain any.
        command = " ".join(words).split()
        with open(stderr_path, "ab") as stderr:
            try:
                self._process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr
                )
            except OSError as error:
                raise SessionFailure(f"cannot start the child {command}: {error}") from error
        self._lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self._process.stdout:
            self._lines.put(line.decode("utf-8", "replace").rstrip("\r\n"))
        self._lines.put(None)

    def next_line(self, seconds, awaited):
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            raise SessionFailure(f"no {awaited} from the child for {seconds:g} s") from None
        if line is None:
            raise SessionFailure(f"the child ended while {awaited} was awaited{self._status()}")
        return line

    def _status(self):
        try:
            return f" (exit status {self._process.wait(timeout=1)})"
        except subprocess.TimeoutExpired:
            return " (it closed its stdout, but still runs)"

    def send(self, message):
        line = json.dumps(message, separators=(",", ":")) + "\n"
        try:
            self._process.stdin.write(line.encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            raise SessionFailure(f"the child no longer reads its stdin{self._status()}") from None

    def end(self):
        """Closes the child's stdin and expects it to end; reports it when it must be stopped."""
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            self._process.wait(timeout=END_SECONDS)
        except subprocess.TimeoutExpired:
            self.stop()
            raise SessionFailure(
                f"the child did not end within {END_SECONDS} s after its stdin was closed"
            ) from None

    def stop(self):
        """Ends the child as the mod does on a restart: asks first, then uses force."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(timeout=2)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()


class Transcript:
    """The log of all lines on the pipes, in order, except the child's ready line."""

    def __init__(self, path):
        self._file = open(path, "w", encoding="utf-8") if path else None

    def add(self, sender, content):
        if self._file:
            json.dump({sender: content}, self._file, separators=(",", ":"))
            self._file.write("\n")
            self._file.flush()


class Session:
    def __init__(self, options):
        self._options = options
        self._game = Game(options.seed)
        self._transcript = Transcript(options.transcript)
        self._child = Child(options.child, options.stderr)
        self._settling = random.Random(f"settling {options.seed}")
        self._commands = 0
        self._errors = collections.Counter()
        self._screens = collections.Counter()

    def play(self):
        try:
            self._child.next_line(READY_SECONDS, "ready line")
            time.sleep(self._options.delay_first)
            self._send_settled_state()
            while not self._is_done():
                self._answer(self._next_command())
            self._child.end()
        finally:
            self._child.stop()

    def _is_done(self):
        steps = self._options.steps
        return self._game.runs_finished >= self._options.games or (
            steps is not None and self._commands >= steps
        )

    def _next_command(self):
        line = ""
        while not line.strip():
            line = self._child.next_line(self._options.timeout, "command")
        self._commands += 1
        self._transcript.add("child", line)
        return line

    def _answer(self, line):
        try:
            reply = self._game.execute(line)
        except InvalidCommand as error:
            self._errors[str(error)] += 1
            self._send({"error": str(error), "ready_for_command": True})
            return
        if reply is Reply.STATE_WHEN_SETTLED:
            self._send_settled_state()
        elif reply is Reply.STATE_AT_ONCE:
            self._send(self._game.message())

    def _send_settled_state(self):
        """The mod often sends a state twice: once before the game takes commands, once after."""
        if self._settling.random() < self._options.not_ready:
            self._send(self._game.message(is_ready=False))
        self._screens[self._game.screen_type()] += 1
        self._send(self._game.message())

    def _send(self, message):
        self._transcript.add("mod", message)
        self._child.send(message)

    def report(self):
        return {
            "commands": self._commands,
            "games": self._game.runs_finished,
            "victories": self._game.victories,
            "rejected": self._errors.total(),
            "errors": dict(self._errors.most_common(ERRORS_REPORTED)),
            "screens": dict(sorted(self._screens.items())),
        }


def parse_options():
    parser = argparse.ArgumentParser(
        description="Stands in for CommunicationMod, with an engine in place of Slay the Spire.",
        usage="%(prog)s [options] -- CHILD [ARGUMENT...]",
    )
    add = parser.add_argument
    add("--games", type=int, default=1, help="games to play, menu to menu (default 1)")
    add("--seed", type=int, default=1, help="game I is played with seed SEED + I (default 1)")
    add("--steps", type=int, help="stop after this many commands")
    add("--transcript", metavar="FILE", help="log all lines on the pipes, as JSON lines")
    add("--report", metavar="FILE", help="write one JSON line of figures; - is stdout")
    add("--stderr", metavar="FILE", default=os.devnull, help="append the child's stderr to FILE")
    add("--not-ready", metavar="PROBABILITY", type=float, default=0.3,
        help="how often a state is first sent as not ready (default 0.3)")
    add("--delay-first", metavar="SECONDS", type=float, default=0,
        help="wait between the ready line and the first state")
    add("--timeout", metavar="SECONDS", type=float, default=60,
        help="give up when no command comes for this long (default 60)")
    add("child", nargs="+", help="the program that plays, and its arguments")
    return parser.parse_args()


def write_report(path, report):
    if path == "-":
        print(json.dumps(report))
    elif path:
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps(report) + "\n")


def main():
    options = parse_options()
    try:
        session = Session(options)
        try:
            session.play()
        finally:
            write_report(options.report, session.report())
    except (SessionFailure, EngineFailure, OSError) as failure:
        sys.exit(f"communication_mod: {failure}")


if __name__ == "__main__":
    main()
