"""Where a page leads, and whether the crawl goes there: scope, traps, priority.

Pure. Imports read, borders and below; it decides about links, never about visits.
"""
