"""`python -m benchmarks`: everything that is measured, into build/bench.json (name → value, unit, the peer's value)."""

from benchmarks import api_load, cluster, cpu, measure, memory, metrics, politeness, search, search_http, search_live
from benchmarks.measure import Figures


def main() -> None:
    """Run them one after another: two at once would measure each other."""
    figures: Figures = {}
    for benchmark in (cpu, memory, politeness, metrics, api_load, search, search_http, search_live, cluster):
        figures_of_it = benchmark.measured()
        measure.report(figures_of_it)
        figures |= figures_of_it
        measure.keep(figures)


if __name__ == "__main__":
    main()
