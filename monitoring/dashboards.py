"""Grafana's dashboards as JSON: `python -m monitoring.dashboards` writes them; a test keeps them true."""

import json
from pathlib import Path
from typing import Any, Final

from monitoring.panels import DASHBOARDS, Dashboard, Panel

FOLDER: Final = Path(__file__).parent / "dashboards"
_SOURCE: Final = {"type": "prometheus", "uid": "${source}"}
_WIDTH: Final = {"stat": 6, "timeseries": 12}
_HEIGHT: Final = {"stat": 5, "timeseries": 8}


def dashboard(one: Dashboard) -> dict[str, Any]:
    """Grafana's model of a dashboard (schema version 39)."""
    return {
        "uid": f"gregor-{one.name}",
        "title": one.title,
        "tags": ["gregor"],
        "schemaVersion": 39,
        "editable": False,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [_source(), _job()]},
        "links": [{"type": "dashboards", "tags": ["gregor"], "title": "Gregor", "asDropdown": True, "keepTime": True}],
        "panels": _placed(one.panels),
    }


def _source() -> dict[str, Any]:
    return {"name": "source", "type": "datasource", "query": "prometheus", "label": "Prometheus"}


def _job() -> dict[str, Any]:
    query = "label_values(gregor_worker_info, job)"
    return {"name": "job", "type": "query", "label": "Job", "datasource": _SOURCE, "query": query, "refresh": 2}


def _placed(panels: tuple[Panel, ...]) -> list[dict[str, Any]]:
    """Panels from left to right, in rows of Grafana's 24 columns."""
    placed, x, y, below = [], 0, 0, 0
    for number, one in enumerate(panels, 1):
        width, height = _WIDTH[one.kind], _HEIGHT[one.kind]
        if x + width > 24:
            x, y = 0, below
        placed.append(_panel(number, one, {"x": x, "y": y, "w": width, "h": height}))
        x, below = x + width, max(below, y + height)
    return placed


def _panel(number: int, one: Panel, place: dict[str, int]) -> dict[str, Any]:
    targets = [
        {"refId": chr(ord("A") + index), "datasource": _SOURCE, "expr": query.expr, "legendFormat": query.legend}
        for index, query in enumerate(one.queries)
    ]
    return {
        "id": number,
        "type": one.kind,
        "title": one.title,
        "datasource": _SOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": {"unit": one.unit, "min": 0}, "overrides": []},
        "targets": targets,
    }


def files() -> dict[Path, str]:
    """Every file and what is in it."""
    return {
        FOLDER / f"{one.name}.json": json.dumps(dashboard(one), indent=2, ensure_ascii=False) + "\n"
        for one in DASHBOARDS
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for path, text in files().items():
        path.write_text(text, "utf-8")
