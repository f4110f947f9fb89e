"""The split of the lists: a third of the servers and programs is held out."""

import hashlib


def is_held_out(name):
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % 3 == 0
