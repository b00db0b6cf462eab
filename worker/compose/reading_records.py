"""A process that reads what `gregor import` takes in; `python -m gregor.worker.compose.reading_records` is begun by it.

It is asked on its standard input and answers on its standard output (`archives/examining.py`).
"""

import asyncio
import os
import pickle
import signal
import sys

from gregor.worker.archives.examining import DATE, READY, ExaminesHere, answered, messages, send
from gregor.worker.base.cycles import look_seldom
from gregor.worker.base.errors import speak
from gregor.worker.compose.extraction import extraction_of
from gregor.worker.config.settings import Config
from gregor.worker.examine import Examiner
from gregor.worker.frontier.sent import RecentlySent
from gregor.worker.links.configured import urls_of
from gregor.worker.links.scope import Scope, ScopeRules
from gregor.worker.links.traps import Traps
from gregor.worker.observe.stats import Stats
from gregor.worker.read.configured import configured
from gregor.worker.read.processors import installed


def examiner_of(config: Config) -> Examiner:
    """What reads recorded answers. Links are recorded, whatever their scope: none is followed. Raises `BadInput`."""
    anywhere, extraction = Scope(ScopeRules("any")), extraction_of(config, ordered=False)
    return Examiner(
        config,
        urls=urls_of(config),
        scope=lambda: anywhere,
        now=DATE.get,
        stats=Stats(),
        processors=configured(extraction.processors or installed(), config),
        sent=_AllSent(0),
        traps=Traps(),
        extraction=extraction,
    )


class _AllSent(RecentlySent):
    """Knows every link: no ticket is made of any."""

    def knows(self, fingerprint: int, depth: int = 0) -> bool:
        return True


def main() -> None:
    """Answer until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever began it ends it
    source, target = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a plug-in prints is no answer
    asked = messages(source)
    config: Config = pickle.loads(next(asked))
    speak(config.log_format)
    examines, urls = ExaminesHere(examiner_of(config)), urls_of(config)
    look_seldom()
    send(target, READY)
    with asyncio.Runner() as runner:
        for question in asked:
            send(target, runner.run(answered(examines, urls, question)))


if __name__ == "__main__":
    main()
