"""What every wing stands on: errors, tasks that may not fail unheard, spooled bodies, printable text.

Imports nothing of ours.
"""
