"""Dashboards, alerts and what Prometheus needs beside them."""

from typing import Final

RUNBOOK: Final = "https://github.com/gregor-crawler/gregor/blob/main/docs/runbook.md"
"""Where alerts send who is woken: the base of every ``runbook_url`` in alerts.yml, which a test holds against it."""
