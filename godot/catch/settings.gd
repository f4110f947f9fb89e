extends RefCounted
## What the menu sets and the game reads.

## How fast the balls fall, in pixels a second, by the name of the difficulty.
const SPEEDS: Dictionary[String, float] = {"Easy": 60.0, "Normal": 120.0, "Hard": 240.0}

static var difficulty: String = "Normal"
static var player: String = ""
static var volume: float = 50.0
