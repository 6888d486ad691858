"""Fit a parametric chain to another one by minimising their distance.

The target is a queue of up to eleven customers whose server speeds up when five are waiting. The model knows nothing of
that: a small network maps the length of the queue to the probabilities of an arrival and of a departure, and is fitted
by descending the exact distance between the two chains (`bm.torch.distance`), where the cost of two lengths is how far
they are apart. Run it with a file name, and it writes what docs/figures.py draws: python fit_a_chain.py record.json
"""

from __future__ import annotations

import json
import sys

import torch

import bisimetric as bm

LENGTHS, DISCOUNT, STEPS = 12, 0.95, 150
length = torch.arange(LENGTHS, dtype=torch.float64)


def queue(up: torch.Tensor, down: torch.Tensor) -> torch.Tensor:
    """The chain that goes up and down by one with these probabilities, and stays otherwise."""
    up = torch.cat([up[:-1], up.new_zeros(1)])
    down = torch.cat([down.new_zeros(1), down[1:]])
    return torch.diag(up[:-1], 1) + torch.diag(down[1:], -1) + torch.diag(1.0 - up - down)


def main() -> dict[str, list[float]]:
    """Fit, and return the loss of every step and the probabilities before and after."""
    torch.manual_seed(0)
    wanted = queue(torch.full((LENGTHS,), 0.3).double(), torch.where(length < 5, 0.2, 0.6).double())
    cost = (length[:, None] - length).abs()
    start = torch.eye(LENGTHS, dtype=torch.float64)[0]
    network = torch.nn.Sequential(torch.nn.Linear(1, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3)).double()
    optimiser = torch.optim.Adam(network.parameters(), lr=0.03)
    record: dict[str, list[float]] = {"loss": [], "wanted": wanted.diagonal(-1).tolist()}
    for step in range(STEPS):
        up, down, _ = torch.softmax(network((length[:, None] - 5.5) / 5.5), -1).T
        model = queue(up, down)
        if step == 0:
            record["before"] = model.diagonal(-1).tolist()
        loss = bm.torch.distance(model, wanted, cost, DISCOUNT, source_start=start, target_start=start, normalised=True)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        record["loss"].append(loss.item())
    record["after"] = model.diagonal(-1).tolist()
    print(f"mean difference in length: {record['loss'][0]:.3f} before, {min(record['loss']):.3f} after {STEPS} steps")
    return record


if __name__ == "__main__":
    found = main()
    if len(sys.argv) > 1:
        with open(sys.argv[1], "w", encoding="utf-8") as file:
            json.dump({name: [round(value, 6) for value in values] for name, values in found.items()}, file)
            file.write("\n")
