"""The worker's side of `bench/remote.py`. Imports nothing of the project: peers run it too."""

from __future__ import annotations

import json
import os
import sys
from time import perf_counter_ns


def serve(start):
    """`start(options)` gives an operation of a number, or an object with `run(count)`."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints must not come between
    options = json.loads(sys.stdin.readline())
    operation = start(options)
    run = getattr(operation, "run", None) or one_by_one(operation)
    answers.write("{}\n")
    answers.flush()
    for line in sys.stdin:
        answers.write(json.dumps(run(json.loads(line)["run"])) + "\n")
        answers.flush()
    getattr(operation, "close", lambda: None)()


def one_by_one(operation):
    done = 0

    def run(count):
        nonlocal done
        ns = []
        for number in range(done, done + count):
            start = perf_counter_ns()
            operation(number)
            ns.append(perf_counter_ns() - start)
        done += count
        return {"ns": ns, "elapsed_ns": sum(ns), "syncs": 0}

    return run
