"""When a host may be asked: delays, back-off, Retry-After, rates by order; the turns of a host.

Pure but for the effects that it is given: time comes in. Imports frontier, fetch and below.
"""
