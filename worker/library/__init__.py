"""Gregor as a Python library: what `gregor.open` and `gregor.Crawl` give. See docs/library.md.

    arguments.py  arguments as settings           loop.py       an event loop beside the caller's own thread
    archive.py    a crawl that is read            page.py       a page of it
    crawl.py      a crawl that runs              follow.py     its pages as they come

The names that these have without an underscore are public. Imports everything but the commands.
"""
