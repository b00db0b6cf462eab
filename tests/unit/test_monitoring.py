"""Dashboards, alerts and runbook are true: nothing is asked for that no worker serves, and nothing is left out."""

import itertools
import json
import re
from pathlib import Path

from gregor.worker.inspect import metric_list
from gregor.worker.inspect.index_metrics import INDEX_METRICS
from monitoring import RUNBOOK, dashboards
from monitoring.panels import DASHBOARDS, DESCRIPTIONS, THRESHOLDS
from monitoring.servers import JOBS, SERVERS

ROOT = Path(__file__).parents[2]
METRICS = (*metric_list.METRICS, *INDEX_METRICS)
ALERTS = ROOT / "monitoring" / "alerts.yml"
NAMES = re.findall(r"- alert: (\w+)", ALERTS.read_text())


def test_every_alert_has_an_entry_in_the_runbook() -> None:
    assert list(dict.fromkeys(NAMES)) == NAMES
    assert re.findall(r"^## (Gregor\w+)$", (ROOT / "docs" / "runbook.md").read_text(), re.MULTILINE) == NAMES


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


def test_every_panel_says_what_it_shows_in_a_unit() -> None:
    titles = {panel.title for board in DASHBOARDS for panel in board.panels}
    assert set(DESCRIPTIONS) | set(THRESHOLDS) <= titles
    for board in DASHBOARDS:
        for panel in board.panels:
            assert dashboards.described(panel).endswith("."), panel.title
            assert panel.unit
            for query in panel.queries:
                assert 'crawl="$crawl"' in query.expr and "$job" not in query.expr


def test_every_panel_of_the_servers_says_what_it_shows_and_of_whom() -> None:
    titles = [panel.title for panel in SERVERS.panels]
    assert len(set(titles)) == len(titles)
    for panel in SERVERS.panels:
        assert panel.description.endswith("."), panel.title
        for query in panel.queries:
            assert re.search(r'job=~"gregor-', query.expr), query.expr
    for path in (ROOT / "monitoring").glob("dashboards/servers.json"):
        assert {one["name"] for one in json.loads(path.read_text())["templating"]["list"]} == {"source"}


def test_alerts_ask_for_jobs_that_are_scraped_and_lead_to_one_runbook() -> None:
    text = ALERTS.read_text()
    asked = {
        f"gregor-{name}" for names in re.findall(r'job=~"gregor-\(?([\w|]+)\)?"', text) for name in names.split("|")
    }
    assert asked <= set(JOBS)
    links = re.findall(r'runbook_url: "(.*)"', text)
    assert links == [f"{RUNBOOK}#{name.lower()}" for name in NAMES]
