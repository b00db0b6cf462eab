"""What the crawl tells of itself while it runs: logs, counters, timing, tracing, and which bottleneck limits it.

Imports extract and below; nothing here changes what the crawl does.
"""
