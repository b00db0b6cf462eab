"""Alerts fire when they should and only then, as Prometheus's own tool judges them."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from monitoring import RUNBOOK
from tests.operation import server_alerts

ROOT = Path(__file__).parents[2]
ALERTS = ROOT / "monitoring" / "alerts.yml"
NAMES = re.findall(r"- alert: (\w+)", ALERTS.read_text())
PROMTOOL = shutil.which("promtool")
needs_promtool = pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed (Debian: prometheus)")
Series = dict[str, str]


def worker(metric: str, more: str = "") -> str:
    return of_crawl("a", metric, more)


def of_crawl(crawl: str, metric: str, more: str = "") -> str:
    """Of one of two crawls that share a job."""
    return f'{metric}{{job="gregor", crawl="{crawl}", instance="{crawl}1"{", " + more if more else ""}}}'


def buckets(metric: str, fast: str, all_: str, more: str = "") -> Series:
    """A histogram whose calls take at most 0.25 s, or longer than 30."""
    return {
        worker(f"{metric}_bucket", f'le="{le}"{more}'): fast if le == "0.25" else all_ for le in ("0.25", "120", "+Inf")
    }


def of_four(last: str, *, gone: bool) -> Series:
    """Requests of four workers of a crawl that has work; of ``gone`` ones the metrics end half an hour ago."""
    requests = {
        f'gregor_requests_total{{job="gregor",crawl="a",instance="a{at}"}}': "0+600x400" if gone else "0+600x440"
        for at in range(3)
    }
    work = {worker("gregor_back_queue_urls"): "9x440", worker("gregor_paused"): "0x440"}
    return {**requests, **work, 'gregor_requests_total{job="gregor",crawl="a",instance="a3"}': last}


UP = 'up{job="gregor", instance="a1"}'
INFO = worker("gregor_worker_info", 'version="1"')
VISITS, DEAD = (worker("gregor_visits_total", f'state="{state}"') for state in ("fetched", "dead"))
IDLE = {VISITS: "5x440", worker("gregor_back_queue_urls"): "9x440", worker("gregor_paused"): "0x440"}
ALLOWED, AWAY = (worker("gregor_robots_total", f'decision="{decision}"') for decision in ("allowed", "unreachable"))
BACKING, SHUT, WAITING = (worker("gregor_hosts", f'state="{state}"') for state in ("backing_off", "robots", "waiting"))
LAG = worker("gregor_frontier_lag_records", 'partition="0", priority="1"')

CASES: dict[str, tuple[Series, Series]] = {
    "GregorWorkerDown": ({UP: "0x440", INFO: "1x400"}, {UP: "1x440", INFO: "1x440"}),
    "GregorNoWorker": (
        {INFO: "1x400", of_crawl("b", "gregor_worker_info"): "1x440", UP: "1x440"},  # b has workers, and answers
        {INFO: "1x440", of_crawl("b", "gregor_worker_info"): "1x440"},
    ),
    "GregorNoProgress": (IDLE, {**IDLE, worker("gregor_paused"): "1x440"}),
    "GregorThroughputDrop": (
        # One of two crawls loses three of four workers.
        {**of_four("1x440", gone=True), of_crawl("b", "gregor_requests_total"): "0+600x440"},
        # One dead worker of four is no drop.
        {
            **of_four("0+600x440", gone=False),
            'gregor_requests_total{job="gregor",crawl="a",instance="a9"}': "0+600x400",
        },
    ),
    "GregorImpolite": (
        {worker("gregor_too_close_total"): "0x438 1 1"},
        {worker("gregor_too_close_total"): "1x440", worker("gregor_politeness_margin"): "1.0x440"},
    ),
    "GregorItemsFallen": (
        {worker("gregor_item_fields_fallen", 'rule="job", field="title"'): "_x420 1x20"},
        {worker("gregor_item_fields_fallen", 'rule="job", field="title"'): "_x400 1x4 _x36"},
    ),
    "GregorNoIndexWorker": (
        {worker("gregor_index_partitions"): "4x400", INFO: "1x440"},
        # One of a crawl that is over, and one that goes on beside another that ended.
        {
            of_crawl("b", "gregor_index_partitions"): "4x400",
            worker("gregor_index_partitions"): "4x440",
            'gregor_index_partitions{job="gregor", crawl="a", instance="a2"}': "4x400",
            INFO: "1x440",
        },
    ),
    "GregorIndexBehind": (
        {worker("gregor_index_behind_seconds"): "0x400 900x40"},
        {worker("gregor_index_behind_seconds"): "900x400 30x40"},
    ),
    "GregorIndexNotWritten": (
        {worker("gregor_index_failures_total"): "0+1x440", worker("gregor_index_documents_total"): "7x440"},
        {worker("gregor_index_failures_total"): "0+1x440", worker("gregor_index_documents_total"): "0+9x440"},
    ),
    "GregorIndexRefuses": (
        {worker("gregor_index_refused_total"): "0x400 0+1x40"},
        {worker("gregor_index_refused_total"): "4x440"},
    ),
    "GregorFrontierStalled": (
        {worker("gregor_frontier_stalled_seconds"): "0+60x440"},
        {worker("gregor_frontier_stalled_seconds"): "900x440"},
    ),
    "GregorLagGrows": ({LAG: "0+20000x440"}, {LAG: "5000000x440"}),
    "GregorHostsFailing": (
        {BACKING: "20x440", SHUT: "40x440", WAITING: "40x440"},
        {BACKING: "5x440", SHUT: "5x440", WAITING: "5x440"},
    ),
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
    "GregorRecordsLost": (
        {worker("gregor_log_losses_total"): "0x439 1"},
        {worker("gregor_log_losses_total"): "1x440"},
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
    **server_alerts.CASES,
}


def promtool(*words: object) -> None:
    """Run it; it must be content."""
    line = [str(PROMTOOL), *map(str, words)]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_has_its_cases() -> None:
    assert set(CASES) == set(NAMES)
    assert all(fires != quiet for fires, quiet in CASES.values())


@needs_promtool
def test_the_rules_are_well_formed() -> None:
    promtool("check", "rules", ALERTS)


@needs_promtool
def test_the_configuration_is_well_formed(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("secret")
    text = (ROOT / "monitoring" / "prometheus.yml").read_text()
    shutil.copy(ALERTS, tmp_path)
    (tmp_path / "prometheus.yml").write_text(text.replace("/etc/gregor/viewer-token", str(token)))
    promtool("check", "config", tmp_path / "prometheus.yml")


@needs_promtool
def test_alerts_fire_when_they_should_and_only_then(tmp_path: Path) -> None:
    """Each rule alone with its cases: every rule with every case would be most of an hour on a small machine."""
    suites = []
    for group in yaml.safe_load(ALERTS.read_text())["groups"]:
        for rule in group["rules"]:
            name = rule["alert"]
            rules, suite = tmp_path / f"{name}.rules.json", tmp_path / f"{name}.json"  # JSON is YAML
            rules.write_text(json.dumps({"groups": [{"name": name, "rules": [rule]}]}))
            tests = [_case(name, given, fires) for given, fires in zip(CASES[name], (True, False), strict=True)]
            suite.write_text(json.dumps({"rule_files": [str(rules)], "evaluation_interval": "1m", "tests": tests}))
            suites.append(suite)
    promtool("test", "rules", *suites)


def _case(name: str, given: Series, fires: bool) -> dict[str, object]:
    firing = f'count(ALERTS{{alertname="{name}", alertstate="firing"}}) or vector(0)'
    expected = {"expr": firing, "eval_time": "440m", "exp_samples": [{"labels": "{}", "value": int(fires)}]}
    return {
        "name": f"{name}, {'fires' if fires else 'quiet'}",
        "interval": "1m",
        "input_series": [{"series": series, "values": values} for series, values in given.items()],
        "promql_expr_test": [expected],
    }


def test_every_alert_says_for_whom_it_is_and_where_to_read_on() -> None:
    text = ALERTS.read_text()
    for name in NAMES:
        rule = text.partition(f"- alert: {name}\n")[2].partition("- alert: ")[0]
        assert re.search(r"severity: (page|ticket)", rule), name
        assert f'runbook_url: "{RUNBOOK}#{name.lower()}"' in rule, name
        assert 'job="' not in rule, "several crawls share a job, or a crawl has several"


def test_one_dead_worker_wakes_nobody() -> None:
    for name in ("GregorWorkerDown", "GregorMemoryFull", "GregorLeasesLost", "GregorOwnsNothing"):
        rule = ALERTS.read_text().partition(f"- alert: {name}\n")[2].partition("- alert: ")[0]
        assert "severity: ticket" in rule, name
