"""The subcommands of `gregor`; the module of one is imported only when it runs.

A module is one command: it has `add_arguments(parser)` and `run(arguments) -> int`, the exit code; or it has several,
each with these two, in its table `BY_NAME`. To add a command, add it here.
"""

from typing import NamedTuple

FINISHED, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 3
"""Exit codes: finished or a budget reached; failed; bad input or configuration; interrupted."""


class Command(NamedTuple):
    """Where a command is (a module of this package) and what it is for."""

    module: str
    summary: str


COMMANDS: dict[str, Command] = {
    "crawl": Command("crawl", "crawl from seeds, or go on with a crawl that was stopped"),
    "pages": Command("pages", "list the URLs of a crawl and what became of them"),
    "changes": Command("changes", "list the pages that are new, changed or gone since a moment"),
    "hosts": Command("hosts", "sum a crawl up by host: pages, bytes, errors, time"),
    "show": Command("show", "show one URL: record, headers, text, links, body"),
    "explain": Command("explain", "say what happened to a URL, and why"),
    "export": Command("export", "write pages, links, items or hosts as WARC, JSON lines, CSV, Parquet or a database"),
    "import": Command("importing", "take the recorded pages of WARC or WACZ files in, as if they had been fetched"),
    "index": Command("index", "make what was crawled searchable, while the crawl runs or after it"),
    "search": Command("search", "find pages of a crawl by their words"),
    "rank": Command("rank", "rank pages and hosts by the links that lead there"),
    "extract": Command("extract", "take items out of the stored pages, by rules"),
    "classify": Command("classify", "put pages into classes by a model that learnt from labelled ones"),
    "shell": Command("shell", "try selectors and rules on a stored page"),
    "deadletters": Command("deadletters", "list the URLs that were given up, by cause; retry or drop them"),
    "audit": Command("audit", "judge every request by robots.txt and the delays that were in force"),
    "check": Command("check", "verify all that a crawl stored; mend what can be mended"),
    "config": Command("config", "print the settings in force and where each comes from"),
    "status": Command("status", "show the workers, the partitions' owners and what is unfinished"),
    "about": Command("about", "write the page for webmasters: who crawls, why, how to be left alone"),
    "doctor": Command("doctor", "look for what could keep a crawl from going well here"),
    "plan": Command("plan", "compute what a crawl of so many pages in so many days needs and costs on AWS"),
    "forecast": Command("forecast", "estimate the pages and hours to the end of a crawl, and what they wait for"),
    "orders": Command("orders", "list the orders that stand, and all changes"),
    "pause": Command("ordering", "make no new requests until resume"),
    "resume": Command("ordering", "go on after pause"),
    "block": Command("ordering", "send a host or domain nothing"),
    "optout": Command("optout", "ask nothing more of a host and delete what was stored of it"),
    "unblock": Command("ordering", "let a host be crawled again"),
    "delay": Command("ordering", "set the least delay of a host, a domain or the crawl"),
    "rate": Command("ordering", "set the most requests a second of a host, a domain or the crawl"),
    "concurrency": Command("ordering", "set the most requests at once of a domain or the crawl"),
    "priority": Command("ordering", "set the priority of what is found of a host or domain"),
    "budget": Command("ordering", "set the pages stored of a host, a domain or the crawl"),
    "recrawl": Command("recrawl", "visit URLs again now"),
    "drain": Command("ordering", "have a worker hand over its partitions and stand by"),
    "undrain": Command("ordering", "let a worker own partitions again"),
    "stop": Command("stop", "end a worker cleanly, by its API"),
    "init": Command("init", "set a crawl up on its servers; may be repeated"),
    "seed": Command("seed", "publish seeds for workers that run now or later"),
    "worker": Command("worker", "join a crawl on servers"),
    "console": Command("console", "serve the console and the API of a crawl, of a data folder or on servers"),
    "rebuild-seen": Command("rebuild_seen", "mark in Redis again what Cassandra knows"),
    "duplicates": Command("duplicates", "list pages that are the same or nearly the same"),
    "rebuild-near": Command("rebuild_near", "make what near-duplicates are found by for pages of earlier versions"),
    "completion": Command("completion", "print a completion script for a shell"),
}
