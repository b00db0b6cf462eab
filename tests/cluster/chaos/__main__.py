"""`python -m tests.cluster.chaos --rounds N --seed S`: rounds of chaos, a line each, then one JSON object of counts."""

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

from tests.cluster.chaos.faults import INDEX, INDEXED, KINDS, OPERATED
from tests.cluster.chaos.round import NAMES, Plan, Result, run
from tests.cluster.servers import Servers


def main() -> int:
    """Exit 1 when a round found a violation; its folder is kept."""
    parser = argparse.ArgumentParser(prog="python -m tests.cluster.chaos")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--delay", type=float, default=0.5)
    parser.add_argument("--faults", type=int, default=20)
    parser.add_argument("--every", type=float, default=6.0)
    parser.add_argument("--longest", type=float, default=1200.0)
    parser.add_argument("--kinds", nargs="+", choices=sorted({*KINDS, *INDEXED, *OPERATED}))
    text = "leave the index out: no OpenSearch, and nobody who indexes the crawl"
    parser.add_argument("--no-index", action="store_true", help=text)
    arguments = vars(parser.parse_args())
    indexed = not arguments.pop("no_index")
    rounds, first = arguments.pop("rounds"), arguments.pop("seed")
    arguments["kinds"] = tuple(arguments["kinds"] or (*KINDS, *(INDEXED if indexed else ())))
    results: list[Result] = []
    with Servers() as servers:
        services = {name: servers.get(name) for name in NAMES}
        if indexed:
            services[INDEX] = servers.get("opensearch3")
        for seed in range(first, first + rounds):
            folder = Path(tempfile.mkdtemp(prefix=f"gregor-chaos-{seed}-"))
            plan = Plan(seed, **arguments)
            result = run(plan, services, folder)
            results.append(result)
            _tell(result, plan, folder)
    print(
        json.dumps(
            {
                "rounds": len(results),
                "failed": sum(bool(result.violations) for result in results),
                "violations": sum(len(result.violations) for result in results),
                "pages": sum(result.pages for result in results),
                "requests": sum(result.requests for result in results),
                "faults": sum(len(result.faults) for result in results),
                "handovers": sum(len(result.handovers) for result in results),
                "handovers_undisturbed": sum(len(result.judged) for result in results),
                "slowest_handover": round(max((result.slowest for result in results), default=0.0), 2),
            }
        )
    )
    return int(any(result.violations for result in results))


def _tell(result: Result, plan: Plan, folder: Path) -> None:
    print(
        f"seed {result.seed}: {result.pages} pages, {result.requests} requests, {len(result.faults)} faults "
        f"({' '.join(result.faults)}), {len(result.handovers)} hand-overs "
        f"({len(result.judged)} undisturbed, the slowest {result.slowest:.1f} s), "
        f"{result.seconds:.0f} s: {len(result.violations)} violations",
        flush=True,
    )
    for violation in result.violations[:20]:
        print(f"  {violation}")
    if result.violations:
        print(f"  evidence in {folder}; again: {plan.command}", flush=True)
    else:
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
