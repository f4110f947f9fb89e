"""sts-proxy: the time it adds to a round trip, and its memory."""

import json
import os
import subprocess

import inputs
from processes import ping_pong

WARM_UPS = 300
ROUND_TRIPS = 5_000
DECISIONS = 20_000


def proxied(bench, sync, agent):
    data = bench.file(f"records-{sync}")
    return [bench.program("sts-proxy"), "--quiet", "--sync", sync, "--data-dir", data, "--", *agent]


def latency(bench):
    """Uses the fight of median size, and an agent that plays its first legal action."""
    fights = sorted((message for message in inputs.game(bench.fixtures) if b'"combat_state":' in message), key=len)
    path = bench.file("fight.json")
    inputs.repeat([fights[len(fights) // 2]], 0, path)
    with open(path, "rb") as fight:
        bare = subprocess.run([bench.program("valid-actions"), "--bare"], stdin=fight, stdout=subprocess.PIPE, check=True)
    agent = [bench.example("echo-agent"), str(json.loads(bare.stdout)["action_ids"][0])]
    # Separately, so that the kernel's pending writes of one do not disturb the other.
    for sync in ("never", "each"):
        players = [agent, proxied(bench, sync, agent)]
        direct, ours = ping_pong(bench, path, "floor", WARM_UPS, ROUND_TRIPS, players)
        for key, name in (("p50_us", "median"), ("p99_us", "p99")):
            goal = 60 if sync == "never" and name == "median" else None
            bench.added(f"sts-proxy --sync {sync}: round trip, {name}", ours[key], "no proxy", direct[key], "us", goal)
    size = os.path.getsize(path)
    bench.note(f"sts-proxy's round trip is a state of {size} bytes to the agent and its command back, {ROUND_TRIPS} times.")
    bench.note("With --sync each it waits for the disk of the scratch folder.")
    (played,) = ping_pong(bench, path, "floor", WARM_UPS, DECISIONS - WARM_UPS, [proxied(bench, "never", agent)])
    bench.memory(f"sts-proxy, {DECISIONS} decisions", played["peak_kib"])


MEASUREMENTS = (latency,)
