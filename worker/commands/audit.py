"""`gregor audit`: whether any request broke robots.txt as it was known then, or the delay in force; how near it came.

Exit code 1 when one did.
"""

import argparse
import asyncio
import sys

import msgspec

from gregor.schemas.events import rfc3339
from gregor.worker.base import amounts
from gregor.worker.base.printable import one_line
from gregor.worker.commands import FAILED, FINISHED
from gregor.worker.commands.common import Damages, add_settings, given_host, settings, show_count, show_state
from gregor.worker.inspect import url_record
from gregor.worker.inspect.audit import Findings, Margin, Violation


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What is judged, and form."""
    parser.add_argument("--host", help="only requests to this host, with its port if not the usual one")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    add_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    """Judge every request that is on record."""
    from gregor.worker.compose import beside

    damages = Damages()
    config, host = settings(arguments).config, given_host(arguments.host)
    try:
        findings = asyncio.run(beside.audit(config, host, damages, show_count))
    finally:
        show_state("")
    damages.advise()
    if arguments.json:
        sys.stdout.buffer.write(url_record.encode(_public(findings)) + b"\n")
    else:
        _print(findings)
    return FAILED if findings.violations or damages.count else FINISHED


def _print(findings: Findings) -> None:
    print(f"{amounts.count(findings.requests, 'request')} to {amounts.count(findings.hosts, 'host')} on record")
    if findings.addresses:
        print(f"addresses that several of them share: {findings.addresses}")
    if findings.untold:
        print(f"{amounts.count(findings.untold, 'visit')} without a request on record")
    if findings.unkept:
        print(f"{amounts.count(findings.unkept, 'request')} by a robots.txt that is not kept any more")
    for finding in findings.listed:
        print(f"{finding.kind:<10} {rfc3339(finding.at)} {one_line(finding.url, 500)}: {one_line(finding.detail, 200)}")
    if left := findings.violations.total() - len(findings.listed):
        print(f"… and {left} more")
    print(amounts.count(findings.violations.total(), "violation") if findings.violations else "no violations")
    if findings.margins:
        print(f"\n{'GAP':>10} {'DELAY':>8} {'MARGIN':>8}  smallest margins, one a host")
    for margin in findings.margins:
        print(f"{margin.gap:>8.3f} s {margin.delay:>6g} s {margin.share:>8.3f}  {one_line(margin.url, 500)}")


def _public(findings: Findings) -> dict[str, object]:
    return {
        "hosts": findings.hosts,
        "shared_addresses": findings.addresses,
        "requests": findings.requests,
        "untold": findings.untold,
        "unkept": findings.unkept,
        "violations": findings.violations.total(),
        "by_kind": dict(findings.violations),
        "listed": [_dated(finding) for finding in findings.listed],
        "margins": [_dated(margin) for margin in findings.margins],
    }


def _dated(one: Violation | Margin) -> dict[str, object]:
    return {**msgspec.structs.asdict(one), "at": rfc3339(one.at)}
