"""Finds the rows in which a rival is better or a goal is not met, and gives the reasons."""

import re

# Reasons by a pattern for the row; the first match counts.
REASONS = (
    (r"^jsonl-record, .*/dev/null: CPU time", "Lines with many small fields take longest to check. ts does not check lines."),
    (r"^jsonl-record, .*: (CPU|wall) time", "tee copies bytes without reading them. Each of our lines is checked to be JSON, wrapped with its time"
     " and number, and written before it is passed on. Lines with many small fields cost most, because there is most to check."),
    (r"^jsonl-record .*round trip", "There are two more pipes and two more copies of each line, and the line is in the log before it is passed on."
     " Checking and copying take longer for longer lines."),
    (r"^sts-proxy --sync each", "A decision is on the disk before the next command is sent (fdatasync), so a crash of the machine loses none."
     " `--sync never` leaves that to the kernel."),
    (r"^sts-proxy", "Each state is parsed, its legal actions are computed, and the agent's answer is checked against them."),
    (r"^mcp-pipe: one cold call", "Nearly all of it is the server's own start, which every client waits for and cannot reduce."),
    (r"^mcp-pipe: echo in a warm session", "A call is recognised, checked against the tool's schema, and answered with all of the server's bytes,"
     " through two more pipes than the bare client has."),
    (r"^mcp-pipe -j", "The server takes most of the time. mcp-pipe shares the cores with it, and checks each call against its schema."),
    (r"^llm-pipe: a request", "A line is parsed, encoded for the provider, and handed to the thread that sends requests. The events are handed"
     " back, parsed, and combined to a turn, through two more pipes than the bare client has."),
    (r"^start-up", "Most of a start is the loader's work: the larger the program, the more of it is mapped and relocated."),
    (r"^valid-actions", "Every message is parsed field by field to find the legal actions, not only skipped over."),
    (r"^jsonl-log csv", "The complete line is checked to be JSON, so a bad line is reported, even if the columns need little of it."),
    (r"^replay --speed 1", "The kernel wakes sleeping processes late. The bare sleep is equally late, apart from the writing."),
    (r"^replay --where", "A filter beyond plain comparisons runs on the same engine as jaq's, with a limit to its steps."),
    (r"^godot-bridge --transport .*idle game", "An idle game checks for commands in each frame."),
    (r"^godot-bridge: get_tree of the same game", "godot-e2e lists the name, class and path of each node, and we also what is in it and what"
     " can be done with it."),
    (r"^godot-bridge", "The engine answers on its main thread, between two frames."),
    (r"^browser-bridge: from its start", "Nearly all of it is Chromium's own start."),
    (r"^browser-bridge", "Chromium does nearly all of the work, in several processes, which other load slows down."),
    (r"^MiniWoB", "The model has 1.5 billion parameters. It takes the wrong one of several elements, repeats a call that did not help, and seldom"
     " finds a way of more than two actions."),
    (r"^policy-check", "A call is judged by its tool, its arguments and its target, in seventy languages, not only by six rules."),
    (r"^shell, .*: harmless", "A program that no list knows may do anything, and an address may carry data to another machine."),
    (r"^tools, .*hints trusted: reads", "If a tool has no hint and no verb in its name (repo_branch), only its arguments show what it does, so a"
     " person is asked."),
    (r"^detector, ..: recall", "No native speaker has corrected this language's list of words yet (`crates/words/lists`). The fewer labels there are,"
     " the less reliable the figure is."),
    (r"^detector, .*: recall", "Such actions are described with many words, most of which are harmless elsewhere. A list with all of them would ask"
     " too often."),
    (r"^detector", "Words alone are not enough. Labels they cannot decide are asked about or passed, and neither is always right."),
)
# Costs that are listed even though no goal is missed.
COSTS = r"^sts-proxy --sync each: round trip, median"


def losses(rows):
    """A list item for each reason, with its rows."""
    found = {}
    for row in rows:
        if row.met == "NO" or row.is_behind or re.search(COSTS, row.what):
            found.setdefault(reason(row), []).append(described(row))
    return [f"{why}\n" + "\n".join(f"  - {row}" for row in rows) for why, rows in found.items()]


def reason(row):
    return next((why for what, why in REASONS if re.search(what, row.what)), "The reason is not known yet.")


def described(row):
    """A row as text."""
    beside = f" against {row.rival}" if row.rival else ""
    ratio = f" ({row.ratio})" if row.ratio else ""
    goal = f", goal {row.goal}" if row.met == "NO" else ""
    return f"{row.what}: {row.ours}{beside}{ratio}{goal}"
