"""Agents with the same model that work in a page of MiniWoB++, each a process that is stopped when the episode is over."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import browser_players

# `llm-pipe check` finds that it has no eyes and does not make structured calls.
MODEL = "llama.cpp/medium"
STEPS = 6
# What leaves the page ends the episode, so nobody has it.
BRIDGE_LEAVES = ("browser_navigate", "browser_back", "browser_forward", "browser_reload", "browser_open_in_new_tab", "browser_close_tab",
                 "browser_switch_tab", "browser_tabs")
PLAYWRIGHT_LEAVES = ("browser_navigate", "browser_navigate_back", "browser_tabs", "browser_close", "browser_install")
FLAGS = ["--headless=new", "--remote-debugging-port=0", "--no-first-run", f"--window-size={browser_players.WIDTH},{browser_players.HEIGHT}",
         *["--no-sandbox"] * browser_players.IS_ROOT]


@contextlib.contextmanager
def chromium(url):
    """The address of the debugging port of a browser with this page."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen([shutil.which(browser_players.CHROMIUM), *FLAGS, f"--user-data-dir={profile}", url],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            found = (re.search(r"listening on ws://([^/]+)/", line) for line in process.stderr)
            address = next((match[1] for match in found if match), None)
            if not address:
                raise OSError("Chromium has not started")
            yield f"http://{address}"
        finally:
            process.terminate()
            process.wait()


class Player:
    """A player's files are in a folder of their own."""

    def __init__(self, bench, server, files):
        self.bench, self.server, self.files = bench, server, pathlib.Path(files, self.name)
        self.files.mkdir(parents=True, exist_ok=True)
        self.environment = {**os.environ, "XDG_STATE_HOME": str(files), "XDG_CONFIG_HOME": str(files)}
        models = pathlib.Path(files, "pipewright", "models.toml")
        models.parent.mkdir(exist_ok=True)
        models.write_text(f'["{MODEL}"]\nabilities = {{ tools = false, images = false }}\n', encoding="utf-8")

    def start(self, task, command):
        """Starts a command with its output in files."""
        with open(self.files / f"{task}.out", "wb") as out, open(self.files / f"{task}.err", "wb") as err:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=self.environment)

    def last(self, task):
        """The last record of its output that has an account."""
        records = [json.loads(line) for line in (self.files / f"{task}.out").read_text().splitlines()]
        return next((record for record in reversed(records) if "steps" in record), {})


class AgentLoop(Player):
    def loop(self, task, goal, profile, leaves, world):
        session = self.files / f"{task}.session"
        session.unlink(missing_ok=True)
        denied = [word for tool in leaves for word in ("--deny", tool)]
        return self.start(task, [self.bench.program("agent-loop"), "--model", MODEL, "--base-url", self.server, "--set", "temperature=0", "--profile", profile,
                                 "--goal", goal, "--max-steps", str(STEPS), "--session", session, *denied, "--", *world])

    def account(self, task):
        final = self.last(task)
        usage = final.get("usage", {})
        return {"steps": final.get("steps", 0), "input": usage.get("input", 0), "output": usage.get("output", 0), "end": final.get("content", "")}


class Bridge(AgentLoop):
    name = "browser-bridge"

    @contextlib.contextmanager
    def play(self, task, url, goal):
        origin = url.partition("/miniwob/")[0]
        yield self.loop(task, goal, "browser", BRIDGE_LEAVES, [self.bench.program("browser-bridge"), "--headless", "--allow-origin", origin, url])


class Playwright(AgentLoop):
    name = "@playwright/mcp"

    @contextlib.contextmanager
    def play(self, task, url, goal):
        with chromium(url) as address:
            server = browser_players.node(browser_players.Playwright.program, "--cdp-endpoint", address, "--snapshot-mode", "none",
                                          "--output-dir", self.bench.file("playwright"))
            yield self.loop(task, goal, "playwright", PLAYWRIGHT_LEAVES, [self.bench.program("mcp-pipe"), "--", *server])


class BrowserUse(Player):
    name = "browser-use"

    @contextlib.contextmanager
    def play(self, task, url, goal):
        with chromium(url) as address:
            script = os.path.join(os.path.dirname(__file__), "live_browser_use.py")
            self.environment.update(ANONYMIZED_TELEMETRY="false", BROWSER_USE_CONFIG_DIR=str(self.files))
            yield self.start(task, [os.environ["BROWSER_USE_PYTHON"], "-B", script, address, self.server, str(STEPS), goal])

    def account(self, task):
        return self.last(task)
