"""What people ask of a crawl: seeds, re-crawls, retries of dead letters, opt-outs, and the page for webmasters.

Imports the borders and the wings below; it goes to the crawl by tickets and orders, never into its memory.
"""
