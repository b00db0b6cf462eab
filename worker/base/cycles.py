"""Garbage that holds itself."""

import gc


def look_seldom() -> None:
    """For who runs long and makes next to nothing of it: the collector looks seldom, and never at what was made before
    this call."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
