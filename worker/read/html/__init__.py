"""HTML and XHTML to what is said and where it leads, in one walk: guarded first, without a tree where it would be huge.

`natively.py` has the native core do the same (docs/native.md).
"""
