"""What is kept of a round beside its request log and the workers' logs: enough to judge it again."""

from pathlib import Path

import msgspec

from tests.cluster.chaos.crew import Worker
from tests.cluster.chaos.faults import Faults


class Evidence(msgspec.Struct, kw_only=True):
    """Times are monotonic seconds, those of the request log."""

    repeat: str
    begun: float
    faults: list[tuple[float, str]]
    kills: list[tuple[float, str]]
    troubles: list[tuple[float, float]]
    outages: list[tuple[float, float]]
    hurt: dict[str, list[float]]
    violations: list[str]


def keep(folder: Path, repeat: str, begun: float, faults: Faults, workers: list[Worker], violations: list[str]) -> None:
    """Write round.json."""
    evidence = Evidence(
        repeat=repeat,
        begun=begun,
        faults=faults.done,
        kills=faults.kills,
        troubles=faults.troubles,
        outages=faults.outages,
        hurt={worker.name: worker.hurt for worker in workers},
        violations=violations,
    )
    (folder / "round.json").write_bytes(msgspec.json.format(msgspec.json.encode(evidence), indent=1))
