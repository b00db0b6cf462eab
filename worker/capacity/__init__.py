"""What a crawl of so many pages in so many days needs, and costs: the arithmetic apart from its figures and its words.

`prices.toml` and `costs.toml` are the figures, `inputs.py` reads them, `model.py` computes, `told.py` and `written.py`
say it to people, Terraform and Helm.
"""
