"""Gregor, a distributed web crawler."""

from importlib.metadata import version

__version__ = version("gregor-crawler")
