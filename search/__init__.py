"""Search over what was crawled: what is found, in which order, and what is shown of it.

    terms       text to what is compared          query       what a person typed, understood
    documents   stored pages to what is indexed   snippets    what is shown of a hit
    borders     protocols: changes, index

It sees `gregor.schemas`, `gregor.worker.base` and the borders of those who read a crawl, nothing else of the worker;
of that only compose, commands and api see it. tests/search/test_order.py holds that.
"""
