"""Names of a package that are loaded when they are first asked for."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from bisimetric._support.lazy import method_above

PACKAGE = """
from bisimetric._support.lazy import lazy_names

__all__ = ["Thing", "tools"]
__getattr__, __dir__ = lazy_names(__name__, {"Thing": "inside.things"}, modules=("tools",))
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with one lazy name and one lazy module, imported."""
    root = tmp_path / "lazily"
    (root / "inside").mkdir(parents=True)
    (root / "__init__.py").write_text(PACKAGE)
    (root / "inside" / "__init__.py").write_text("")
    (root / "inside" / "things.py").write_text("class Thing: pass\n")
    (root / "tools.py").write_text("answer = 42\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("lazily")
    for name in [name for name in sys.modules if name.partition(".")[0] == "lazily"]:
        del sys.modules[name]


def test_modules_are_loaded_when_asked_for(package):
    """Importing the package and listing its names loads none of them."""
    assert dir(package) == ["Thing", "tools"]
    assert not {"lazily.inside.things", "lazily.tools"} & set(sys.modules)
    assert package.Thing is sys.modules["lazily.inside.things"].Thing
    assert "lazily.tools" not in sys.modules
    assert package.tools.answer == 42


def test_a_name_is_looked_up_once(package):
    """It is the package's own from then on."""
    thing = package.Thing
    assert vars(package)["Thing"] is thing


def test_other_names_do_not_exist(package):
    """As in any module."""
    with pytest.raises(AttributeError, match="nothing"):
        _ = package.nothing
    assert not hasattr(package, "things")


FIRST_USE = """
names = ["MarkovChain", "distance", "plot", "cost", "environments", "solve", "pairwise", "aggregate"]
found, together = [], threading.Barrier(len(names))

def load(name):
    together.wait()
    found.append(getattr(bm, name))

threads = [threading.Thread(target=load, args=(name,)) for name in names]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(found) == len(names), found
"""


def test_first_use_from_several_threads():
    """Each by another name, in a process that has loaded nothing: numpy's own imports do not meet half-way."""
    code = "import threading\nimport bisimetric as bm\n" + FIRST_USE
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_method_finds_its_function_in_a_room_above():
    """By the table in the front of the package."""
    from bisimetric.io.save_load import save

    assert method_above("Stored.save") is save
    with pytest.raises(KeyError):
        method_above("MDP.nothing")
