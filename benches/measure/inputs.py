"""The inputs of the programs: real messages of a game, and lines like those of agents, identical in every run."""

import glob
import json
import os
import random
import subprocess
from collections import namedtuple

SIZE = 200_000_000
# Slow rivals get a tenth, and their times are multiplied.
SHARE = 10
DISTINCT = 2_000
CALL_LENGTH = 196
WORDS = "add basket button cart checkout close continue filter menu next open order price remove search sort total".split()

# `whole` and `tenth` are files; times measured with the tenth must be multiplied by `scale`.
Input = namedtuple("Input", "name size whole tenth scale")


def make(bench, name, messages):
    """Writes an input, unless it already exists."""
    whole, tenth = bench.file(f"{name}.jsonl"), bench.file(f"{name}-tenth.jsonl")
    for path, size in ((whole, SIZE), (tenth, SIZE // SHARE)):
        if not os.path.exists(path):
            repeat(messages(), size, path)
    bench.note("jq, ts and mlr read a tenth of a file; their times are scaled up.")
    size = os.path.getsize(whole)
    return Input(name, size, whole, tenth, size / os.path.getsize(tenth))


def repeat(messages, size, path):
    """Writes the messages repeatedly, up to about `size` bytes."""
    once = b"".join(messages)
    with open(path, "wb") as file:
        for _ in range(max(1, size // len(once))):
            file.write(once)


def recorded(bench, plain):
    """The same as a log of jsonl-record."""
    files = []
    for path in (plain.whole, plain.tenth):
        log = path.replace(".jsonl", ".log.jsonl")
        if not os.path.exists(log):
            with open(path, "rb") as lines:
                command = [bench.program("jsonl-record"), "--sync", "never", log]
                subprocess.run(command, stdin=lines, stdout=subprocess.DEVNULL, check=True)
        files.append(log)
    sizes = [os.path.getsize(log) for log in files]
    return Input(f"{plain.name}, recorded", sizes[0], *files, sizes[0] / sizes[1])


def game(fixtures):
    """The fixtures' messages, byte for byte: each is the last field of its line."""
    messages = []
    for path in sorted(glob.glob(os.path.join(fixtures, "real_*.jsonl"))):
        with open(path, "rb") as lines:
            messages += [line.partition(b'"message":')[2].rstrip()[:-1] + b"\n" for line in lines]
    for message in messages:
        json.loads(message)
    return messages


def line(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def phrase(dice, count):
    return " ".join(dice.choice(WORDS) for _ in range(count))


def calls():
    """Tool calls of one length."""
    dice = random.Random(1)
    for number in range(DISTINCT):
        arguments = {"element": phrase(dice, 3), "ref": f"e{dice.randrange(1000)}", "x": dice.randrange(1920), "note": ""}
        name = dice.choice(["browser_click", "browser_hover", "browser_type", "browser_drag"])
        call = {"type": "tool_call", "call_id": f"c{number}", "tool_name": name, "arguments": arguments}
        arguments["note"] = phrase(dice, 30)[: CALL_LENGTH - len(line(call))]
        yield line(call)


def snapshots():
    """Tool results of 2 KB, with a page as one long text."""
    dice = random.Random(2)
    for number in range(DISTINCT):
        text = f"### Page state\n- Page URL: https://shop.example/{dice.choice(WORDS)}\n- Page Snapshot:\n"
        while len(text) < 1750:
            role = dice.choice(["button", "link", "textbox", "heading", "listitem"])
            indent, ref = "  " * dice.randrange(5), dice.randrange(1000)
            text += f"{indent}- {role} \"{phrase(dice, 2)}\" [ref=e{ref}] [cursor=pointer]\n"
        status = "error" if dice.random() < 0.1 else "ok"
        result = {"content": [{"type": "text", "text": text}]}
        yield line({"type": "tool_result", "call_id": f"c{number}", "status": status, "result": result})


def observations():
    """Observations of 2 KB, with a list of objects of small fields."""
    dice = random.Random(3)
    for number in range(DISTINCT):
        elements = [
            {"id": dice.randrange(1000), "role": dice.choice(["button", "link"]), "name": phrase(dice, 1),
             "x": dice.randrange(1920), "y": dice.randrange(1080), "price": dice.randrange(10_000) / 100,
             "visible": dice.random() < 0.8, "parent": None}
            for _ in range(19)
        ]
        data = {"step": number, "gold": dice.randrange(500), "screen": dice.choice(WORDS), "elements": elements}
        # All with the same time: the lines are repeated, and a clock that goes back would be reported.
        yield line({"ts": "2026-11-22T01:00:00Z", "type": "observation", "source": dice.choice(["game", "browser"]),
                    "n": 100_000 + number, "data": data})


def agent_lines(bench):
    """The three kinds, as inputs."""
    return [make(bench, name, messages) for name, messages in
            (("196 B calls", calls), ("2 KB snapshots", snapshots), ("2 KB observations", observations))]
