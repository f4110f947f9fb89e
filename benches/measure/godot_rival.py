"""godot-e2e's own client, as a program for its own Python: GODOT PROJECT NODE PROPERTY WARM_UPS ROUND_TRIPS TREES.

Prints the times to read the property and the tree, in milliseconds, as one JSON object.
"""

import functools
import json
import statistics
import sys
import time

from godot_e2e import GodotE2E


def median(act, times):
    took = []
    for _ in range(times):
        began = time.perf_counter()
        act()
        took.append((time.perf_counter() - began) * 1e3)
    return statistics.median(took)


def main():
    godot, project, node, name, *counts = sys.argv[1:]
    warm_ups, round_trips, trees = map(int, counts)
    with GodotE2E.launch(project, godot_path=godot, timeout=60, extra_args=["--headless"]) as game:
        read = functools.partial(game.get_property, node, name)
        game.wait_for_node(node)
        median(read, warm_ups)
        json.dump({"read_ms": median(read, round_trips), "tree_ms": median(game.get_tree, trees)}, sys.stdout)


main()
