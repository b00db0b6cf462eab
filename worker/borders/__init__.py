"""The protocols between the crawl and what remembers, coordinates, resolves and fetches for it; one file each.

Pure but for effects.py, which waits. Imports what travels over them: schemas, orders, base. Two engines implement them
(worker/adapters).
"""
