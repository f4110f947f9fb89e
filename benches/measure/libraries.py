"""The share of the controls of component libraries (benches/libraries) that each program's list makes usable, and the list's size.

A player knows nothing of a page but its list. It acts on each item: it types into fields, selects in lists, and presses the rest; if that
shows new items, it presses one of them. The page reports which of its controls have had an effect.
"""

import collections
import contextlib
import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import threading
import time
import urllib.parse

import browser_players
import mcp_rivals

# Per page.
MOST_ITEMS, SECONDS = 80, 240
SETTLED = 0.15
FIELDS = ("textbox", "searchbox", "spinbutton", "combobox", "date")
CHOICES = ("option", "menuitem", "menuitemcheckbox", "menuitemradio", "treeitem", "gridcell", "cell", "listitem")
CONTROLS = (*FIELDS, *CHOICES, "button", "link", "checkbox", "radio", "switch", "slider", "tab", "listbox", "clickable", "date", "color")

Item = collections.namedtuple("Item", "reference role name options")


class Bridge(browser_players.Bridge):
    def items(self):
        data, _ = self.call("browser_list_interactives", scope="page", limit=500, view="full")
        return [Item(item["index"], item["role"], item["name"], item.get("options")) for item in data["items"]]

    def press(self, item):
        self.call("browser_overlay_act", index=item.reference)

    def write(self, item, text):
        self.call("browser_overlay_act", index=item.reference, action="type", text=text)

    def choose(self, item):
        self.call("browser_overlay_act", index=item.reference, action="select", text=item.options[-1])

    def key(self, key):
        self.call("browser_press", key=key)

    def list_text(self):
        data, _ = self.call("browser_list_interactives", refresh=True, scope="page", limit=500)
        return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


class Server:
    """What the MCP servers share: items are read from lines of text."""

    def items(self):
        found = (re.search(self.LINE, line) for line in self.snapshot()[0].splitlines())
        items = [Item(match["reference"], match["role"], match["name"] or "", None) for match in found if match]
        return [item for item in items if item.role in CONTROLS]

    def list_text(self):
        return self.snapshot()[0]


class Playwright(Server, browser_players.Playwright):
    LINE = r'^\s*- (?P<role>\w+)(?: "(?P<name>[^"]*)")?.*\[ref=(?P<reference>\w+)\]'

    def items(self):
        # What only the mouse pointer shows to be a control.
        text = re.sub(r"(?m)^(\s*- )generic(?=.*\[cursor=pointer\])", r"\1clickable", self.snapshot()[0])
        found = (re.search(self.LINE, line) for line in text.splitlines())
        items = [Item(match["reference"], match["role"], match["name"] or "", None) for match in found if match]
        return [item for item in items if item.role in CONTROLS]

    def press(self, item):
        self.call("browser_click", target=item.reference)

    def write(self, item, text):
        self.call("browser_type", target=item.reference, text=text)

    def choose(self, item):
        self.call("browser_select_option", target=item.reference, values=["Large"])

    def key(self, key):
        self.call("browser_press_key", key=key)


class ChromeDevTools(Server, browser_players.ChromeDevTools):
    LINE = r'uid=(?P<reference>\w+) (?P<role>\w+)(?: "(?P<name>[^"]*)")?'

    def press(self, item):
        self.call("click", uid=item.reference)

    def write(self, item, text):
        self.call("fill", uid=item.reference, value=text)

    def choose(self, item):
        self.call("fill", uid=item.reference, value="Large")

    def key(self, key):
        self.call("press_key", key=key)


class AgentBrowser(Server, browser_players.AgentBrowser):
    LINE = r'- (?P<role>\w+)(?: "(?P<name>[^"]*)")?.*\[?.*ref=(?P<reference>\w+)'

    def press(self, item):
        self.call("agent_browser_click", selector=f"@{item.reference}")

    def write(self, item, text):
        self.call("agent_browser_fill", selector=f"@{item.reference}", text=text)

    def choose(self, item):
        self.call("agent_browser_select", selector=f"@{item.reference}", values=["Large"])

    def key(self, key):
        self.call("agent_browser_press", key=key)


