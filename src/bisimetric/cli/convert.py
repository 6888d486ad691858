"""`bisimetric convert`: read a model, make a chain of it if a policy is given, write it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bisimetric._support.options import one_of
from bisimetric.cli.messages import ExitCode, is_quiet, note
from bisimetric.cli.models import (
    MODEL_ENDINGS,
    SINGLE_FILES,
    STDIN,
    Reading,
    model_to_stdout,
    transition_count,
    write_model,
)
from bisimetric.cli.output import STDOUT, Meter, Row, check_output, facts_table, print_json, show, shown_model
from bisimetric.cli.progress import Progress
from bisimetric.errors import InvalidOption
from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP

USUAL_FORMAT = "json"


@dataclass(frozen=True, slots=True)
class ConvertRequest(Reading):
    """The options of the command."""

    model: str
    out: str
    from_format: str | None
    to_format: str | None
    policy: str | None
    discount: float | None
    as_json: bool


def run(request: ConvertRequest) -> int:
    """Convert; returns the exit code."""
    _check(request)
    meter = Meter()
    with Progress() as progress:
        progress.doing("reading")
        given = request.from_format
        model = request.models([request.model], None if given is None else f".{given.lstrip('.').lower()}")[0]
        if request.policy is not None:
            progress.doing("finding the policy")
            model = _under(model, request)
        progress.doing("writing")
        if request.out != STDOUT:
            write_model(model, request.out)
        expense = meter.read()
    if request.out == STDOUT:
        model_to_stdout(model, f".{(request.to_format or USUAL_FORMAT).lstrip('.').lower()}")
        return ExitCode.SUCCESS
    note(f"the {'chain' if isinstance(model, MarkovChain) else 'decision process'} is in {request.out}")
    if request.as_json:
        print_json({**_document(request, model), "output": request.out, **expense.document()})
    elif not is_quiet():
        show(facts_table([*_facts(request, model), *expense.facts()], bold="states"))
    return ExitCode.SUCCESS


def _check(request: ConvertRequest) -> None:
    if request.from_format is not None and request.model != STDIN:
        raise InvalidOption(f"--from is given, but IN is {request.model!r}; it says what stdin (-) holds")
    if request.out == STDOUT:
        if request.as_json:
            raise InvalidOption("--json and stdout (-) are given, expected one; the model itself goes to stdout")
        one_of((request.to_format or USUAL_FORMAT).lstrip(".").lower(), "--to", [e.lstrip(".") for e in SINGLE_FILES])
    elif request.to_format is not None:
        raise InvalidOption(f"--to is given, but OUT is {request.out!r}; it says what stdout (-) gets")
    else:
        check_output(request.out, "OUT", MODEL_ENDINGS)
    if request.policy == "optimal" and request.discount is None:
        raise InvalidOption("--policy optimal needs --discount G: which policy is optimal depends on it")
    if request.discount is not None and request.policy != "optimal":
        raise InvalidOption("--discount is for --policy optimal; leave it out")


def _under(model: MarkovChain | MDP, request: ConvertRequest) -> MarkovChain:
    if isinstance(model, MarkovChain):
        raise InvalidOption(f"--policy is for decision processes, and {request.model} is a chain; leave it out")
    if request.policy == "uniform":
        return model.under("uniform")
    assert request.discount is not None
    return model.under(model.optimal_policy(request.discount).policy)


def _document(request: ConvertRequest, model: MarkovChain | MDP) -> dict[str, Any]:
    chain = isinstance(model, MarkovChain)
    return {
        "model": request.model,
        "kind": "chain" if chain else "mdp",
        "states": model.n_states,
        "actions": None if isinstance(model, MarkovChain) else model.n_actions,
        "transitions": transition_count(model),
        "rewards": not isinstance(model, MarkovChain) or model.reward is not None,
        "labels": model.labels is not None,
        "starts": 0 if model.start is None else int(np.count_nonzero(model.start)),
    }


def _facts(request: ConvertRequest, model: MarkovChain | MDP) -> Iterator[Row]:
    kind = "chain" if isinstance(model, MarkovChain) else f"decision process, {model.n_actions} actions"
    yield "model", f"{shown_model(request.model)}, a {kind}"
    yield "states", f"{model.n_states}, {transition_count(model)} transitions"
    document = _document(request, model)
    has = [name for name in ("rewards", "labels") if document[name]]
    if document["starts"]:
        has.append("a start" if document["starts"] == 1 else f"{document['starts']} start states")
    yield "has", ", ".join(has) or "neither rewards nor labels nor a start"
    yield "file", shown_model(request.out)
