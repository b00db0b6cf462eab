"""How hard both engines compress what they keep of pages."""

from typing import Final

LEVEL: Final = 1
"""Of zstd: three quarters of the time of level 3, the default, for 4 % more bytes."""
