extends RefCounted
## The settings, which the menu writes and the game reads.

## The speed of the balls in pixels per second, by the name of the difficulty.
const SPEEDS: Dictionary[String, float] = {"Easy": 60.0, "Normal": 120.0, "Hard": 240.0}

static var difficulty: String = "Normal"
static var player: String = ""
static var volume: float = 50.0
