"""The crawl: one worker process in wings, each a concept. Every wing imports from those before it alone.

    base        errors, tasks, bodies            web        URLs, headers, encodings
    config      settings                         orders     what operators order
    read        documents to text and links      borders    protocols to what is outside
    topic       what pages are about             links      scope, traps, priority
    extract     documents to items, by rules     observe    logs, counters, timing
    frontier    queues, calendar, watermark      fetch      URL to outcome
    politeness  when a host may be asked         robots     robots.txt
    settle      outcome to page and row          examine.py, crawl.py: one URL's way
    operate     seeds, retries, opt-outs         run        the life of a worker
    adapters    engines, transports              archives   WARC in, WARC and WACZ out
    inspect     explain, report, metrics         capacity   gregor plan
    api         the API and the console          compose    which parts make a process
    library     gregor.Crawl, gregor.open        commands, demo: what people type

Read `crawl.py` first. tests/unit/test_imports.py holds the order.
"""
