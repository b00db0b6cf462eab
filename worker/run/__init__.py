"""The life of a worker: partitions taken and given up, turns started, signals, orders obeyed, the end.

Imports crawl.py and everything below it. Nothing below knows that it exists.
"""
