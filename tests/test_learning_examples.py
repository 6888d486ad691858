"""The worked examples of docs/gradients.md."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.extras import package

EXAMPLES = Path(__file__).parent.parent / "examples" / "learning"


def run(name):
    """What the main function of an example returns."""
    package("torch")
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main()


@pytest.mark.slow
def test_fit_a_chain():
    """The distance falls to a fraction."""
    record = run("fit_a_chain")
    assert min(record["loss"]) < 0.25 * record["loss"][0]


@pytest.mark.slow
def test_fit_a_graph():
    """The weights of the edges are found."""
    before, after, weights = run("fit_a_graph")
    assert after < 0.05 * before
    assert weights[:5].numpy() == pytest.approx([4.0] * 5, rel=0.1)
