"""valid-actions: its throughput, and its memory."""

import shutil

import inputs
from processes import least, peak_of, run


def real_messages(bench):
    return inputs.make(bench, "game", lambda: inputs.game(bench.fixtures))


def throughput(bench):
    game = real_messages(bench)
    runs = {
        "ours": lambda: run([bench.program("valid-actions")], game.whole),
        "scan": lambda: run([bench.example("ignored-any")], game.whole),
    }
    if jq := shutil.which("jq"):
        runs["jq"] = lambda: run([jq, "-c", "."], game.tenth).scaled(game.scale)
    else:
        bench.skip("jq is not available for the comparison")
    used = least(runs)
    what = f"valid-actions, {game.size / 1e6:.0f} MB: CPU time"
    if jq:
        bench.faster(what, used["ours"].cpu, "jq -c .", used["jq"].cpu, goal=12)
    bench.faster(what, used["ours"].cpu, "IgnoredAny", used["scan"].cpu, goal=0.4, floor=True)


def memory(bench):
    game = real_messages(bench)
    peak = peak_of([bench.program("valid-actions")], game.whole)
    bench.memory(f"valid-actions, {game.size / 1e6:.0f} MB from a pipe", peak)


MEASUREMENTS = (throughput, memory)
