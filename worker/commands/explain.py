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
from gregor.worker.links.rank import MEANINGS
from gregor.worker.links.reasons import what_decided
from gregor.worker.links.scope import Scope

_MENTIONS = 5
_FATES = {
    "kind": "links of this kind are not followed",
    "nofollow": "nofollow, by the link or its page",
    "depth": "deeper than max_depth allowed",
}
"""What a fate of one word means; the others say it themselves."""


_LEFT_OUT = {
    "size": "its text is longer than what is read",
    "tags": "it has more tags than are read",
    "embedded": "it has more embedded documents than are read",
    "links": "it has more links than `max_links`",
    "entries": "the sitemap has more entries than are read",
}
"""What there was too much of."""


def _left_out(what: str) -> str:
    return _LEFT_OUT.get(what, f"too much of: {what}")


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
        explanation = await explain(crawl.reader, crawl.urls, url, config, scope, arguments.mentions, time.time())
        if arguments.json:
            sys.stdout.buffer.write(url_record.encode(explanation) + b"\n")
        else:
            for line in lines_of(explanation):
                print(one_line(line, 3000))
        return crawl.code


def lines_of(explanation: Explanation) -> list[str]:
    """The explanation for a person, line by line."""
    decided = ", ".join(filter(None, (_outcome(explanation), _said(explanation.rule or ""))))
    lines = [explanation.url, f"  state: {explanation.state or 'never met'}" + (f" ({decided})" if decided else "")]
    if meaning := MEANINGS.get(what_decided(explanation.rule or "", "trap") or ""):
        command = "seed" if explanation.discovered_as is None else "recrawl"
        may = "" if command == "seed" else "it comes back when pages like it bring something new, and "
        lines.append(f"  {meaning}; {may}`gregor {command}` asks for it all the same")
    if explanation.key != explanation.url:
        lines.append(f"  known as {explanation.key}")
    if explanation.discovered_as is not None:
        via = (
            f"from {explanation.discovered_via}, as {explanation.discovered_as}"
            if explanation.discovered_via
            else "taken in from an archive"
            if explanation.discovered_as == "archive"
            else "given as a seed"
        )
        lines.append(
            f"  discovered {via}, depth {explanation.depth}"
            + (f", label {explanation.label}" if explanation.label else "")
        )
    if explanation.worth is not None:
        lines.append(f"  worth {explanation.worth:.4g} as {explanation.worth_by} reckons{_brought(explanation)}")
    if explanation.relevance_of_source is not None:
        lines.append(f"  relevance {explanation.relevance_of_source:.2f} of the page that it was found on")
    if explanation.relevance is not None:
        lines.append(f"  relevance {explanation.relevance:.2f} for the topic")
    if explanation.weighed:
        lines.append(f"  {explanation.weighed}")
    if explanation.requisite:
        lines.append("  a requisite of that page: its own links are not followed until one leads here")
    if explanation.first_seen:
        lines.append(f"  first visited {explanation.first_seen}")
    if explanation.redirected_to:
        lines.append(f"  redirected to {explanation.redirected_to}")
    if explanation.duplicate_of:
        lines.append(f"  same content as {explanation.duplicate_of}")
    if explanation.near_duplicate_of:
        lines.append(f"  nearly the same content as {explanation.near_duplicate_of}")
    if explanation.unread:
        lines.append(f"  not read to its end: {'; '.join(map(_left_out, explanation.unread.split(', ')))}")
    for number, attempt in enumerate(explanation.attempts, start=1):
        owner = f", by {attempt.owner}" if attempt.owner else ""
        took = f" in {attempt.elapsed:.3f} s" if attempt.elapsed else ""
        lines.append(f"  attempt {number}: {attempt.at} {_outcome(attempt)}{took}{owner}")
    lines += [
        f"  waits in the {waiting.where} ({waiting.kind})" + (f", due {waiting.due}" if waiting.due else "")
        for waiting in explanation.waiting
    ]
    if explanation.next_due:
        lines.append(f"  next due {explanation.next_due}")
    if explanation.dropped_after:
        lines.append(f"  dropped after {explanation.dropped_after} if it is not visited before (stale_after)")
    if explanation.host_not_before:
        cause = f", {explanation.host_cause}" if explanation.host_cause else ""
        lines.append(
            f"  its host {explanation.host} is not asked before {explanation.host_not_before} "
            f"(failures: {explanation.host_failures}{cause})"
        )
    lines += [
        _judged(name, rule) for name, rule in (("scope", explanation.scope), ("robots", explanation.robots)) if rule
    ]
    lines += [
        f"  linked from {mention.page} as {mention.kind}: {_said(mention.fate)}" for mention in explanation.mentions
    ]
    if explanation.state is None and not explanation.mentions:
        lines.append("  no stored page links to it")
    return lines


def _outcome(found: Explanation | AttemptView) -> str:
    """The outcome with its status, unless the one names the other."""
    outcome, status = found.outcome or "", str(found.status or "")
    return outcome if status in outcome else f"{outcome} {status}".strip()


def _brought(explanation: Explanation) -> str:
    """Where the worth of a URL came from."""
    worth, brought = explanation.worth, explanation.worth_of_link
    if worth is None or brought is None:
        return ""
    of_link, rest = f"{brought:.4g} by the link that it was found by", worth - brought
    if abs(rest) <= 1e-6 * abs(worth):
        return f": {of_link}"
    return f": {of_link}, {rest:+.4g} by further links and by waiting"


def _said(fate: str) -> str:
    return _FATES.get(fate, fate)


def _judged(name: str, rule: RuleView) -> str:
    return f"  {name} now {'allows' if rule.allows else 'denies'} it: {rule.rule}"
