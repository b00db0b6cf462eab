"""What is fetched next: policies that say what a link is worth, and where that puts the URL it leads to.

Pure. Order is a heuristic: what is forgotten here costs order, never a URL.
"""
