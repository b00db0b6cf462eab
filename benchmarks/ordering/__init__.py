"""Which pages a crawl has when it has only a part of them, by policy: `python -m benchmarks.ordering --web FOLDER`."""
