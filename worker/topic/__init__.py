"""What pages are about: the class that a model gives them. Pure.

    features.py    words of text, title and URL      model_file.py  a model as data, and its checks
    page_model.py  a model as a crawl asks it        labels.py      the labelled pages that it learns from
    training.py    a model of labelled pages         evaluation.py  how good it is
    relevance.py   how relevant pages are            examples.py    a topic told by pages

Imports base, web and read.
"""
