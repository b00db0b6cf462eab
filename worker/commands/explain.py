"""`gregor explain URL`: how the crawl met a URL, what decided, each attempt, who owns it, when it is due."""

import argparse
import sys
import time

from gregor.worker.base.printable import one_line
from gregor.worker.commands.common import SCOPE, add_settings, not_negative, reading, run_reading, settings
from gregor.worker.config.settings import Config
from gregor.worker.inspect import url_record
from gregor.worker.inspect.explain import AttemptView, Explanation, RuleView, explain
from gregor.worker.links.configured import scope_rules
from gregor.worker.links.scope import Scope

_MENTIONS = 5
_FATES = {
    "kind": "links of this kind are not followed",
    "nofollow": "nofollow, by the link or its page",
    "depth": "deeper than max_depth allowed",
}
"""What a fate of one word means; the others say it themselves."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The URL."""
    parser.add_argument("url", metavar="URL")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    text = "for a URL without a record: pages that link to it, looked for in all stored pages (default: %(default)s)"
    parser.add_argument("--mentions", type=not_negative, default=_MENTIONS, metavar="N", help=text)
    add_settings(parser, SCOPE)


def run(arguments: argparse.Namespace) -> int:
    """Explain it."""
    return run_reading(_explain(arguments, settings(arguments).config))


async def _explain(arguments: argparse.Namespace, config: Config) -> int:
    async with reading(config) as crawl:
        url = crawl.url(arguments.url)
        scope = Scope(scope_rules(config), await crawl.reader.seed_hosts())
        found = await explain(crawl.reader, crawl.urls, url, config, scope, arguments.mentions, time.time())
        if arguments.json:
            sys.stdout.buffer.write(url_record.encode(found) + b"\n")
        else:
            for line in lines_of(found):
                print(one_line(line, 3000))
        return crawl.code


def lines_of(found: Explanation) -> list[str]:
    """The explanation for a person, line by line."""
    decided = ", ".join(filter(None, (_outcome(found), _said(found.rule or ""))))
    lines = [found.url, f"  state: {found.state or 'never met'}" + (f" ({decided})" if decided else "")]
    if found.key != found.url:
        lines.append(f"  known as {found.key}")
    if found.discovered_as is not None:
        via = f"from {found.discovered_via}, as {found.discovered_as}" if found.discovered_via else "given as a seed"
        lines.append(f"  discovered {via}, depth {found.depth}" + (f", label {found.label}" if found.label else ""))
    if found.first_seen:
        lines.append(f"  first visited {found.first_seen}")
    if found.redirected_to:
        lines.append(f"  redirected to {found.redirected_to}")
    if found.duplicate_of:
        lines.append(f"  same content as {found.duplicate_of}")
    if found.near_duplicate_of:
        lines.append(f"  nearly the same content as {found.near_duplicate_of}")
    if found.unread:
        lines.append(f"  not read to its end: too many {found.unread} (`max_links` bounds the links that are taken)")
    for number, one in enumerate(found.attempts, start=1):
        owner = f", by {one.owner}" if one.owner else ""
        took = f" in {one.elapsed:.3f} s" if one.elapsed else ""
        lines.append(f"  attempt {number}: {one.at} {_outcome(one)}{took}{owner}")
    lines += [
        f"  waits in the {one.where} ({one.kind})" + (f", due {one.due}" if one.due else "") for one in found.waiting
    ]
    if found.next_due:
        lines.append(f"  next due {found.next_due}")
    if found.host_not_before:
        cause = f", {found.host_cause}" if found.host_cause else ""
        lines.append(
            f"  its host {found.host} is not asked before {found.host_not_before} "
            f"(failures: {found.host_failures}{cause})"
        )
    lines += [_judged(name, rule) for name, rule in (("scope", found.scope), ("robots", found.robots)) if rule]
    lines += [f"  linked from {one.page} as {one.kind}: {_said(one.fate)}" for one in found.mentions]
    if found.state is None and not found.mentions:
        lines.append("  no stored page links to it")
    return lines


def _outcome(found: Explanation | AttemptView) -> str:
    """The outcome with its status, unless the one names the other."""
    outcome, status = found.outcome or "", str(found.status or "")
    return outcome if status in outcome else f"{outcome} {status}".strip()


def _said(fate: str) -> str:
    return _FATES.get(fate, fate)


def _judged(name: str, rule: RuleView) -> str:
    return f"  {name} now {'allows' if rule.allows else 'denies'} it: {rule.rule}"
