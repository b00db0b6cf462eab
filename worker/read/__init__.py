"""What a document says: HTML, XHTML, sitemaps and other kinds by processors; text, links, directives, fingerprints.

Pure but for read.py, which reads large documents on a thread. Imports base, web and config; it knows no frontier.
"""
