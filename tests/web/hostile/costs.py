"""What reading a document that means harm costs, in a process of its own."""

import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from tests.web.hostile.document import CODING, HEADER, ROBOTS, SITEMAP, Hostile

MOST_SECONDS: Final = 1.0
"""Processor time that one may take."""
MOST_MEMORY: Final = 150
"""MB by which it may raise the peak of resident memory, its own bytes among them."""
TRIES: Final = 4


@dataclass(frozen=True, slots=True)
class Cost:
    """What one document took: seconds of processor time, and MB of memory at its peak."""

    seconds: float
    memory: float
    said: str
    """What was read of it, in a few words."""

    @property
    def within(self) -> bool:
        """Whether that is no more than the bound."""
        return self.seconds <= MOST_SECONDS and self.memory <= MOST_MEMORY


def cost(hostile: Hostile) -> Cost:
    """Reads a document in a process of its own: the least that it took, of a few tries if the first ones took more
    than the bound, since whoever shares the processor's cores makes each second of its time do less. Raises
    CalledProcessError if a process dies."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(hostile.body())
        file.flush()
        command = [sys.executable, "-m", "tests.web.hostile", "--child", file.name, hostile.kind]
        best: Cost | None = None
        for _ in range(TRIES):
            answer = subprocess.run(command, check=True, capture_output=True, timeout=120)
            took = Cost(**json.loads(answer.stdout))
            best = took if best is None or took.seconds < best.seconds else best
            if best.within:
                break
    assert best is not None
    return best


def child(file: Path, kind: str) -> str:
    """Reads the file in this process, after something small that loads all that is loaded once; the cost as JSON."""
    from tests.web.hostile import reading

    for warm in ("<p>some <a href=x>words</a>" * 20, "<urlset><url><loc>http://h/</loc></url></urlset>"):
        for warm_kind in ("text/html; charset=utf-8", SITEMAP, ROBOTS, f"{HEADER}Link", f"{CODING}gzip"):
            reading.read(warm.encode(), warm_kind)
    before, started = _peak(), time.process_time()
    said = reading.read(file.read_bytes(), kind)
    return json.dumps(asdict(Cost(round(time.process_time() - started, 3), round(_peak() - before, 1), said)))


def _peak() -> float:
    """The peak of this program's resident memory, MB; that of ru_maxrss may be its parent's."""
    status = Path("/proc/self/status")
    if status.is_file():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
