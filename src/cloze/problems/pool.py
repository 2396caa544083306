"""The same work on many chunks, in this process or in several, with the results in order.

Workers are started afresh (spawn), take one chunk at a time and end with the process that started them, even if that
one is killed. Only a few chunks wait at a time, so a long file never piles up in memory. A worker that dies ends the
run with one line; it is never waited for.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from cloze.errors import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")
WAITING = 2  # chunks that wait or are worked on, for each worker


def in_order(
    work: Callable[[Item], Result],
    items: Iterable[Item],
    workers: int = 1,
    known: Callable[[Item], Result | None] = lambda item: None,
) -> Generator[tuple[Item, Result]]:
    """Do the work on each item.

    Args:
        work: a function that can be pickled when there is more than one worker.
        items: taken one by one, no more than a few ahead.
        workers: processes; 1 works in this one.
        known: gives the result of an item that needs no work, else None.

    Returns:
        A generator of (item, result) in the order of the items; close it to stop the workers early.

    Raises:
        InputError: no workers, or a worker died.
        Exception: what `work` raises, at the place of its item.
    """
    if workers < 1:
        raise InputError(f"workers must be at least 1, got {workers}")
    if workers > 1:
        return _in_processes(work, items, workers, known)
    return ((item, work(item) if (result := known(item)) is None else result) for item in items)


def _in_processes(
    work: Callable[[Item], Result], items: Iterable[Item], workers: int, known: Callable[[Item], Result | None]
) -> Generator[tuple[Item, Result]]:
    waiting: deque[tuple[Item, Future[Result]]] = deque()
    pool = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"), initializer=_start)
    try:
        for item in items:
            waiting.append((item, _submitted(pool, work, item, known(item))))
            if len(waiting) >= WAITING * workers:
                yield _next(waiting)
        while waiting:
            yield _next(waiting)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _submitted(
    pool: ProcessPoolExecutor, work: Callable[[Item], Result], item: Item, result: Result | None
) -> Future[Result]:
    if result is None:
        try:
            return pool.submit(work, item)
        except BrokenProcessPool as error:
            raise _dead() from error
    future: Future[Result] = Future()
    future.set_result(result)
    return future


def _next(waiting: deque[tuple[Item, Future[Result]]]) -> tuple[Item, Result]:
    item, future = waiting.popleft()
    try:
        return item, future.result()
    except BrokenProcessPool as error:
        raise _dead() from error


def _dead() -> InputError:
    return InputError("a worker process died; perhaps memory ran out", mend="start again with fewer --workers")


def _start() -> None:
    """Leave Ctrl-C to the parent, and end when it does: a killed parent closes no queue."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
