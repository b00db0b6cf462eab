"""The stand-in for Terraform's providers, with the types that it lacks and the modules use: a copy beside the caches.

`opensearch_domain.json` has the schema of `aws_opensearch_domain` of the provider's version 6.25.0, taken by the
stand-in's own `extract.py` from cdktf-cdktf-provider-aws 21.22.1, with what the provider fills in marked, and the
values that are made up at apply.
"""

import contextlib
import gzip
import hashlib
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any, Final

from tests.deploy.tools import BIN, SHARED

GIVEN: Final = SHARED / "tools/terraform-offline"
_MORE: Final = {"aws_opensearch_domain": Path(__file__).with_name("opensearch_domain.json")}
_ADDRESS: Final = "registry.terraform.io/hashicorp/aws"


def extended() -> Path:
    """The program that takes the place of terraform; made by the first who asks."""
    files = sorted(path for path in GIVEN.rglob("*") if path.is_file())
    state = hashlib.sha256()
    for path in [*files, *_MORE.values(), Path(__file__)]:
        state.update(path.name.encode() + path.read_bytes())
    folder = BIN / f"terraform-offline-{state.hexdigest()[:16]}"
    if not folder.exists():
        BIN.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(dir=BIN))
        made = part / "copy"
        shutil.copytree(GIVEN, made, copy_function=_writable)
        for name, path in _MORE.items():
            _add(made, name, json.loads(path.read_text()))
        with contextlib.suppress(OSError):  # another run was faster
            made.rename(folder)
        shutil.rmtree(part)
    return folder / "tf"


def _writable(source: str, target: str) -> None:
    shutil.copyfile(source, target)
    Path(target).chmod(0o755)


def _add(folder: Path, name: str, more: dict[str, Any]) -> None:
    schemas = folder / "schemas/aws.json.gz"
    document = json.loads(gzip.decompress(schemas.read_bytes()))
    document["provider_schemas"][_ADDRESS]["resource_schemas"].setdefault(name, more["schema"])
    schemas.write_bytes(gzip.compress(json.dumps(document).encode(), mtime=0))
    table = folder / "provider/values.json"
    values = json.loads(table.read_text())
    values["resources"].setdefault(name, more["values"])
    table.write_text(json.dumps(values))
