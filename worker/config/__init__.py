"""Every setting with its meaning, where it may come from, and whether the settings make sense together.

Imports base and web. What a setting does is decided by the wing that it configures.
"""
