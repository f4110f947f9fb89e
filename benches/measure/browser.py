"""browser-bridge compared with similar servers, with the same Chromium: starting, clicks, lists and pictures; and its memory."""

import contextlib
import functools
import os
import shutil
import statistics
import time

import browser_page
import browser_players
import mcp_rivals
from bench import MIB
from processes import cpu_time, on_all_cores, peak_kib, processes_below, resident_kib, turns

STARTS = 3
WARM_UPS = 3
ROUNDS = 20
CALLS = 1_000
SAMPLES = 30
# The maximum size of a list of a documentation page's window, in bytes.
LIST_BYTES = 1_000
# More MiB than this in the last third of the calls than in the second are a leak: 1.5 kB per call here, 15 kB in the page's process, whose
# garbage is collected later.
GROWTH, RENDERER_GROWTH = 0.5, 5


def needs_browser(measure):
    """A measurement that is skipped, with a message, if there is no browser. All use all cores: a browser consists of many processes."""
    @functools.wraps(measure)
    def measured(bench):
        if not shutil.which(browser_players.CHROMIUM):
            return bench.skip("browser-bridge: Chromium is not available")
        with mcp_rivals.at_home(bench), on_all_cores(), browser_page.serving() as origin:
            measure(bench, origin)
    return measured


def milliseconds(act):
    began = time.perf_counter()
    act()
    return (time.perf_counter() - began) * 1e3


def start_once(start, url):
    """The milliseconds until the first page is shown."""
    with contextlib.ExitStack() as stack:
        return milliseconds(lambda: stack.enter_context(start()).open(url))


@needs_browser
def starts(bench, origin):
    acts = {name: functools.partial(start_once, start, f"{origin}/") for start, name in players(bench, origin)}
    # The very first start creates font caches in the new home.
    turns(acts, 1)
    took = turns(acts, STARTS)
    ours = statistics.median(took.pop(browser_players.Bridge.name))
    what = "browser-bridge: from its start to its first page, median"
    bench.within(what, ours, 1000)
    for name, theirs in took.items():
        bench.share(what, ours, name, statistics.median(theirs))


def players(bench, origin):
    return [(functools.partial(browser_players.Bridge, bench, origin), browser_players.Bridge.name), *browser_players.rivals(bench)]


# The operation, its page, its name in a row, and the goal in milliseconds.
OPERATIONS = (
    ("click_without_settling", "/", "a click, settle=none", 25),
    ("click", "/", "a click, settled", 80),
    ("list_viewport", "/documentation", "list of a window of documentation", 15),
    ("list_page", "/documentation", "list of all of that page", 60),
    ("picture", "/documentation", "a picture", None),
    ("numbered_picture", "/documentation", "a picture with the numbers", 120),
)


@needs_browser
def operations(bench, origin):
    with contextlib.ExitStack() as stack:
        running = {name: stack.enter_context(start()) for start, name in players(bench, origin)}
        page = None
        for operation, path, what, goal in OPERATIONS:
            able = {name: getattr(player, operation) for name, player in running.items() if hasattr(player, operation)}
            if page != path:
                page = path
                for player in running.values():
                    player.open(origin + path)
                    player.find_button()
            if operation == "numbered_picture":
                for player in running.values():
                    player.show_numbers()
            turns(able, WARM_UPS)
            sizes = {name: act() for name, act in able.items()}
            took = turns({name: functools.partial(milliseconds, act) for name, act in able.items()}, ROUNDS)
            add_rows(bench, f"browser-bridge: {what}", took, goal)
            if operation.startswith("list"):
                add_sizes(bench, f"browser-bridge: {what}: bytes", sizes, LIST_BYTES if operation == "list_viewport" else None)
    bench.note("By default, @playwright/mcp waits 500 ms after a click, and reads the page; chrome-devtools-mcp waits too; agent-browser does not, and"
               " is compared with settle=none. Their lists contain the complete page with its texts, except agent-browser's, which contains elements"
               " that can be acted on and headings; their bytes are those of the text alone, ours those of the line. Only agent-browser also draws"
               " numbers.")


@needs_browser
def large_list(bench, origin):
    """Of very many controls. The rivals' lists of this page have megabytes; only ours is measured."""
    with browser_players.Bridge(bench, origin) as bridge:
        bridge.open(f"{origin}/rows")
        took = [milliseconds(bridge.list_page) for _ in range(WARM_UPS + ROUNDS)][WARM_UPS:]
    bench.within(f"browser-bridge: list of {4 * browser_page.ROWS:,} controls, median", statistics.median(took), 600)


def add_rows(bench, what, took, goal):
    """The median with its goal, then the median and the 90th percentile compared with each rival's."""
    median = {name: statistics.median(times) for name, times in took.items()}
    p90 = {name: statistics.quantiles(times, n=10)[-1] for name, times in took.items()}
    ours = browser_players.Bridge.name
    bench.within(f"{what}, median", median[ours], goal, digits=1)
    bench.within(f"{what}, p90", p90[ours], digits=1)
    for name in took:
        if name != ours:
            bench.share(f"{what}, median", median[ours], name, median[name])
            bench.share(f"{what}, p90", p90[ours], name, p90[name])


def add_sizes(bench, what, sizes, goal):
    ours = sizes.pop(browser_players.Bridge.name)
    if goal:
        bench.row(what, f"{ours} B", "", "", f"<= {goal} B", ours <= goal)
    for name, theirs in sizes.items():
        bench.row(what, f"{ours} B", f"{name} {theirs} B", f"{ours / theirs:.1%}", is_behind=ours > theirs)


@needs_browser
def memory(bench, origin):
    """Lists, clicks and pictures in turn. The minimum of each third of the samples counts, so temporary garbage does not count as growth."""
    with browser_players.Bridge(bench, origin) as bridge:
        bridge.open(f"{origin}/documentation")
        bridge.find_button()
        bridge.show_numbers()
        acts = (bridge.list_viewport, bridge.click_without_settling, bridge.picture)
        own = bridge.process.pid
        renderer = max((pid for pid, command in processes_below(own) if "--type=renderer" in command), key=resident_kib)
        before, samples = cpu_time(own), []
        for number in range(CALLS):
            acts[number % len(acts)]()
            if number % (CALLS // SAMPLES) == 0:
                samples.append((resident_kib(own), resident_kib(renderer)))
        used, peak = cpu_time(own) - before, peak_kib(own)
    middle, end = (samples[third * SAMPLES // 3:(third + 1) * SAMPLES // 3] for third in (1, 2))
    bench.row(f"browser-bridge: its own CPU time, {CALLS} calls", f"{used:.2f} s", "", f"{used / CALLS * 1e3:.2f} ms a call")
    what = f"browser-bridge, {CALLS} calls"
    bench.memory(what, peak)
    for place, (name, goal) in enumerate((("its own memory", GROWTH), ("the page's process", RENDERER_GROWTH))):
        middle_mib, end_mib = (min(sample[place] for sample in third) / MIB for third in (middle, end))
        bench.added(f"{what}: {name}, last third", end_mib, "second third", middle_mib, "MiB", goal=goal, digits=1)
    bench.note(f"A third each of the {CALLS} calls are lists, clicks and pictures. Their memory is the resident size; the minimum of each third of the"
               " samples counts.")


MEASUREMENTS = (starts, operations, large_list, memory)
