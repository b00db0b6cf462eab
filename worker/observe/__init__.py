"""What the crawl tells of itself while it runs: logs, counters, timing, tracing, and which bottleneck limits it.

Imports borders and below; nothing here changes what the crawl does.
"""