class Pages:
    """Serves the pages, and collects what they report."""

    def __init__(self, folder):
        self.reports = collections.defaultdict(set)
        pages = self

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *arguments):
                super().__init__(*arguments, directory=folder)

            def do_GET(self):
                address = urllib.parse.urlsplit(self.path)
                if address.path != "/report":
                    return super().do_GET()
                fields = dict(urllib.parse.parse_qsl(address.query))
                pages.reports[fields["kind"]].add(fields["name"])
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                """Prints nothing."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()


def tokens(text):
    """How many tokens (of o200k_base) a model reads."""
    tokenizer = os.path.join(os.path.dirname(os.environ["LIBRARY_PAGES"]), "node_modules", "gpt-tokenizer")
    script = "const {encode} = require(process.argv[1]); console.log(encode(require('fs').readFileSync(0, 'utf8')).length)"
    return int(subprocess.run(["node", "-e", script, tokenizer], input=text.encode(), capture_output=True, check=True).stdout)


def keyed(items):
    """The items, each with a key that stays the same in later lists: its role and name, and its place among equal ones."""
    counts = collections.Counter()
    for item in items:
        counts[item.role, item.name] += 1
        yield (item.role, item.name, counts[item.role, item.name]), item


def attempt(act, *arguments):
    with contextlib.suppress(OSError):
        act(*arguments)
    time.sleep(SETTLED)


def use(player, item, shown):
    """Acts on an item, in all ways that its role suggests. `shown` presses one of the items that came with that."""
    if item.options:
        attempt(player.choose, item)
    if item.role == "color":
        attempt(player.write, item, "#00ff00")
    attempt(player.press, item)
    shown()
    if item.role == "slider":
        attempt(player.key, "ArrowRight")
    if item.role in FIELDS:
        attempt(player.write, item, "12")
        # Some suggestions come late.
        time.sleep(2 * SETTLED)
        shown()


def press_fresh(player, before):
    fresh = [one for key, one in keyed(player.items()) if key not in before]
    fresh.sort(key=lambda one: (one.role not in CHOICES, one.role not in ("button", "link")))
    if fresh:
        # The last of equal choices is seldom the one that is selected already.
        attempt(player.press, [one for one in fresh if one.role == fresh[0].role][-1])


def exercise(player, pages, url):
    """Acts on each item of a page. Returns the names of the controls that had an effect, those of all, and the bytes and
    tokens of the list."""
    pages.reports.clear()
    player.open(url)
    until = time.monotonic() + 10
    while not pages.reports["control"] and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(0.5)
    text = player.list_text()
    size = len(text.encode()), tokens(text)
    first = dict(keyed(player.items()))
    end = time.monotonic() + SECONDS
    for key in list(first)[:MOST_ITEMS]:
        before = dict(keyed(player.items()))
        item = before.get(key)
        if not item or time.monotonic() > end or pages.reports["effect"] == pages.reports["control"]:
            continue
        use(player, item, functools.partial(press_fresh, player, before))
        attempt(player.key, "Escape")
    return set(pages.reports["effect"]), set(pages.reports["control"]), size


def players(bench, origin):
    yield "browser-bridge", functools.partial(Bridge, bench, origin)
    for rival in (Playwright, ChromeDevTools, AgentBrowser):
        if os.path.exists(rival.program):
            yield rival.name, functools.partial(rival, bench)
        else:
            bench.skip(f"{rival.name} is not available for the comparison of component libraries")


def measure(bench):
    folder = os.environ.get("LIBRARY_PAGES")
    if not folder or not shutil.which(browser_players.CHROMIUM):
        return bench.skip("component libraries: their pages or Chromium are not available")
    names = sorted(name.removesuffix(".html") for name in os.listdir(folder) if name.endswith(".html"))
    with mcp_rivals.at_home(bench), Pages(folder) as pages:
        totals = {}
        for who, start in players(bench, pages.origin):
            with start() as player:
                totals[who] = {name: exercise(player, pages, f"{pages.origin}/{name}.html") for name in names}
        report(bench, names, totals)


def report(bench, names, totals):
    """Prints the table of docs/browser.md, then adds the sums with their goals."""
    print(f"| library | controls | {' | '.join(totals)} |\n|---|---|{'---|' * len(totals)}")
    for name in names:
        cells = [f"{len(of[name][0])}, {of[name][2][1]} tokens" for of in totals.values()]
        print(f"| {name.replace('_', ' ')} | {len(totals['browser-bridge'][name][1])} | {' | '.join(cells)} |")
    for name, (effects, controls, _) in totals["browser-bridge"].items():
        if controls - effects:
            bench.note(f"browser-bridge, {name}: no effect of {', '.join(sorted(controls - effects))}.")
    sums = {who: [sum(part) for part in zip(*((len(effects), len(controls), *size) for effects, controls, size in of.values()))] for who, of in totals.items()}
    done, controls, *size = sums.pop("browser-bridge")
    bench.row("controls of component libraries that are acted on", f"{done} of {controls}", "", f"{done / controls:.1%}", ">= 98 %", done / controls >= 0.98)
    for who, (theirs, _, *their_size) in sums.items():
        bench.row("controls of component libraries that are acted on", f"{done}", f"{who} {theirs}", "", is_behind=done < theirs)
        for unit, own, other in zip(("bytes", "tokens"), size, their_size):
            bench.row(f"{unit} of their lists", f"{own}", f"{who} {other}", f"{own / other:.1%}", "<= 50 %", own <= other / 2)


MEASUREMENTS = (measure,)
