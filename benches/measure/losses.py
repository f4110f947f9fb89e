"""Where a rival is better than we are, or a goal isn't met: found in the rows, with why it is so."""

import re

# By what a row says: the first that fits.
REASONS = (
    (r"^jsonl-record, .*/dev/null: CPU time", "Lines of many small fields take longest to check, which ts doesn't do."),
    (r"^jsonl-record, .*: (CPU|wall) time", "tee copies bytes and looks at none of them; each of our lines is checked to be JSON, wrapped with its time and"
     " number, and written before it is passed on. Many small fields cost most: there is most to check."),
    (r"^jsonl-record .*round trip", "Two more pipes and two more copies of each line, and it is in the log before it is passed on. What grows with"
     " its length is checking it and copying it."),
    (r"^sts-proxy --sync each", "A decision is on the disk before the next command is sent (fdatasync), so that a crash of the machine loses none;"
     " `--sync never` leaves that to the kernel."),
    (r"^sts-proxy", "Each state is read, its legal actions are found, and the agent's word is held against them."),
    (r"^mcp-pipe: one cold call", "Nearly all of it is the server's own start, which every client waits for; a share of it can't be saved."),
    (r"^mcp-pipe: echo in a warm session", "A call is recognised, checked against the tool's schema and answered with every byte that the server said,"
     " through two more pipes than the bare client has."),
    (r"^mcp-pipe -j", "The server is what takes the time; beside it, ours shares the cores with it and checks each call against its schema."),
    (r"^llm-pipe: a request", "A line is read, encoded for the provider, handed to the thread that sends requests, and its events are handed back, read"
     " and put together to a turn, through two more pipes than the bare client has."),
    (r"^start-up", "Most of a start is the loader's: the larger the program, the more of it is mapped and relocated."),
    (r"^valid-actions", "Every message is read field by field for what is legal, not only skipped over."),
    (r"^jsonl-log csv", "The whole line is checked to be JSON, so that a bad line is reported, also where no column needs most of it."),
    (r"^replay --speed 1", "The kernel wakes a sleeper up late; the bare sleep beside it is as late but for the writing."),
    (r"^replay --where", "A filter that is more than plain comparisons is run by the same engine as jaq's, with a limit to its steps."),
    (r"^godot-bridge --transport .*idle game", "An idle game looks for commands each frame."),
    (r"^godot-bridge", "The engine answers on its main thread, between two frames."),
    (r"^browser-bridge: from its start", "Nearly all of it is Chromium's own start."),
    (r"^browser-bridge", "Chromium does nearly all of it, in several processes, which other load slows."),
    (r"^policy-check", "A call is judged by its tool, its arguments and what it acts on, in seventy languages, not only by six rules."),
    (r"^tools, .*hints trusted: reads", "What a tool without a hint does whose name has no verb (repo_branch), only its arguments say; it is asked about."),
    (r"^detector, ..: recall", "Nobody who speaks it has corrected this language's list of words yet (`src/policy/words`); the fewer labels there are,"
     " the less the figure says."),
    (r"^detector, .*: recall", "Such actions are said in many words, most of which are harmless elsewhere; a list that had them would ask too often."),
    (r"^detector", "Words alone don't tell; what they can't decide is asked about or let pass, and neither is always right."),
)
# Told as well, though no goal stands against them: what somebody pays who didn't have to.
COSTS = r"^sts-proxy --sync each: round trip, median"


def losses(rows):
    """A point for each reason, with the rows that it explains."""
    found = {}
    for row in rows:
        if row.met == "NO" or row.is_behind or re.search(COSTS, row.what):
            found.setdefault(reason(row), []).append(told(row))
    return [f"{why}\n" + "\n".join(f"  - {row}" for row in rows) for why, rows in found.items()]


def reason(row):
    return next((why for what, why in REASONS if re.search(what, row.what)), "Why isn't known yet.")


def told(row):
    """The row in words."""
    beside = f" beside {row.rival}" if row.rival else ""
    ratio = f" ({row.ratio})" if row.ratio else ""
    goal = f", where {row.goal} was asked for" if row.met == "NO" else ""
    return f"{row.what}: {row.ours}{beside}{ratio}{goal}"
