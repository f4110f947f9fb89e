"""Writes docs/performance.md: the rows of all groups, the machine, and where we lose."""

import datetime
import os
import platform
import subprocess

from bench import HEADINGS
from losses import losses

# By group: a heading, and a description of the measurement.
GROUPS = {
    "actions": ("valid-actions", "The legal actions are added to a game's messages. jq only reads and prints them. serde_json's `IgnoredAny` only"
                " checks that they are JSON; it is the lower bound for anything that reads its input."),
    "agent": ("agent-loop", "The model side and the world answer at once, so the figures show what the loop adds to a step, in a conversation that"
              " grows to 8 MB."),
    "proxy": ("sts-proxy", "A state goes to an agent, and its command comes back, with and without the proxy between the two. The difference is the"
              " delay that the proxy adds to each decision."),
    "start": ("Starting", "Each command is started and ends at once, 200 times, alternating with `/bin/true`, which does nothing. The figures are"
              " medians. A shell loop pays this for each command that it starts."),
    "record": ("jsonl-record", "Lines pass through a pipe and into a log, compared with `tee`, which only copies, and `ts`, which only adds the"
               " time. Then lines go to an agent and back, with and without the recorder around it."),
    "replay": ("replay", "A log is filtered, compared with the same filter in jaq. Then it is played at its recorded times, compared with a loop"
               " that only sleeps: how late each line is."),
    "log": ("jsonl-log", "Four columns of a log are written as CSV, compared with jq and Miller."),
    "mask": ("jsonl-mask", "Lines with and without personal data, compared with jq and patterns for the same kinds. The jq version checks no check"
             " digits, ignores field names, and does not number values."),
    "godot": ("godot-bridge", "A command goes to a running game, and its answer comes back. godot-e2e does the same in the same game, but answers"
              " once per frame."),
    "browser": ("browser-bridge", "A page is opened, clicked, listed and drawn, compared with MCP servers that do the same with the same Chromium."
                " Then 1,000 calls are made, and the memory growth is measured. All cores are used."),
    "mcp": ("mcp-pipe", "Calls of server-everything's `echo`. The lower bound is a bare client that writes requests and reads answers without"
            " checks. The rivals are other commands that call a tool from a shell."),
    "llm": ("llm-pipe", "Requests to a server on this machine that answers at once with a streamed turn, so the figures show what the command adds."
            " The lower bound is a bare client with the same HTTP library. The rivals are a command that is started for each prompt, and a loop"
            " with OpenAI's own library."),
    "live": ("A small model", "Qwen2.5-Coder-1.5B in llama.cpp on this machine, without eyes, works on tasks of MiniWoB++ that were chosen before the"
             " first run (`benches/live/tasks.toml`), with one seed and at temperature 0: `agent-loop` over `browser-bridge`; as its rivals the same loop over"
             " @playwright/mcp, and browser-use in its form for small models (`flash_mode`). The command is `scripts/bench live`; each result is a line of"
             " `benches/live/results.jsonl`."),
    "policy": ("policy-check and hitl-gate", "Tools, lines of shell and calls with arguments are judged; no list was tuned to the lines"
               " that are held out. Calls are judged, compared with jq and the same rules. Then a call goes to a world and back, with and without"
               " a gate around it."),
    "labels": ("What policy-check knows by its words", "Labels from catalogs of other applications, which no list of words was tuned to: the share"
               " of destructive labels that are found (recall), and the share of harmless labels that are taken for destructive (false positives). Buttons of shops,"
               " banks and other services were written by hand."),
    "size": ("Size", "The programs as released, without debugging information. Some include an interpreter for jq's language or a schema validator."),
}


def document(bench, conditions, minutes):
    parts = [HEAD.format(date=datetime.date.today(), minutes=minutes, commit=commit(), machine=machine(bench.scratch), profile=os.environ["PIPEWRIGHT_PROFILE"],
                         versions=versions(), conditions=conditions)]
    parts.append("## Where we lose\n\n" + (bullets(losses(bench.rows)) or "Nowhere in this run."))
    parts += [part for group in GROUPS if (part := section(bench, group))]
    if bench.skipped:
        parts.append("## Not measured\n\n" + bullets(bench.skipped))
    return "\n\n".join(parts) + "\n"


