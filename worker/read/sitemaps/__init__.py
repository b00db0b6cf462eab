"""Sitemaps: lists of URLs as text, feeds and XML, mended where people write them wrongly, to entries; bounded."""
