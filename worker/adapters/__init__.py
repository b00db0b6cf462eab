"""The engines, transports and resolvers behind the borders; threads, locks and clients of servers live here alone.

Imports borders, what travels over them, and of the wings up to operate what decides the form of what is stored. Only
compose and tests import from here.
"""
