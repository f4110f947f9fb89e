"""Other programs that call tools of MCP servers from a shell: those that start the server for each call, and those that keep
one for many. Each is started by its interpreter with the installed file, because a start script would take extra time."""

import contextlib
import glob
import json
import os
import shlex
import shutil
import signal
import subprocess
from collections import namedtuple

PATIENCE = 60
SAID = b"Echo: hi"
LENGTH_OF_COMPLAINT = 300

# `start` and `stop` are commands around any number of `call`s.
Keeper = namedtuple("Keeper", "start call stop")


def installed(*path):
    return os.path.join(os.environ.get("MCP_RIVALS", ""), *path)


def node():
    """The rivals need a newer Node than many systems have. The server runs on the same one."""
    own = installed("node_modules", "node", "bin", "node")
    return own if os.path.exists(own) else shutil.which("node")


def script(*path):
    return [node(), installed("node_modules", *path)]


def one_shots(server):
    inspector = [*script("@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js"), "--cli", *server]
    mcporter = script("mcporter", "dist", "cli.js")
    return {
        "mcporter call": [*mcporter, "call", "--stdio", shlex.join(server), "echo", "message=hi"],
        "inspector --cli": [*inspector, "--method", "tools/call", "--tool-name", "echo", "--tool-arg", "message=hi"],
    }


def keepers(bench, server):
    mcp2cli = [installed("python", "bin", "python3"), installed("python", "bin", "mcp2cli")]
    mcporter = [*script("mcporter", "dist", "cli.js"), "--config", mcporter_config(bench, server)]
    mcpdo = script("@modelcontextprotocol", "inspector", "clients", "mcpdo", "build", "mcp-bin.js")
    return {
        "mcp2cli --session": Keeper([*mcp2cli, "--mcp-stdio", shlex.join(server), "--session-start", "bench"],
                                    [*mcp2cli, "--session", "bench", "echo", "--message", "hi"],
                                    [*mcp2cli, "--session-stop", "bench"]),
        "mcporter daemon": Keeper([*mcporter, "daemon", "start"],
                                  [*mcporter, "call", "everything.echo", "message=hi"],
                                  [*mcporter, "daemon", "stop"]),
        "inspector's mcpdo": Keeper([*mcpdo, "--connection", "bench", "connect", *server],
                                    [*mcpdo, "--connection", "bench", "tools/call", "echo", "message:=hi"],
                                    [*mcpdo, "daemon", "stop"]),
    }


def mcporter_config(bench, server):
    path = bench.file("mcporter.json")
    kept = {"command": server[0], "args": server[1:], "lifecycle": "keep-alive"}
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"mcpServers": {"everything": kept}, "imports": []}, file)
    return path


def works(bench, name, command):
    """Whether a rival can make the call at all. Afterwards its files are cached in memory."""
    if not all(map(os.path.exists, command[:2])):
        bench.skip(f"{name} is not available for the comparison with mcp-pipe")
        return False
    try:
        called = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
    except (OSError, subprocess.TimeoutExpired) as error:
        bench.skip(f"mcp-pipe compared with {name}: {error}")
        return False
    if called.returncode != 0 or SAID not in called.stdout:
        said = (called.stdout + called.stderr)[-LENGTH_OF_COMPLAINT:].decode(errors="replace")
        bench.skip(f"mcp-pipe compared with {name}, which ended with {called.returncode}: ..{said}")
        return False
    return True


@contextlib.contextmanager
def kept(bench, name, keeper):
    """Whether it works while its server is kept running."""
    # A daemon would keep inherited pipes open.
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "timeout": PATIENCE}
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        # If it cannot be started, the call fails as well.
        subprocess.run(keeper.start, check=False, **quiet)
    try:
        yield works(bench, name, keeper.call)
    finally:
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            subprocess.run(keeper.stop, check=False, **quiet)


@contextlib.contextmanager
def at_home(bench):
    """Processes started within get their own home, and end with the block, including daemons."""
    home = bench.file("home")
    os.makedirs(home, exist_ok=True)
    before = dict(os.environ)
    for name in [name for name in before if name.startswith("XDG_")]:
        del os.environ[name]
    os.environ["HOME"] = home
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        end_all_of(home)


def end_all_of(home):
    mark = b"\0HOME=" + os.fsencode(home) + b"\0"
    for path in glob.glob("/proc/[0-9]*/environ"):
        # Those of other users cannot be read, and some have just ended.
        with contextlib.suppress(OSError):
            with open(path, "rb") as environ:
                if mark in b"\0" + environ.read():
                    os.kill(int(path.split("/")[2]), signal.SIGKILL)