def section(bench, group):
    title, about = GROUPS[group]
    rows = [row for row in bench.rows if row.group == group]
    notes = " ".join(bench.notes.get(group, []))
    return f"## {title}\n\n{about}\n\n{table(rows)}" + (f"\n\n{notes}" if notes else "") if rows else ""


def with_section(text, bench, group):
    """The document with a new section of this group, and the rest as it was."""
    titles = [title for title, _ in GROUPS.values()]
    later = {*titles[titles.index(GROUPS[group][0]) + 1:], "Not measured"}
    head, *parts = text.rstrip("\n").split("\n\n## ")
    kept = [part for part in parts if part.partition("\n")[0] != GROUPS[group][0]]
    place = next((number for number, part in enumerate(kept) if part.partition("\n")[0] in later), len(kept))
    kept.insert(place, section(bench, group).removeprefix("## "))
    return "\n\n## ".join([head, *kept]) + "\n"


HEAD = """# Performance

Measured by `scripts/bench`, which wrote this page in {minutes:.0f} minutes. Run it on an idle machine to measure again.

- {date}, commit {commit}, built with the profile `{profile}`
- {machine}
- {versions}

All figures of a table come from one run, in which we and a rival take turns, so any slowdown of the machine affects both. Ratios carry over
to other machines; seconds do not. Throughput is CPU time (the best of several tries), latency is wall time (the median, and p99, which 1 %
exceed), and memory is the peak resident size. {conditions} Goals were set before the code was written."""


def commit():
    def git(*arguments):
        return subprocess.run(["git", *arguments], capture_output=True, text=True, check=False).stdout.strip()
    return (git("rev-parse", "--short", "HEAD") or "unknown") + (" with changes" if git("status", "--porcelain", "--untracked-files=no") else "")


def machine(scratch):
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        model = next((line.partition(":")[2].strip() for line in info if line.startswith("model name")), platform.machine())
    gib = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / (1 << 30)
    system = platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    kind = subprocess.run(["stat", "--file-system", "--format=%T", scratch], capture_output=True, text=True, check=False).stdout.strip()
    return f"{model}, {os.cpu_count()} cores, {gib:.0f} GiB of memory; {system}, Linux {platform.release()}; files on {kind}"


def versions():
    """The versions of the rivals, as far as they report them."""
    rivals = os.environ.get("MCP_RIVALS", "")
    asked = {
        "rustc": ["rustc", "--version"], "tee": ["tee", "--version"], "ts": ["dpkg-query", "-W", "-f", "moreutils ${Version}", "moreutils"],
        "jq": ["jq", "--version"], "jaq": ["jaq", "--version"], "Miller": ["mlr", "--version"],
        "Godot": [os.environ.get("PIPEWRIGHT_GODOT", ""), "--version"],
        "godot-e2e": [os.environ.get("GODOT_E2E_PYTHON", ""), "-c", "from importlib.metadata import version; print(version('godot-e2e'))"],
        "Chromium": ["chromium", "--version"],
        "Node": [os.path.join(rivals, "node_modules", "node", "bin", "node"), "--version"],
    }
    found = [f"{name} {version}" for name, command in asked.items() if (version := first_line(command, name))]
    found += [package for package in packages("MCP_SERVERS") if package.startswith("@playwright/")]
    for variable in ("BROWSER_RIVALS", "MCP_RIVALS", "LLM_RIVALS"):
        found += [package for package in packages(variable) if not package.startswith("node@")]
    return ", ".join(found)


def packages(variable):
    """The packages installed in the folder that a variable names, with their versions."""
    mark = os.path.join(os.environ.get(variable, ""), "installed")
    if not os.path.exists(mark):
        return []
    with open(mark, encoding="utf-8") as file:
        return file.read().split()


def first_line(command, name):
    """A program's version line, without its name."""
    try:
        output = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""
    words = output.splitlines()[0].split() if output else []
    plain = {name.lower(), "mlr", "(gnu", "coreutils)", "version"}
    return " ".join(word.removeprefix("jq-") for word in words if word.lower() not in plain)


def table(rows):
    lines = [HEADINGS, ("---",) * len(HEADINGS), *(row[1:-1] for row in rows)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def bullets(texts):
    return "\n".join(f"- {text}" for text in texts)
