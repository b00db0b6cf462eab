"""Grafana's dashboards as JSON: `python -m monitoring.dashboards` writes them; a test keeps them true."""

import json
import re
from pathlib import Path
from typing import Any, Final

from gregor.worker.inspect.index_metrics import INDEX_METRICS
from gregor.worker.inspect.metric_list import METRICS as LIST
from monitoring.panels import DASHBOARDS, DESCRIPTIONS, THRESHOLDS, Dashboard, Panel
from monitoring.servers import SERVERS

FOLDER: Final = Path(__file__).parent / "dashboards"
_SOURCE: Final = {"type": "prometheus", "uid": "${source}"}
METRICS: Final = {metric.name: metric.meaning for metric in (*LIST, *INDEX_METRICS)}
_WIDTH: Final = {"stat": 6, "timeseries": 12}
_HEIGHT: Final = {"stat": 5, "timeseries": 8}


def dashboard(board: Dashboard) -> dict[str, Any]:
    """Grafana's model of a dashboard (schema version 39)."""
    return {
        "uid": f"gregor-{board.name}",
        "title": board.title,
        "tags": ["gregor"],
        "schemaVersion": 39,
        "editable": False,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [_source(), *([_crawl(), _release()] if board.ours else [])]},
        "links": [{"type": "dashboards", "tags": ["gregor"], "title": "Gregor", "asDropdown": True, "keepTime": True}],
        "panels": _placed(board.panels),
    }


def _source() -> dict[str, Any]:
    return {"name": "source", "type": "datasource", "query": "prometheus", "label": "Prometheus"}


def _crawl() -> dict[str, Any]:
    query = "label_values(gregor_worker_info, crawl)"
    return {"name": "crawl", "type": "query", "label": "Crawl", "datasource": _SOURCE, "query": query, "refresh": 2}


def _release() -> dict[str, Any]:
    query = 'label_values(gregor_worker_info{crawl="$crawl"}, release)'
    choice = {"includeAll": True, "allValue": ".*", "current": {"text": "All", "value": "$__all"}}
    releases = {
        "name": "release",
        "type": "query",
        "label": "Release",
        "datasource": _SOURCE,
        "query": query,
        "refresh": 2,
    }
    return {**releases, **choice}


def _placed(panels: tuple[Panel, ...]) -> list[dict[str, Any]]:
    """Panels from left to right, in rows of Grafana's 24 columns."""
    placed, x, y, below = [], 0, 0, 0
    for number, panel in enumerate(panels, 1):
        width, height = _WIDTH[panel.kind], _HEIGHT[panel.kind]
        if x + width > 24:
            x, y = 0, below
        placed.append(_panel(number, panel, {"x": x, "y": y, "w": width, "h": height}))
        x, below = x + width, max(below, y + height)
    return placed


def _panel(number: int, panel: Panel, place: dict[str, int]) -> dict[str, Any]:
    targets = [
        {"refId": chr(ord("A") + index), "datasource": _SOURCE, "expr": query.expr, "legendFormat": query.legend}
        for index, query in enumerate(panel.queries)
    ]
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": described(panel),
        "datasource": _SOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0, **_threshold(panel)}, "overrides": []},
        "targets": targets,
    }


def described(one: Panel) -> str:
    """What the panel says: its own words, else what the metrics are that it shows."""
    shown = re.findall(r"\bgregor_\w+", " ".join(query.expr for query in one.queries))
    meanings = [METRICS[name] for name in dict.fromkeys(map(_metric, shown)) if name in METRICS]
    return one.description or DESCRIPTIONS.get(one.title) or " ".join(meanings)


def _metric(series: str) -> str:
    return re.sub(r"_(?:total|bucket|sum|count)$", "", series)


def _threshold(panel: Panel) -> dict[str, Any]:
    """From which value on it is red, where one is wrong."""
    wrong = panel.wrong or THRESHOLDS.get(panel.title)
    if wrong is None:
        return {}
    steps = [{"color": "green", "value": None}, {"color": "red", "value": wrong.value}]
    if wrong.below:
        steps = [{"color": "red", "value": None}, {"color": "green", "value": wrong.value}]
    return {
        "thresholds": {"mode": "absolute", "steps": steps},
        "custom": {"thresholdsStyle": {"mode": "line"}},
    }


def files() -> dict[Path, str]:
    """Every file and what is in it."""
    return {
        FOLDER / f"{board.name}.json": json.dumps(dashboard(board), indent=2, ensure_ascii=False) + "\n"
        for board in (*DASHBOARDS, SERVERS)
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for path, text in files().items():
        path.write_text(text, "utf-8")
