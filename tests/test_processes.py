"""Solves in forks, in spawned workers and at the end of a process: a right answer, and no hang."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.processes import COMMON, LARGE, needs_fork, run

pytestmark = [pytest.mark.usefixtures("compiled_kernels"), pytest.mark.slow]  # processes of their own


# ------------------------------------------------------------------ forks


@needs_fork
def test_forks_after_a_solve():
    """Children of a process that solved with threads solve too, and so does the parent afterwards."""
    run(
        f"""
import multiprocessing
before = answer({LARGE})
child = os.fork()
if child == 0:
    os._exit(0 if answer({LARGE}) == before else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(answer, [{LARGE}] * 3, chunksize=1) == [before] * 3
assert answer({LARGE}) == before
""",
    )


FORKS_DURING_A_SOLVE = """
before = answer(SIZE)
running = threading.Thread(target=lambda: [answer(SIZE, k) for k in range(3)])
running.start()
children = []
while running.is_alive():
    children.append(os.fork())
    if children[-1] == 0:
        os._exit(0 if answer(SIZE) == before else 1)
    time.sleep(0.3)
assert children
assert all(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0 for child in children)
assert answer(SIZE) == before
"""


@needs_fork
@pytest.mark.slow
def test_forks_during_a_solve():
    """The threads and locks of a solve under way are the parent's; a child needs none of them."""
    run(FORKS_DURING_A_SOLVE.replace("SIZE", str(LARGE)))


# ------------------------------------------------------------------ spawned processes


@pytest.mark.slow
def test_spawned_workers(tmp_path):
    """multiprocessing with spawn, and joblib, give the parent's bits."""
    script = tmp_path / "spawned.py"
    script.write_text(
        COMMON
        + f"""
if __name__ == "__main__":
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context
    from joblib import Parallel, delayed
    jobs = [(40, 1), ({LARGE}, 2)]
    alone = [answer(*job) for job in jobs]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert list(pool.map(answer, *zip(*jobs))) == alone
    assert Parallel(n_jobs=2)(delayed(answer)(*job) for job in jobs) == alone
"""
    )
    environment = {**os.environ, "BISIMETRIC_THREADS": "2"}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


# ------------------------------------------------------------------ the end of a process


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(f"answer({LARGE})", id="at-once"),
        pytest.param(
            f"""
answer({LARGE})
def late():
    time.sleep(0.3)
    assert answer({LARGE}) == answer({LARGE})
    print("done", flush=True)
threading.Thread(target=late).start()
""",
            id="solving-in-a-thread",
        ),
        pytest.param(
            f"threading.Thread(target=lambda: [answer({LARGE}) for _ in range(9)], daemon=True).start(); time.sleep(1)",
            id="solving-in-a-daemon",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            f"import atexit; answer(40); atexit.register(answer, {LARGE})",
            id="solving-at-exit",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_the_interpreter_exits(code):
    """No thread of ours keeps it, and a solve that outlives the main thread is finished without helpers."""
    assert run(code, timeout=60) == ""
