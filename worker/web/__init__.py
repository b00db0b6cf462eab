"""The web's own rules as functions: URLs and their canonical form, hosts, headers, media types, encodings.

Pure. Imports base.
"""
