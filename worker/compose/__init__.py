"""Puts processes together: which engine, transport, resolver and clock make a worker, a console, a command.

The only wing that knows adapters. Imports everything below; commands import it.
"""
