"""Fit the weights of a graph's edges so that its random walk matches another graph's.

Both graphs have the same ten nodes on a circle. In the target, the edges of one half weigh four times as much as the
others, and a chord crosses the circle; the model has the same edges, all of weight one in the beginning. The distance
between the two walks is descended over the logarithms of the weights.
"""

from __future__ import annotations

import torch

import bisimetric as bm

NODES, DISCOUNT, STEPS = 10, 0.9, 120
EDGES = [(k, (k + 1) % NODES) for k in range(NODES)] + [(0, 5)]


def walk(weights: torch.Tensor) -> torch.Tensor:
    """The transition probabilities of the random walk on the weighted graph."""
    heads, tails = torch.tensor(EDGES).T
    matrix = torch.zeros(NODES, NODES, dtype=torch.float64)
    matrix = matrix.index_put((heads, tails), weights).index_put((tails, heads), weights)
    return matrix / matrix.sum(1, keepdim=True)


def main() -> tuple[float, float, torch.Tensor]:
    """Fit; returns the distance before and after, and the weights relative to the smallest."""
    wanted = torch.tensor([4.0] * 5 + [1.0] * 5 + [2.0], dtype=torch.float64)
    place = torch.arange(NODES, dtype=torch.float64)
    around = (place[:, None] - place).abs()
    cost = torch.minimum(around, NODES - around)  # steps around the circle
    logs = torch.zeros(len(EDGES), dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.Adam([logs], lr=0.1)
    shrink = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.02, STEPS)
    losses = []
    for _ in range(STEPS):
        loss = bm.torch.distance(walk(logs.exp()), walk(wanted), cost, DISCOUNT, normalised=True)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        shrink.step()
        losses.append(loss.item())
    found = (logs - logs.min()).exp().detach()
    print(f"mean steps apart: {losses[0]:.4f} before, {min(losses):.4f} after; weights", found.numpy().round(2))
    return losses[0], min(losses), found


if __name__ == "__main__":
    main()
