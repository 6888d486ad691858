"""Solutions of decision processes as documents, and their certificates proved again.

As for chains: the bounds in a file are claims, which the game's checker proves again from the stored couplings and
potentials of every pair of moves.
"""

from __future__ import annotations

import numpy as np

from bisimetric.certificates import game as certificates
from bisimetric.certificates.interval import Certificate
from bisimetric.errors import FileFormatError, InvalidOption, InvalidProblem, InvalidWitness
from bisimetric.io.document import Document, Fields, stream
from bisimetric.io.models import MDP_ARRAYS, MDP_KEYS, mdp_document, mdp_from
from bisimetric.io.records import (
    RECHECK_SLACK,
    RECORD_ARRAYS,
    RECORD_KEYS,
    SLACK_PER_CELL,
    record_document,
    record_from,
    wider_bounds,
)
from bisimetric.io.witnesses import WITNESS_ARRAYS, WITNESS_KEYS, Block, witness_document, witnesses_from
from bisimetric.operators.game import GameBellman
from bisimetric.problems.game import Game
from bisimetric.solving.game_solution import MDPSolution, StoredGameWitness

GAME_KEYS = ("source", "target", "discount", "actions")
MDP_SOLUTION_KEYS = ("problem", "priced", "scale", "witness", *RECORD_KEYS)
MDP_SOLUTION_ARRAYS = (
    *(f"problem.{side}.{name}" for side in ("source", "target") for name in MDP_ARRAYS),
    "priced", *RECORD_ARRAYS, *WITNESS_ARRAYS,
)  # fmt: skip


def mdp_solution_document(solution: MDPSolution) -> Document:
    """The solution's fields; without a witness where V = c or no sweep was finished."""
    game = solution.problem
    document: Document = {
        "problem": {
            "source": mdp_document(game.source),
            "target": mdp_document(game.target),
            "discount": game.discount,
            "actions": game.actions,
        },
        **record_document(solution, solution.solver, None),
    }
    witness = solution._witness
    if witness is not None:
        document["priced"] = stream(witness.value, "<f8")
        document["scale"] = float(witness.bellman.scale)
        document["witness"] = witness_document(list(zip(_blocks(witness.bellman), witness.blocks(), strict=True)))
    return document


def mdp_solution_from(fields: Fields) -> MDPSolution:
    """The solution that the fields describe, with its certificate proved again."""
    game = _game(fields.inside("problem", GAME_KEYS))
    record = record_from(fields, game.shape)
    bellman = GameBellman.of(game)
    witness = _witness(fields, bellman) if fields.has("witness") else None
    slack = 0.0 if witness is None else RECHECK_SLACK + SLACK_PER_CELL * witness.cells_per_pair
    certificate = wider_bounds(record.claimed, _prove(bellman, witness), slack, 1.0 / (1.0 - game.discount))
    return MDPSolution(game, record.solver, record.status, record.history, certificate, bellman, witness, record.tol)


def _prove(bellman: GameBellman, witness: StoredGameWitness | None) -> Certificate:
    if bellman.is_immediate():
        return certificates.immediate(bellman)
    if witness is None:
        return certificates.a_priori(bellman)
    try:
        with np.errstate(all="ignore"):  # numbers in a file may overflow; they then prove nothing
            return certificates.check_game(witness)
    except InvalidWitness as error:
        raise FileFormatError(f"the stored couplings are not valid: {error}") from None


def _game(fields: Fields) -> Game:
    source, target = (mdp_from(fields.inside(side, MDP_KEYS)) for side in ("source", "target"))
    try:
        return Game(source, target, discount=fields.number("discount"), actions=fields.of_kind("actions", str))
    except (InvalidProblem, InvalidOption) as error:
        raise FileFormatError(f"problem: {error}") from None


def _witness(fields: Fields, bellman: GameBellman) -> StoredGameWitness:
    if bellman.is_immediate():
        raise FileFormatError("has a witness, but the cost is the whole distance in this problem; leave it out")
    scale = fields.number("scale")
    if scale != bellman.scale:
        raise FileFormatError(f"scale is {scale!r}, expected {bellman.scale!r} for this problem")
    value = fields.floats("priced", *bellman.shape)
    stored = witnesses_from(fields.inside("witness", WITNESS_KEYS), _blocks(bellman))
    return StoredGameWitness(bellman, value, tuple(stored))


def _blocks(bellman: GameBellman) -> list[Block]:
    return [Block(*block.sizes) for block in bellman.blocks]
