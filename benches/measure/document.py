"""docs/performance.md: the rows of all groups, on which machine they were measured, and where we lose."""

import datetime
import os
import platform
import subprocess

from bench import HEADINGS
from losses import losses

# By group: a heading, what is measured, and what to read from it.
GROUPS = {
    "actions": ("valid-actions", "A game's messages are given their legal actions. jq only reads and prints them; serde_json's `IgnoredAny` only checks"
                " that they are JSON, and is the floor: nothing that reads its input can be quicker."),
    "agent": ("agent-loop", "A model side and a world that answer at once, so that what the loop adds to a step is what is measured: in a conversation that"
              " grows to 8 MB."),
    "proxy": ("sts-proxy", "A state goes to an agent, and its command comes back: with the proxy between the two, and without. What is added is what"
              " a bot waits longer for each decision."),
    "start": ("Starting", "Each command is started and ends at once, 200 times in turn with `/bin/true`, which does nothing; the medians. A loop in a"
              " shell pays this for each command that it starts."),
    "record": ("jsonl-record", "Lines pass through a pipe and into a log, beside `tee`, which only copies, and `ts`, which only adds the time; then lines"
               " go to an agent and back, with the recorder around it and without."),
    "replay": ("replay", "A log is filtered, beside the same filter in jaq; then it is played at its times, beside a loop that only sleeps: how late a"
               " line is."),
    "log": ("jsonl-log", "Four columns are cut out of a log as CSV, beside the same with jq and Miller."),
    "mask": ("jsonl-mask", "Lines with personal data and without, beside jq with patterns for the same kinds, which checks no digits, knows no fields, and"
             " numbers no values."),
    "godot": ("godot-bridge", "A command goes to a running game and its answer comes back. godot-e2e does the same in the same game, but answers once a"
              " frame."),
    "browser": ("browser-bridge", "A page is opened, clicked, listed and drawn, beside MCP servers that do the same with the same Chromium; then 1,000 calls are"
                " made, and what they leave behind is looked at. All cores are used."),
    "mcp": ("mcp-pipe", "Calls of server-everything's `echo`. A bare client, which writes requests and reads answers and checks nothing, is the floor;"
            " the rivals are other commands that call a tool from a shell."),
    "llm": ("llm-pipe", "Requests to a server on this machine that answers at once with a streamed turn, so that what the command adds is what is"
            " measured. A bare client on the same HTTP library is the floor; the rivals are a command for one prompt, started for each, and a"
            " loop with OpenAI's own library."),
    "policy": ("policy-check and hitl-gate", "Calls are judged, beside jq with rules for the same; then a call goes to a world and back, with a gate"
               " around it and without."),
    "labels": ("What policy-check knows by its words", "Labels of other applications' catalogs, which no list of words was tuned to: how many of the"
               " destructive ones are found (recall), and how many of the harmless ones are taken for destructive (false positives)."),
    "size": ("Size", "The programs as they are shipped, without debugging information. Those that read jq's language or check schemas have that built"
             " in."),
}


def document(bench, conditions, minutes):
    parts = [HEAD.format(date=datetime.date.today(), minutes=minutes, commit=commit(), machine=machine(bench.scratch), profile=os.environ["PIPEWRIGHT_PROFILE"],
                         versions=versions(), conditions=conditions)]
    parts.append("## Where we lose\n\n" + (bullets(losses(bench.rows)) or "Nowhere, this time."))
    for group, (title, about) in GROUPS.items():
        rows = [row for row in bench.rows if row.group == group]
        if rows:
            notes = " ".join(bench.notes.get(group, []))
            parts.append(f"## {title}\n\n{about}\n\n{table(rows)}" + (f"\n\n{notes}" if notes else ""))
    if bench.skipped:
        parts.append("## Not measured\n\n" + bullets(bench.skipped))
    return "\n\n".join(parts) + "\n"


HEAD = """# Performance

What `scripts/bench` has measured, in {minutes:.0f} minutes, and written here. Run it to measure anew, on a machine that does nothing else.

- {date}, commit {commit}, built with the profile `{profile}`
- {machine}
- {versions}

All figures of a table come from one run, in which we and a rival take turns, so that what slows the machine down slows both; ratios carry
over to other machines, seconds don't. Throughput is CPU time (the best of some tries), latency wall time (a median, and what 1 % exceed: p99),
memory the peak that was ever resident. {conditions} A goal is what was asked for before it was built."""


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
    """Of what is measured beside, as far as each tells."""
    rivals = os.environ.get("MCP_RIVALS", "")
    asked = {
        "rustc": ["rustc", "--version"], "tee": ["tee", "--version"], "ts": ["dpkg-query", "-W", "-f", "moreutils ${Version}", "moreutils"],
        "jq": ["jq", "--version"], "jaq": ["jaq", "--version"], "Miller": ["mlr", "--version"],
        "Godot": [os.environ.get("PIPEWRIGHT_GODOT", ""), "--version"],
        "godot-e2e": [os.environ.get("GODOT_E2E_PYTHON", ""), "-c", "from importlib.metadata import version; print(version('godot-e2e'))"],
        "Chromium": ["chromium", "--version"],
        "Node": [os.path.join(rivals, "node_modules", "node", "bin", "node"), "--version"],
    }
    told = [f"{name} {said}" for name, command in asked.items() if (said := first_line(command, name))]
    told += [package for package in packages("MCP_SERVERS") if package.startswith("@playwright/")]
    for variable in ("BROWSER_RIVALS", "MCP_RIVALS", "LLM_RIVALS"):
        told += [package for package in packages(variable) if not package.startswith("node@")]
    return ", ".join(told)


def packages(variable):
    """Those that were installed into the folder that a variable names, with their versions."""
    mark = os.path.join(os.environ.get(variable, ""), "installed")
    if not os.path.exists(mark):
        return []
    with open(mark, encoding="utf-8") as file:
        return file.read().split()


def first_line(command, name):
    """What a program says of its version, without its name."""
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""
    words = said.splitlines()[0].split() if said else []
    plain = {name.lower(), "mlr", "(gnu", "coreutils)", "version"}
    return " ".join(word.removeprefix("jq-") for word in words if word.lower() not in plain)


def table(rows):
    lines = [HEADINGS, ("---",) * len(HEADINGS), *(row[1:-1] for row in rows)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def bullets(texts):
    return "\n".join(f"- {text}" for text in texts)
