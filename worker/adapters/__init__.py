"""The engines, transports and resolvers behind the borders; threads, locks and clients of servers live here alone.

Imports borders and what travels over them. Only compose and tests import from here.
"""
