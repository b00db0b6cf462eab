"""The bundled small web: four hosts, recorded once, served on loopback for a first crawl without internet.

Imports commands and below; nothing imports it.
"""
