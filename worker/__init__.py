"""The crawl: one worker process, its pipeline and its adapters."""
