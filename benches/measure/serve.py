"""agent-serve: many clients of one session, compared with websocketd, which starts a program for each client."""

import json
import os
import shutil
import subprocess
import sys
import time

from processes import on_all_cores

TOKEN = "a-token-for-measuring"
RECORDS, RATE = 1000, 100
LAST = "the last record"
# After a message, the agent writes RECORDS records, RATE per second.
AGENT = f"""
import sys, time
sys.stdin.readline()
began = time.monotonic()
for number in range({RECORDS}):
    time.sleep(max(0, began + number / {RATE} - time.monotonic()))
    print('{{"type":"observation","source":"bench","data":{{"n":%d,"text":"%s"}}}}' % (number, "x" * 100), flush=True)
print('{{"type":"observation","source":"bench","data":{{"text":"{LAST}"}}}}', flush=True)
sys.stdin.read()
"""


def cpu(pid):
    """The CPU seconds of a process and its ended children."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def peak(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int(next(line for line in file if line.startswith("VmHWM:")).split()[1])


def post(address, path, body):
    headers = [f"Authorization: Bearer {TOKEN}", "Content-Type: application/json"]
    return subprocess.run(["curl", "-sf", f"http://{address}{path}", *(word for header in headers for word in ("-H", header)), "-d", body],
                          stdout=subprocess.DEVNULL, check=False)


def fan_out(bench, address, events, sockets, path, begin, pid):
    """(CPU seconds of the server, its peak memory in KiB, the counts of the clients)"""
    command = [bench.example("fan-out"), address, TOKEN, "/sessions/s/events", str(events), path, str(sockets), LAST]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as clients:
        if clients.stdout.readline() != "ready\n":
            raise ValueError("the clients could not connect")
        used, talk = cpu(pid), begin()
        came = json.loads(clients.stdout.readline())
        used = cpu(pid) - used
    if talk:
        talk.wait()
    return used, peak(pid), came


def ours(bench, events, sockets):
    command = [bench.program("agent-serve"), "--listen", "127.0.0.1:0", "--max-connections", "4096", "--", sys.executable, "-c", AGENT]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "AGENT_SERVE_TOKEN": TOKEN}) as server:
        try:
            address = server.stderr.readline().split("http://")[1].split("/")[0]
            post(address, "/sessions", '{"session_id":"s"}')
            run = {"threadId": "s", "runId": "r", "tools": [], "context": [], "messages": [{"id": "1", "role": "user", "content": "Go."}]}

            def begin():
                # Its answer is a stream that is not needed.
                return subprocess.Popen(["timeout", "1", "curl", "-s", f"http://{address}/ag-ui", "-H", f"Authorization: Bearer {TOKEN}",
                                         "-H", "Content-Type: application/json", "-d", json.dumps(run)], stdout=subprocess.DEVNULL)

            return fan_out(bench, address, events, sockets, "/sessions/s/ws", begin, server.pid)
        finally:
            server.terminate()


def websocketds(bench, sockets):
    path = bench.file("lines")
    with open(path, "w", encoding="ascii"):
        pass
    port = 17_718
    command = ["websocketd", f"--port={port}", "--address=127.0.0.1", "--loglevel=fatal", "tail", "-n", "+1", "-f", path]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            time.sleep(0.5)

            def begin():
                script = AGENT.replace("sys.stdin.readline()", "").replace("sys.stdin.read()", "")
                with open(path, "a", encoding="ascii") as file:
                    return subprocess.Popen([sys.executable, "-c", script], stdout=file)

            return fan_out(bench, f"127.0.0.1:{port}", 0, sockets, "/", begin, server.pid)
        finally:
            server.terminate()


def clients(bench):
    with on_all_cores():
        used, memory, came = ours(bench, 1000, 200)
        what = f"agent-serve, 1,000 event streams and 200 WebSockets, {RATE} records/s"
        expected = 1200 * (RECORDS + 1)
        is_whole = came["gaps"] == 0 and came["lines"] >= expected
        bench.row(f"{what}: lines that came, gaps", f"{came['lines']}, {came['gaps']}", "", "", f">= {expected}, 0", is_whole)
        bench.row(f"{what}: one core is busy for", f"{100 * used * RATE / RECORDS:.0f} %", "", "")
        bench.row(f"{what}: peak memory", f"{memory / 1024:.1f} MiB", "", "", "< 64 MB", memory * 1024 < 64e6)
        if not shutil.which("websocketd"):
            bench.skip("websocketd is not available for the comparison")
            return
        ours_used, theirs_used = ours(bench, 0, 200)[0], websocketds(bench, 200)[0]
        bench.note("websocketd starts a program for each client (`tail -f` of a file here), whose CPU time is not counted.")
        bench.faster(f"agent-serve, 200 WebSockets, {RECORDS} records each: CPU time", ours_used, "websocketd", theirs_used)


MEASUREMENTS = (clients,)
