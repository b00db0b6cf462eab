"""What watches a crawl: configuration of Prometheus, alerts, dashboards of Grafana."""
