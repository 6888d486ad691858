"""Four rooms with random obstacles."""

import numpy as np
import pytest

from bisimetric import environments as env
from bisimetric.environments.layout import read_map
from bisimetric.environments.obstacles import MAP, SHUT_OFF, obstacle_map
from bisimetric.errors import InvalidOption

SEEDS = range(60)


def test_maps_are_the_rooms_with_obstacles():
    """Between 33 and 39 states, goals and rooms where they belong, one start, nothing else changed."""
    plain = [line.strip() for line in MAP.split()]
    for seed in SEEDS:
        drawn = obstacle_map(seed).split()
        changed = [(old, new) for a, b in zip(plain, drawn, strict=True) for old, new in zip(a, b, strict=True)]
        differences = sorted({pair for pair in changed if pair[0] != pair[1]})
        assert set(differences) <= {(".", "#"), ("D", "#"), (".", "S")}
        assert "".join(drawn).count("S") == 1
        assert 33 <= env.four_rooms_obstacles(seed=seed).n_states <= 39


def test_seeds_vary_what_should_vary():
    """Starts, sizes, open doors and shut corners differ between seeds; a seed always gives the same map."""
    maps = [obstacle_map(seed) for seed in SEEDS]
    assert maps == [obstacle_map(seed) for seed in SEEDS]
    layouts = [read_map(drawn) for drawn in maps]
    assert len({tuple(layout.cells[layout.start]) for layout in layouts}) > 15
    assert {layout.n_states for layout in layouts} == set(range(33, 40))
    assert {int(layout.doors.sum()) for layout in layouts} >= {2, 3, 4}
    assert any(all(drawn.split()[r][c] == "#" for r, c in pair) for drawn in maps for pair in SHUT_OFF)


def test_rewards_and_labels():
    """+1 at three corners, -0.25 on doors."""
    chain = env.four_rooms_obstacles(seed=3)
    reward = dict(zip(chain.names, chain.reward, strict=True))
    assert {cell for cell, paid in reward.items() if paid == 1.0} == {"(0,6)", "(6,0)", "(6,6)"}
    doors = [paid for paid, label in zip(chain.reward, chain.labels, strict=True) if label == "door"]
    assert doors
    assert set(doors) == {-0.25}


def test_best_moves_and_slips():
    """At a rewarded corner the walk stays: two moves into walls are best, and the slips that stay add up."""
    chain = env.four_rooms_obstacles(seed=3)
    corner = chain.names.index("(6,6)")
    free = sum(cell in chain.names for cell in ("(5,6)", "(6,5)"))
    assert chain.transitions[corner, corner] == pytest.approx(0.8 + 0.05 * (4 - free))


def test_a_symmetric_map_gives_a_symmetric_walk(monkeypatch):
    """Ties are split evenly, so mirroring the plain map at its diagonal maps the walk to itself."""
    drawn = MAP.strip().replace(" ", "").replace("...#..G", "S..#..G", 1)
    monkeypatch.setattr("bisimetric.environments.obstacles.obstacle_map", lambda seed: drawn)
    chain = env.four_rooms_obstacles(seed=0)
    cells = [tuple(map(int, name.strip("()").split(","))) for name in chain.names]
    mirrored = [cells.index((c, r)) for r, c in cells]
    rows = chain.transitions.toarray()
    np.testing.assert_allclose(rows, rows[np.ix_(mirrored, mirrored)], atol=1e-15)
    assert rows[0, cells.index((0, 1))] == pytest.approx(rows[0, cells.index((1, 0))])
    assert rows[0, cells.index((0, 1))] > 0.4


def test_seed_is_checked():
    """A seed is a whole number that is not negative."""
    with pytest.raises(InvalidOption, match="seed is -1"):
        env.four_rooms_obstacles(seed=-1)
