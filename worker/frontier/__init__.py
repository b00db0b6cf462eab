"""The unfinished URLs of a partition in memory: front and back queues, hosts, calendar, intake, watermark, checkpoint.

Pure but for intake.py and shared.py. Imports links, observe and below; it knows no requests.
"""
