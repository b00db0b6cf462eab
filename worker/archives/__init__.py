"""Archives: recorded pages taken in as if they had been fetched, and what belongs to a WARC file that others play.

Whoever reads a WARC finds each record by file and offset; nothing here asks the network for anything.
"""
