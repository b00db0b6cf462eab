"""robots.txt from its lines to a verdict, its copies by origin, its fetch as a turn of its host; robots metas.

Pure but for the effects that it is given: time comes in. Imports politeness and below.
"""
