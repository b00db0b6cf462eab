"""From a URL to an outcome: addresses, DNS, cookies, content coding, the request by the transport's border.

Pure but for fetcher.py, names.py and address_gate.py. Imports borders and below.
"""
