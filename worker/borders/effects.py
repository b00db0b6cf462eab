"""Effects of an owner, each made only while its lease holds."""


class LeaseLost(Exception):
    """The lease may have run out: what runs under it stops, without an effect."""
