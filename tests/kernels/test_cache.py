"""The cache of compiled kernels, which uses private names of numba."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numba
import pytest

pytestmark = pytest.mark.slow  # processes of their own

BROKEN = f"""numba {numba.__version__} does not save and load kernels as src/bisimetric/kernels/_compile.py expects.
Kernels still work, but every process compiles them again. Look at `load_overload` and `save_overload` of `_Cache`, and
compare with numba/core/caching.py (NullCache, IndexDataCacheFile, Cache._load_overload), numba/core/compiler.py
(CompileResult._reduce, _rebuild) and numba/core/serialize.py (dumps). When this test passes again, raise the bound on
numba in pyproject.toml."""
CALL = """
import numpy as np
from bisimetric import kernels
{before}
r = np.ones(4)
kernels.evaluation.step_half(0, 4, r, np.ones(4), 0.5)
assert (r == 0.5).all()
"""


def run(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    """A fresh process with its own cache folder."""
    env = {**os.environ, "BISIMETRIC_CACHE_DIR": str(folder), "NUMBA_DISABLE_JIT": "0"}
    return subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=False)


def test_compiled_code_is_kept(tmp_path):
    """One process compiles and saves, the next loads and does not compile."""
    first = run(tmp_path, CALL.format(before=""))
    assert first.returncode == 0, first.stderr
    assert "compiling kernels" in first.stderr, BROKEN
    assert list(tmp_path.rglob("evaluation.step_half-*")), BROKEN
    second = run(tmp_path, CALL.format(before=""))
    assert second.returncode == 0, second.stderr
    assert "compiling kernels" not in second.stderr, BROKEN


@pytest.mark.parametrize(
    "change",
    [
        "from numba.core.compiler import CompileResult; del CompileResult._reduce",
        "from numba.core.compiler import CompileResult; del CompileResult._rebuild",
        "from numba.core.compiler import CompileResult; CompileResult._rebuild = lambda *given: None",
    ],
    ids=["cannot save", "cannot load", "loads nothing"],
)
def test_kernels_work_without_a_cache(tmp_path, change):
    """Where private functions of numba are missing or do something else, kernels are compiled in every process."""
    for _ in range(2):
        ended = run(tmp_path, CALL.format(before=change))
        assert ended.returncode == 0, ended.stderr


def test_kernels_work_without_private_names(tmp_path):
    """The same where an import of a private name fails."""
    ended = run(
        tmp_path,
        "import sys, numba, numba.np.ufunc; del numba.core.event; sys.modules['numba.core.event'] = None\n"
        + CALL.format(before=""),
    )
    assert ended.returncode == 0, ended.stderr
    assert not list(tmp_path.rglob("*step_half*"))


def test_the_version_of_numba_is_bounded():
    """Only versions that this cache was tested with are installed."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    bound = next(line for line in project["dependencies"] if line.startswith("numba")).split("<")[1]
    installed, limit = (tuple(map(int, text.split(".")[:2])) for text in (numba.__version__, bound))
    assert installed < limit, BROKEN
