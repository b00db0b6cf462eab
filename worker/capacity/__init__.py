"""What a crawl of so many pages in so many days needs, and costs: the arithmetic apart from its figures and its words.

`prices.toml` and `costs.toml` are the figures, `inputs.py` reads them into the `types.py`, `model.py` computes,
`text.py`, `deploy_values.py` and `docs.py` say it to people, to Terraform and Helm, and in docs/capacity.md.
"""
