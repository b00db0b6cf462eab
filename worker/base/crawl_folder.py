"""What makes a folder one of a crawl on one machine: told without opening anything, where no engine is loaded."""

import os
from pathlib import Path
from typing import Final

DATABASE: Final = "crawl.db"


def holds_crawl(folder: str | os.PathLike[str]) -> bool:
    """Whether the database of a crawl is there, whatever it is like inside."""
    return Path(folder, DATABASE).exists()
