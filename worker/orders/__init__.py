"""The operator's orders: what can be ordered, what stands, what is in force for a host, how it is kept.

Pure. Imports base and web.
"""
