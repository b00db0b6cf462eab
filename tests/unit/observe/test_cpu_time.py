"""Processor time by stage: charged to whoever runs, never to who waits; and work runs as if nobody measured it."""

import asyncio
import time

import pytest

from gregor.worker.observe.cpu_time import STAGES, CpuTime


def burn(seconds: float) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


async def work(seconds: float) -> str:
    burn(seconds)
    await asyncio.sleep(0)
    burn(seconds)
    await asyncio.sleep(0.01)
    return "done"


def test_each_stage_is_charged_with_its_own_steps() -> None:
    cpu_time = CpuTime()

    async def both() -> list[str]:
        one, other = cpu_time.charge("admit", work(0.02)), cpu_time.charge("settle", work(0.04))
        return list(await asyncio.gather(one, other))

    before = time.thread_time()
    assert asyncio.run(both()) == ["done", "done"]
    spent = cpu_time.seconds()
    assert spent.keys() == {*STAGES, "threads"}
    assert spent["admit"] >= 0.04
    assert spent["settle"] >= 0.08
    assert spent["fetch"] == spent["parse"] == 0.0
    assert spent["admit"] + spent["settle"] <= time.thread_time() - before
    assert sum(spent.values()) <= time.process_time()


def test_a_stage_within_a_stage_is_charged_alone() -> None:
    cpu_time = CpuTime()
    before = cpu_time.switch("admit")
    assert cpu_time.switch("parse") == "admit"
    burn(0.02)
    assert cpu_time.switch("admit") == "parse"
    assert cpu_time.switch(before) == "admit"
    spent = cpu_time.seconds()
    assert spent["parse"] >= 0.02 > spent["admit"]


def test_what_is_raised_comes_through() -> None:
    async def fails() -> None:
        await asyncio.sleep(0)
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        asyncio.run(_driven(CpuTime(), fails()))


async def _driven(cpu_time: CpuTime, work: object) -> object:
    return await cpu_time.charge("admit", work)  # type: ignore[arg-type]


def test_work_that_is_cancelled_hears_of_it() -> None:
    heard: list[str] = []

    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            heard.append("cancelled")
            raise

    async def case() -> None:
        cpu_time = CpuTime()
        task = asyncio.ensure_future(_driven(cpu_time, waits()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert cpu_time.switch("rest") == "rest"

    asyncio.run(case())
    assert heard == ["cancelled"]


def test_work_that_times_out_may_go_on() -> None:
    async def patient() -> str:
        try:
            async with asyncio.timeout(0.01):
                await asyncio.Event().wait()
        except TimeoutError:
            await asyncio.sleep(0)
        return "went on"

    assert asyncio.run(_driven(CpuTime(), patient())) == "went on"
