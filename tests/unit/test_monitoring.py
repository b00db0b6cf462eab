"""Alerts fire when they should and only then; dashboards and runbook are true."""

import itertools
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gregor.worker.metric_list import METRICS
from monitoring import dashboards
from monitoring.panels import DASHBOARDS

ROOT = Path(__file__).parents[2]
ALERTS = ROOT / "monitoring" / "alerts.yml"
NAMES = re.findall(r"- alert: (\w+)", ALERTS.read_text())
PROMTOOL = shutil.which("promtool")
Series = dict[str, str]


def worker(metric: str, more: str = "") -> str:
    return f'{metric}{{job="gregor", instance="w1"{", " + more if more else ""}}}'


def buckets(metric: str, fast: str, all_: str, more: str = "") -> Series:
    """A histogram whose calls take at most 0.25 s, or longer than 30."""
    return {
        worker(f"{metric}_bucket", f'le="{le}"{more}'): fast if le == "0.25" else all_ for le in ("0.25", "120", "+Inf")
    }


VISITS, DEAD = (worker("gregor_visits_total", f'state="{state}"') for state in ("fetched", "dead"))
IDLE = {VISITS: "5x440", worker("gregor_back_queue_urls"): "9x440", worker("gregor_paused"): "0x440"}
ALLOWED, AWAY = (worker("gregor_robots_total", f'decision="{decision}"') for decision in ("allowed", "unreachable"))
BACKING, WAITING = (worker("gregor_hosts", f'state="{state}"') for state in ("backing_off", "waiting"))
LAG = worker("gregor_frontier_lag_records", 'partition="0", priority="1"')

CASES: dict[str, tuple[Series, Series]] = {
    "GregorWorkerDown": ({worker("up"): "0x440"}, {worker("up"): "1x440"}),
    "GregorNoProgress": (IDLE, {**IDLE, worker("gregor_paused"): "1x440"}),
    "GregorImpolite": (
        {worker("gregor_too_close_total"): "0x438 1 1"},
        {worker("gregor_too_close_total"): "1x440", worker("gregor_politeness_margin"): "1.0x440"},
    ),
    "GregorFrontierStalled": (
        {worker("gregor_frontier_stalled_seconds"): "0+60x440"},
        {worker("gregor_frontier_stalled_seconds"): "900x440"},
    ),
    "GregorLagGrows": ({LAG: "0+20000x440"}, {LAG: "5000000x440"}),
    "GregorHostsFailing": ({BACKING: "60x440", WAITING: "40x440"}, {BACKING: "10x440", WAITING: "5x440"}),
    "GregorRobotsUnreachable": ({ALLOWED: "0+2x440", AWAY: "0+1x440"}, {ALLOWED: "0+9x440", AWAY: "0+1x440"}),
    "GregorDeadLetters": ({VISITS: "0+6x440", DEAD: "0+1x440"}, {VISITS: "0+60x440", DEAD: "0+1x440"}),
    "GregorServiceAway": (
        {worker("gregor_unavailable_total", 'service="redis"'): "0+1x440"},
        {worker("gregor_unavailable_total", 'service="redis"'): "7x440"},
    ),
    "GregorStoreSlow": (
        buckets("gregor_border_seconds", "0+1x440", "0+10x440", ', border="store"'),
        buckets("gregor_border_seconds", "0+10x440", "0+10x440", ', border="store"'),
    ),
    "GregorOwnsNothing": ({worker("gregor_partitions_owned"): "0x440"}, {worker("gregor_partitions_owned"): "3x440"}),
    "GregorLeasesLost": (
        {worker("gregor_leases_lost_total"): "0x439 4"},
        {worker("gregor_leases_lost_total"): "4x440"},
    ),
    "GregorTakeoverSlow": (
        buckets("gregor_takeover_seconds", "0x440", "0+10x440"),
        buckets("gregor_takeover_seconds", "0+10x440", "0+10x440"),
    ),
    "GregorDiskFull": (
        {worker("gregor_disk_free_bytes"): "5x440", worker("gregor_disk_size_bytes"): "100x440"},
        {worker("gregor_disk_free_bytes"): "20x440", worker("gregor_disk_size_bytes"): "100x440"},
    ),
    "GregorMemoryFull": (
        {worker("process_resident_memory_bytes"): "95x440", worker("gregor_memory_limit_bytes"): "100x440"},
        {worker("process_resident_memory_bytes"): "50x440", worker("gregor_memory_limit_bytes"): "100x440"},
    ),
}


def test_every_alert_has_a_case_and_an_entry_in_the_runbook() -> None:
    assert list(dict.fromkeys(NAMES)) == NAMES
    assert set(CASES) == set(NAMES)
    entries = re.findall(r"^### (Gregor\w+)$", (ROOT / "docs" / "operations.md").read_text(), re.MULTILINE)
    assert entries == NAMES


def test_nothing_is_asked_for_that_no_worker_serves() -> None:
    served = {metric.series for metric in METRICS}
    served |= {f"{m.name}_{part}" for m in METRICS if m.kind == "histogram" for part in ("bucket", "sum", "count")}
    served |= {"process_cpu_seconds_total", "process_resident_memory_bytes", "up"}
    queries = [query.expr for board in DASHBOARDS for panel in board.panels for query in panel.queries]
    shown = set(re.findall(r"\b(?:gregor|process)_\w+|\bup\b", " ".join(queries)))
    alerted = set(re.findall(r"\b(?:gregor|process)_\w+", ALERTS.read_text()))
    assert shown | alerted <= served
    for metric in METRICS:
        assert any(name.startswith(metric.series) for name in shown), f"{metric.series} is on no dashboard"


def test_the_dashboards_are_true() -> None:
    assert {path: path.read_text() for path in dashboards.FOLDER.iterdir()} == dashboards.files(), (
        "python -m monitoring.dashboards writes them"
    )
    for text in dashboards.files().values():
        taken: set[tuple[int, int]] = set()
        for panel in json.loads(text)["panels"]:
            place = panel["gridPos"]
            across, down = range(place["x"], place["x"] + place["w"]), range(place["y"], place["y"] + place["h"])
            cells = set(itertools.product(across, down))
            assert not cells & taken
            assert max(x for x, _ in cells) < 24
            taken |= cells


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed (Debian: prometheus)")
def test_alerts_fire_when_they_should_and_only_then(tmp_path: Path) -> None:
    assert PROMTOOL is not None
    tests = [
        _case(name, given, fires)
        for name, pair in CASES.items()
        for given, fires in zip(pair, (True, False), strict=True)
    ]
    suite = tmp_path / "alerts.json"  # JSON is YAML
    suite.write_text(json.dumps({"rule_files": [str(ALERTS)], "evaluation_interval": "1m", "tests": tests}))
    done = subprocess.run(
        [PROMTOOL, "test", "rules", str(suite)], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _case(name: str, given: Series, fires: bool) -> dict[str, object]:
    firing = f'count(ALERTS{{alertname="{name}", alertstate="firing"}}) or vector(0)'
    expected = {"expr": firing, "eval_time": "440m", "exp_samples": [{"labels": "{}", "value": int(fires)}]}
    return {
        "name": f"{name}, {'fires' if fires else 'quiet'}",
        "interval": "1m",
        "input_series": [{"series": series, "values": values} for series, values in given.items()],
        "promql_expr_test": [expected],
    }
