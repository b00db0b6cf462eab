"""robots.txt from its lines to a verdict, its copies by origin, its fetch as a turn of its host; robots metas.

Pure: time comes in. Imports frontier, fetch and below.
"""
