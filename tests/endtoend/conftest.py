"""Fixtures of whole commands: see `site.py`."""

from tests.endtoend.site import here, names, site, web

__all__ = ["here", "names", "site", "web"]
