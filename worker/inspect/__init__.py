"""What is told of a crawl to people and programs: explain, report, audit, forecast, export, metrics, views of hosts.

Reads by the Reader border and from a running worker; changes nothing.
"""
