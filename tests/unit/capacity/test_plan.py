"""`gregor plan`: more pages or fewer days never take less, what is planned suffices, and the documents are current."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.capacity import docs, inputs
from gregor.worker.capacity.deploy_values import terraform
from gregor.worker.capacity.model import GB, GIB, LEAST_CONCURRENCY, MOST_CONCURRENCY, MOST_PARTITIONS, TOPICS, plan
from gregor.worker.capacity.types import Costs, Plan, Wish
from gregor.worker.commands import cli
from gregor.worker.commands import plan as plan_command

ROOT = Path(__file__).parents[3]
VARIABLES = (ROOT / "terraform/examples/cluster/variables.tf").read_text()
READ = inputs.read()
COSTS, PRICES = READ.costs, READ.prices
WISHES = st.builds(Wish, st.floats(1, 1e9), st.floats(1, 365), st.floats(0, 60))
ORDINARY = ("plan", "--pages", "1e9", "--days", "7")
KINDS: dict[str, type | tuple[type, ...]] = {"number": (int, float), "bool": bool, "string": str}


def planned(wish: Wish) -> Plan:
    return plan(wish, COSTS, PRICES)


def sizes(made: Plan) -> list[float]:
    """All that must never shrink as there is more to do. Machines of a kind may: fewer but larger ones."""
    cores = [pool.count * pool.machine.vcpu for pool in (made.workers, made.cassandra, made.redis)]
    return [*cores, made.workers_max, made.partitions, made.hosts, made.shards, made.nat_mbit, made.month]


@given(WISHES, st.floats(1, 50))
def test_more_pages_never_take_less(wish: Wish, times: float) -> None:
    more = planned(Wish(wish.pages * times, wish.days, wish.delay))
    pairs = zip(sizes(planned(wish)), sizes(more), strict=True)
    assert all(less <= greater * (1 + 1e-9) for less, greater in pairs)
    assert planned(wish).crawl <= more.crawl * (1 + 1e-9)


@given(WISHES, st.floats(1, 50))
def test_fewer_days_never_take_less(wish: Wish, times: float) -> None:
    longer = planned(Wish(wish.pages, wish.days * times, wish.delay))
    assert all(a <= b * (1 + 1e-9) for a, b in zip(sizes(longer), sizes(planned(wish)), strict=True))


@given(WISHES)
def test_it_suffices_for_the_mean_and_the_headroom(wish: Wish) -> None:
    made = planned(wish)
    busy = wish.rate / 1000
    cpu = COSTS.worker_cpu + COSTS.requests * COSTS.tls_cpu
    assert made.workers.count * COSTS.utilisation >= busy * cpu * (1 - 1e-9)
    running = made.requests_second * COSTS.answer_seconds
    assert made.workers.count * made.concurrency >= running or made.concurrency == MOST_CONCURRENCY
    assert LEAST_CONCURRENCY <= made.concurrency <= MOST_CONCURRENCY
    assert made.redis_gb * GB >= wish.pages * (COSTS.redis_url + COSTS.redis_content) * (1 - 1e-9)
    for pool, share in ((made.kafka, COSTS.kafka_share), (made.cassandra, COSTS.cassandra_share)):
        cores = pool.count * pool.machine.vcpu * COSTS.utilisation
        assert cores >= busy * COSTS.servers_cpu * share * 3 * (1 - 1e-9)
    for pool, stored in ((made.kafka, made.kafka_gb), (made.cassandra, made.cassandra_gb)):
        assert pool.count % 3 == 0
        assert pool.disk <= 16384
        assert pool.count * pool.disk * GIB * COSTS.disk_fill >= stored * 1e9 * (1 - 1e-9)
    assert made.cassandra.disk <= COSTS.cassandra_disk
    assert made.shards * made.redis.machine.gib * GIB * COSTS.redis_fill >= made.redis_gb * GB * (1 - 1e-9)
    assert made.kafka.count * made.kafka.machine.replicas >= made.partitions * TOPICS * 3
    assert made.hosts >= made.requests_second * wish.delay
    assert made.workers.count <= made.workers_max <= made.partitions <= MOST_PARTITIONS


def test_the_bill_is_its_items() -> None:
    """One case by hand: 604,800 pages in 7 days are one a second; 3 of everything."""
    made = planned(Wish(604_800, 7, 2.0))
    assert (made.pages_second, made.workers.count, made.cassandra.count, made.hosts) == (1.0, 3, 3, 3)
    bill = {one.item: one for one in made.bill}
    assert bill["workers"].month == pytest.approx(0.0363 * 2 * 730)
    assert bill["workers"].crawl == pytest.approx(0.0363 * 2 * 168)
    assert bill["Cassandra and its disks"].month == pytest.approx(3 * (0.2142 * 730 + 100 * 0.08))
    assert bill["traffic through NAT"].crawl == pytest.approx(604_800 * 51_250 / 1e9 * 0.045)
    assert made.crawl == pytest.approx(sum(one.crawl for one in made.bill))


@pytest.mark.parametrize("name", READ.figures)
def test_every_cost_says_where_it_is_from(name: str) -> None:
    figure = READ.figures[name]
    assert bool(figure.assumed) != bool(figure.date and figure.command)


def told(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert cli.main([*ORDINARY, *words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_benchmark_and_an_assumption_replace_costs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench = tmp_path / "bench.json"
    bench.write_text(
        '{"cluster.page": {"value": 10.52, "unit": "ms", "peer": 3.1}, "cpu.x": {"value": 1, "unit": "x"}}'
    )
    usual = told(capsys)
    other = told(capsys, "--bench", str(bench), "--assume", "redis_url=92", "--delay", "10")
    assert other["costs"]["worker_cpu"]["value"] == 10.52
    assert str(bench) in other["costs"]["worker_cpu"]["source"]
    assert other["plan"]["workers"]["count"] == 30 > usual["plan"]["workers"]["count"]
    assert other["plan"]["shards"] == 2
    assert other["plan"]["hosts"] == pytest.approx(10 * usual["plan"]["hosts"], rel=0.01)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--pages", "0"), "--pages must be"),
        (("--pages", "-1"), "--pages must be"),
        (("--pages", "nan"), "--pages must be"),
        (("--pages", "many"), "--pages must be"),
        (("--days", "0"), "--days must be"),
        (("--days", "inf"), "--days must be"),
        (("--pages", "1e12", "--days", "0.05"), "partitions"),
        (("--bench", "/no/such"), "/no/such: No such file"),
        (("--bench", str(ROOT / "README.md")), "is not what `make bench` writes"),
        (("--assume", "page_bytes"), "NAME=VALUE"),
        (("--assume", "nothing=1"), "'nothing' is none of"),
        (("--assume", "page_bytes=big"), "page_bytes must be a number"),
        (("--assume", "page_bytes=0"), "page_bytes must be from 1e-09 to 1e+12, not 0"),
        (("--assume", "page_bytes=nan"), "page_bytes must be from 1e-09 to 1e+12, not nan"),
        (("--assume", "disk_fill=1.5"), "disk_fill must be at most 1"),
        (("--assume", "redis_url=920", "--write", "/nowhere"), "one shard of Redis"),
        (("--write", str(ROOT / "README.md")), "README.md: File exists"),
    ],
)
def test_bad_input_is_one_line(words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*ORDINARY, *words]) == 2
    shown = capsys.readouterr()
    assert not shown.out
    assert said in shown.err
    assert shown.err.count("\n") == 1


@pytest.mark.parametrize("value", [inputs.LEAST, inputs.MOST])
@pytest.mark.parametrize("days", [plan_command.LEAST_DAYS, plan_command.MOST_DAYS])
def test_no_cost_is_too_odd_to_be_answered(
    value: float, days: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each alone and all together, at the bounds: a plan, or one line."""
    names = [name for name in inputs.read().figures if value <= 1 or name not in Costs.SHARES]
    for assumed in [*([name] for name in names), names]:
        words = [word for name in assumed for word in ("--assume", f"{name}={value}")]
        ended = cli.main(["plan", "--pages", "1e12", "--days", str(days), *words, "--write", str(tmp_path)])
        said = capsys.readouterr().err
        assert ended == 0 or (ended == 2 and said.count("\n") == 1), assumed


