"""What is kept of a crawl's settings: files of rules by their whole name; of plug-ins only that there were some."""

from pathlib import Path

import pytest

from gregor.worker.base.errors import BadInput
from gregor.worker.config import kept
from gregor.worker.config.settings import Config, replace


def test_rules_are_kept_by_their_whole_name_and_code_is_not_kept() -> None:
    config = replace(Config(), rules=["a.toml"], plugins=["mine.py:Mine"])
    sources = {"rules": "--rules", "plugins": "--plugin"}
    before = kept.decode(kept.encode(kept.to_keep(config, sources)))
    assert before.values == {"rules": [str(Path("a.toml").absolute())]}
    with pytest.raises(BadInput, match=r"made with plugins, which is code and is not kept: give it again, or --set"):
        kept.refuse_missing(before, {})
    kept.refuse_missing(before, sources)
    assert kept.to_keep(replace(config, plugins=[]), sources).withheld == ()
