"""The API that a worker serves beside its crawl: health, metrics, status, orders, the console.

Imports inspect, operate, run and below; each endpoint asks a Backend.
"""