def test_a_file_without_the_figures_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text in ('{"cpu.page": {"value": 1}}', '{"cluster.page": {"value": -1}}', "\xff"):
        (tmp_path / "bench.json").write_text(text, "latin-1")
        assert cli.main([*ORDINARY, "--bench", str(tmp_path / "bench.json")]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_what_is_written_are_variables_of_the_example(tmp_path: Path) -> None:
    assert cli.main([*ORDINARY, "--write", str(tmp_path / "new/plan")]) == 0
    written = json.loads((tmp_path / "new/plan/terraform.tfvars.json").read_text())
    known = dict(re.findall(r'^variable "(\w+)" \{\s+type\s+= (\w+)', VARIABLES, re.MULTILINE))
    assert {"workers_min", "kafka_brokers", "redis_node_type", "cassandra_volume_size", "budget"} <= set(written)
    for name, value in written.items():
        assert isinstance(value, KINDS[known[name]]), name
    assert not [name for name in written if "password" in name]


@pytest.mark.parametrize("example", ["cluster", "kubernetes"])
def test_an_examples_defaults_are_a_plan(example: str) -> None:
    """That of 100 million pages in a week; disks, limits and the alarm's sum are rounded up."""
    text = (ROOT / f"terraform/examples/{example}/variables.tf").read_text()
    found = re.findall(r'^variable "(\w+)" \{\s+type\s+= \w+\s+default\s+= (.+)$', text, re.MULTILINE)
    wanted: dict[str, Any] = terraform(planned(Wish(1e8, 7)))
    defaults = {name: json.loads(value) for name, value in found if name in wanted and name != "spot"}
    assert {"partitions", "kafka_brokers", "kafka_instance_type", "redis_nodes", "cassandra_nodes"} <= set(defaults)
    for name in defaults.keys() & {"kafka_volume_size", "kafka_volume_size_max", "cassandra_volume_size", "budget"}:
        assert wanted[name] <= defaults.pop(name) <= wanted[name] * 3, name
    assert defaults.pop("workers_max", 5) * COSTS.worker_partitions <= defaults["partitions"]
    assert defaults == {name: wanted[name] for name in defaults}


def test_the_page_is_current() -> None:
    text = (ROOT / "docs/capacity.md").read_text()
    assert text.count("<!-- end -->") == 2
    assert docs.made(text) == text, "run python -m gregor.worker.capacity.docs docs/capacity.md"
    assert PRICES.region in text


def test_the_page_s_commands_are_commands() -> None:
    lines = re.findall(r"^    gregor (.+)$", (ROOT / "docs/capacity.md").read_text(), re.MULTILINE)
    assert lines
    for line in lines:
        cli.parser("plan").parse_args(line.split())
