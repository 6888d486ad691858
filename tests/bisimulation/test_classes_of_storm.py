"""As many classes as Storm finds, on the labels of its own examples; with a single reward structure, on rewards too."""

from __future__ import annotations

from pathlib import Path

import pytest
import stormpy
from stormpy.examples import files
from stormpy.transformations import BisimulationOptions, perform_bisimulation

import bisimetric as bm

FOLDER = Path(files.testfile_dir)
# Values of constants that the files leave open.
CONSTANTS = {
    "dtmc/brp.pm": "N=4,MAX=2",
    "dtmc/brp.jani": "N=4,MAX=2",
    "mdp/coin2.nm": "K=2",
    "mdp/firewire.nm": "delay=3,fast=0.5",
    "mdp/slipgrid_sketch.nm": "V=2",
    "mdp/wlan0_collide.nm": "COL=2,TRANS_TIME_MAX=10",
    "pdtmc/brp16_2.pm": "pL=0.8,pK=0.9,TOMsg=0.5,TOAck=0.5",
    "pdtmc/brp_rewards16_2.pm": "pL=0.8,pK=0.9,TOMsg=0.5,TOAck=0.5",
    "pdtmc/crowds3_5.pm": "PF=0.8,badC=0.1",
    "pdtmc/herman5.pm": "p=0.5",
    "pdtmc/parametric_die.pm": "p=0.5,q=0.25",
    "pmdp/coin2_2.pm": "p1=0.5,p2=0.25",
    "pmdp/two_dice.nm": "p1=0.5,p2=0.5",
}
QUICK_ONES = ("dtmc/die.pm", "dtmc/brp.pm", "dtmc/crowds-5-5.pm", "pdtmc/herman5.pm", "mdp/two_dice.nm")
# What Storm itself cannot build.
REFUSED = {"mdp/coin2-2-illegalSynchronizingWrite.nm", "mdp/system_composition.nm", "mdp/system_composition2.nm"}
ALL = sorted(
    path.relative_to(FOLDER).as_posix()
    for kind in ("dtmc", "mdp", "pdtmc", "pmdp")
    for path in (FOLDER / kind).iterdir()
    if path.suffix in (".pm", ".nm", ".jani")
)


def built(name):
    """Storm's own model of a file."""
    is_jani = name.endswith(".jani")
    path = FOLDER / name
    program = stormpy.parse_jani_model(path)[0] if is_jani else stormpy.parse_prism_program(path)
    if name in CONSTANTS:
        program, _ = stormpy.instantiate_constants(program, CONSTANTS[name])
    return stormpy.build_model(program)


def classes_of_storm(model, rewards):
    """The number of states that Storm's bisimulation leaves."""
    options = BisimulationOptions()
    options.preserve_choice_labels = options.preserve_choice_origins = False
    options.preserve_all_rewards = rewards
    return perform_bisimulation(model, [], options=options).nr_states


def check(name):
    """Ours and Storm's, on labels and on rewards."""
    model, constants = built(name), CONSTANTS.get(name)
    read = bm.from_jani if name.endswith(".jani") else bm.from_prism
    for reward in (False, None) if len(model.reward_models) == 1 else (False,):
        found = read(FOLDER / name, constants=constants, reward=reward)
        assert found.n_states == model.nr_states
        classes = bm.bisimilar_classes(found, actions="matched")
        assert len(set(classes.tolist())) == classes_of_storm(model, reward is None)
        assert bm.quotient(found, actions="matched")[0].n_states == len(set(classes.tolist()))


@pytest.mark.parametrize("name", QUICK_ONES)
def test_as_many_classes_as_storm(name):
    """Of chains and of decision processes."""
    check(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(ALL) - set(QUICK_ONES) - REFUSED))
def test_as_many_classes_as_storm_on_all_examples(name):
    """Everything that Storm builds."""
    check(name)
