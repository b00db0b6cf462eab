"""A plan in words: for a terminal, as Markdown, as what JSON is made of."""

from gregor.worker.capacity.inputs import Inputs
from gregor.worker.capacity.types import Plan, Pool

Rows = list[tuple[str, str]]


def rows(plan: Plan) -> Rows:
    """What is needed, item by item."""
    redis = f"{plan.redis.count} x {plan.redis.machine.name}"
    return [
        ("pages a second, on the mean", number(plan.pages_second)),
        ("requests a second, robots.txt and redirects included", number(plan.requests_second)),
        (f"hosts that must have work at all times, delay {plan.wish.delay:g} s", f"{plan.hosts:,}"),
        ("partitions", f"{plan.partitions:,}"),
        ("workers", f"{_machines(plan.workers)}, up to {plan.workers_max:,}"),
        ("visits at once of each worker (the setting concurrency)", f"{plan.concurrency:,}"),
        ("Kafka brokers", _machines(plan.kafka)),
        ("Redis", redis if plan.shards == 1 else f"{plan.shards:,} shards of {redis}"),
        ("Cassandra nodes", _machines(plan.cassandra)),
        ("URLs that Redis knows in the end", number(plan.urls)),
        ("in Redis, one copy", _gb(plan.redis_gb)),
        ("in Kafka, copies included", _gb(plan.kafka_gb)),
        ("in Cassandra, copies included", _gb(plan.cassandra_gb)),
        ("through NAT", f"{_gb(plan.nat_gb)}, {number(plan.nat_mbit)} Mbit/s"),
        ("between zones", _gb(plan.zones_gb)),
        ("USD a month at that rate", usd(plan.month)),
        ("USD for the crawl", usd(plan.crawl)),
    ]


def text(plan: Plan, inputs: Inputs) -> list[str]:
    """Lines for a terminal: what is needed, the bill, and where the figures are from."""
    prices = inputs.prices
    wish = plan.wish
    return [
        f"{number(wish.pages)} pages in {wish.days:g} days",
        *(f"  {name:<58}{value}" for name, value in rows(plan)),
        "",
        f"{'USD':<44}{'a month':>14}{'the crawl':>14}",
        *(f"  {entry.item:<42}{usd(entry.month):>14}{usd(entry.crawl):>14}" for entry in plan.bill),
        "",
        f"List prices of {prices.region}, {prices.date}, to be checked. A page's costs:",
        *(
            f"  {name:<18}{figure.value:>10,g} {figure.unit} ({figure.source})"
            for name, figure in inputs.figures.items()
        ),
    ]


def document(plan: Plan, inputs: Inputs) -> dict[str, object]:
    """The same for programs."""
    return {
        "plan": plan,
        "usd_month": plan.month,
        "usd_crawl": plan.crawl,
        "prices": {"region": inputs.prices.region, "date": inputs.prices.date},
        "costs": {
            name: {"value": figure.value, "unit": figure.unit, "source": figure.source}
            for name, figure in inputs.figures.items()
        },
    }


def table(plans: list[Plan]) -> str:
    """Markdown: a column for each plan."""
    heads = [f"{number(plan.wish.pages)} pages in {plan.wish.days:g} days" for plan in plans]
    lines = [["", *heads], ["---"] * (1 + len(plans))]
    lines += [[row[0][0], *(value for _, value in row)] for row in zip(*(rows(plan) for plan in plans), strict=True)]
    items = zip(*(plan.bill for plan in plans), strict=True)
    lines += [[f"USD a month: {row[0].item}", *(usd(entry.month) for entry in row)] for row in items]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def figures(inputs: Inputs) -> str:
    """Markdown: each cost with its source."""
    lines = ["| name | value | unit | from |", "|---|---|---|---|"]
    lines += [f"| `{name}` | {one.value:,g} | {one.unit} | {one.source} |" for name, one in inputs.figures.items()]
    return "\n".join(lines) + "\n"


def number(value: float) -> str:
    """With thousands apart, and a few digits of what is small."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def usd(value: float) -> str:
    """Whole dollars."""
    return f"{value:,.0f}"


def _machines(pool: Pool) -> str:
    disk = f", {pool.disk:,} GiB each" if pool.disk else ""
    return f"{pool.count:,} x {pool.machine.name}{disk}"


def _gb(value: float) -> str:
    return f"{number(value)} GB"
