"""The unfinished URLs of a partition in memory: front and back queues, hosts, calendar, intake, watermark, checkpoint.

Pure but for intake.py, and the effects that are given. Imports links, observe and below; it knows no requests.
"""
