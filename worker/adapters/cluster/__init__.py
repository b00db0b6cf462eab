"""The engine on servers: Kafka has the frontier, Redis what was seen, Cassandra the store, ZooKeeper leases and orders.

Each service's client stands in a file of its own; its threads and callbacks never reach the event loop but through it.
"""
