"""The API that a worker serves beside its crawl: health, metrics, status, orders, the console."""
