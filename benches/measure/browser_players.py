"""Drives a browser with the same operations in each program: browser-bridge, and third-party MCP servers.

An operation returns the number of bytes of its answer that a model reads. All programs drive the same Chromium, without a window,
with a page of the same size.
"""

import functools
import json
import os
import platform
import re
import shutil
import subprocess

CHROMIUM = "chromium"
WIDTH, HEIGHT = 1280, 720
# The browser's sandbox does not start as root.
IS_ROOT = os.geteuid() == 0
# agent-browser's names.
MACHINES = {"x86_64": "x64", "aarch64": "arm64"}


class Player:
    """A process that answers line by line; the `with` ends it."""

    def __init__(self, command, **environment):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        env={**os.environ, **environment})
        self.last = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def say(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self):
        line = self.process.stdout.readline()
        if not line:
            raise OSError(f"{self.name} has ended")
        return line


class Bridge(Player):
    name = "browser-bridge"

    def __init__(self, bench, origin):
        super().__init__([bench.program("browser-bridge"), "--headless", "--browser", shutil.which(CHROMIUM), "--viewport", f"{WIDTH}x{HEIGHT}",
                          "--save-media", bench.file("media"), "--allow-origin", origin])

    def call(self, tool, **arguments):
        """The result, and the bytes of the complete line."""
        self.last += 1
        self.say({"tool": tool, "args": arguments, "id": self.last})
        line = self.receive()
        answer = json.loads(line)
        if answer["status"] != "ok":
            raise OSError(f"{tool} is answered with {line!r}")
        return answer["data"], len(line)

    def open(self, url):
        self.call("browser_navigate", url=url)

    def find_button(self):
        self.button = self.call("browser_find", text="Press")[0]["items"][0]["index"]

    def click(self, **arguments):
        return self.call("browser_overlay_act", index=self.button, **arguments)[1]

    def click_without_settling(self):
        return self.click(settle="none")

    def list_viewport(self):
        return self.call("browser_list_interactives", refresh=True)[1]

    def list_page(self):
        return self.call("browser_list_interactives", refresh=True, scope="page", limit=1000)[1]

    def show_numbers(self):
        self.call("browser_overlay_show")

    def picture(self):
        return self.call("browser_screenshot")[1]

    numbered_picture = picture


class McpServer(Player):
    """Counts the bytes of the texts and pictures of a result: the rest of the line is not for a model."""

    def __init__(self, command, **environment):
        super().__init__(command, **environment)
        self.request("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "bench", "version": "1"})
        self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def request(self, method, **parameters):
        self.last += 1
        self.say({"jsonrpc": "2.0", "id": self.last, "method": method, "params": parameters})
        while True:
            answer = json.loads(self.receive())
            if answer.get("id") == self.last and "method" not in answer:
                return answer["result"]

    def call(self, tool, **arguments):
        """The text of the result, and the bytes of all of it."""
        result = self.request("tools/call", name=tool, arguments=arguments)
        text = "".join(part.get("text", "") for part in result["content"])
        if result.get("isError"):
            raise OSError(f"{self.name}: {tool} is answered with {text}")
        return text, len(text.encode()) + sum(len(part.get("data", "")) for part in result["content"])

    def show_numbers(self):
        """Programs that can draw numbers do so in each picture."""

    def find_button(self):
        self.button = re.search(self.BUTTON, self.snapshot()[0])[1]

    def list_page(self):
        return self.snapshot()[1]


def installed(variable, *path):
    return os.path.join(os.environ.get(variable, ""), "node_modules", *path)


def node(*script):
    return [installed("MCP_SERVERS", "node", "bin", "node"), *script]


class Playwright(McpServer):
    name = "@playwright/mcp"
    program = installed("MCP_SERVERS", ".bin", "playwright-mcp")
    BUTTON = r'button "Press".*\[ref=(\w+)\]'

    def __init__(self, bench):
        arguments = ["--headless", "--isolated", "--executable-path", shutil.which(CHROMIUM), "--viewport-size", f"{WIDTH}x{HEIGHT}",
                     "--output-dir", bench.file("playwright")]
        super().__init__(node(self.program, *arguments, *["--no-sandbox"] * IS_ROOT))

    def open(self, url):
        self.call("browser_navigate", url=url)

    def snapshot(self):
        return self.call("browser_snapshot")

    def click(self):
        return self.call("browser_click", target=self.button)[1]

    def picture(self):
        return self.call("browser_take_screenshot")[1]


class ChromeDevTools(McpServer):
    name = "chrome-devtools-mcp"
    program = installed("BROWSER_RIVALS", ".bin", "chrome-devtools-mcp")
    BUTTON = r'uid=(\w+) button "Press"'

    def __init__(self, bench):
        arguments = ["--headless", "--isolated", "--executablePath", shutil.which(CHROMIUM), "--viewport", f"{WIDTH}x{HEIGHT}",
                     "--no-usage-statistics", "--no-performance-crux"]
        super().__init__(node(self.program, *arguments, *["--chromeArg=--no-sandbox"] * IS_ROOT))

    def call(self, tool, **arguments):
        # It starts with one page.
        return super().call(tool, pageId=1, **arguments)

    def open(self, url):
        # The first call starts its browser, and must not be about a page.
        super().call("list_pages")
        self.call("navigate_page", type="url", url=url)

    def snapshot(self):
        return self.call("take_snapshot")

    def click(self):
        return self.call("click", uid=self.button)[1]

    def picture(self):
        return self.call("take_screenshot")[1]


class AgentBrowser(McpServer):
    name = "agent-browser"
    program = installed("BROWSER_RIVALS", "agent-browser", "bin", f"agent-browser-linux-{MACHINES.get(platform.machine())}")
    BUTTON = r'button "Press" \[ref=(\w+)\]'

    def __init__(self, bench):
        # Its daemon continues to run, for the next command of the same session.
        session = f"bench-{os.getpid()}-{id(self)}"
        super().__init__([self.program, "mcp"], AGENT_BROWSER_EXECUTABLE_PATH=shutil.which(CHROMIUM), AGENT_BROWSER_SESSION=session,
                         AGENT_BROWSER_ARGS="--no-sandbox" if IS_ROOT else "", AGENT_BROWSER_SCREENSHOT_DIR=bench.file("agent-browser"))

    def __exit__(self, *exception):
        self.call("agent_browser_close")
        super().__exit__(*exception)

    def open(self, url):
        self.call("agent_browser_open", url=url)

    def snapshot(self):
        return self.call("agent_browser_snapshot")

    def click_without_settling(self):
        return self.call("agent_browser_click", selector=f"@{self.button}")[1]

    def picture(self):
        return self.call("agent_browser_screenshot")[1]

    def numbered_picture(self):
        return self.call("agent_browser_screenshot", annotate=True)[1]


def rivals(bench):
    """The available programs."""
    for rival in (Playwright, ChromeDevTools, AgentBrowser):
        if os.path.exists(rival.program):
            yield functools.partial(rival, bench), rival.name
        else:
            bench.skip(f"{rival.name} is not available for the comparison with browser-bridge")
