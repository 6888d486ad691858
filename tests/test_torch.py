"""Distances as PyTorch functions."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidChain, InvalidOption, InvalidProblem
from tests.extras import package

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = package("torch")

N, M = 3, 2


def numbers(*shape, seed=0, dtype=torch.float64):
    """A tensor of random numbers that wants derivatives."""
    return torch.tensor(np.random.default_rng(seed).normal(size=shape), dtype=dtype, requires_grad=True)


def softly(P, Q, cost, start, discount=0.8, **options):
    """The distance in terms of free numbers."""
    return bm.torch.distance(
        torch.softmax(P, -1),
        torch.softmax(Q, -1),
        cost.exp(),
        discount,
        source_start=torch.softmax(start, -1),
        **options,
    )


@pytest.mark.parametrize("normalised", [False, True])
def test_gradcheck(normalised):
    """By kernels, cost, starts and discount, through parametrisations that stay on the simplex."""
    point = numbers(N, N), numbers(M, M, seed=1), numbers(N, M, seed=2), numbers(N, seed=3)
    discount = torch.tensor(0.8, dtype=torch.float64, requires_grad=True)

    def function(*args):
        return softly(*args, normalised=normalised, tol=1e-12)

    assert torch.autograd.gradcheck(function, (*point, discount), eps=1e-5, atol=1e-6, rtol=1e-5)


def test_a_batch():
    """Of kernels, with everything else shared: derivatives of what is shared add up."""
    point = numbers(4, N, N), numbers(M, M, seed=1), numbers(N, M, seed=2), numbers(N, seed=3)
    assert softly(*point).shape == (4,)
    assert torch.autograd.gradcheck(lambda *args: softly(*args, tol=1e-12), point, eps=1e-5, atol=1e-6, rtol=1e-5)
    many = tuple(torch.softmax(numbers(2, k, k, seed=k), -1) for k in (N, M))
    found = bm.torch.distance(
        *many, torch.ones(2, N, M, dtype=torch.float64), torch.tensor([0.5, 0.9], dtype=torch.float64)
    )
    np.testing.assert_allclose(found.detach().numpy(), [2.0, 10.0])


def test_views_with_a_sign():
    """A tensor may be a view that says minus, as the imaginary part of a conjugate is."""
    cost, rows = numbers(N, M).detach().exp(), torch.full((N, N), 1.0 / N, dtype=torch.float64)
    target = torch.full((M, M), 1.0 / M, dtype=torch.float64)
    view = torch.complex(torch.zeros_like(cost), -cost).conj().imag
    assert view.is_neg()
    assert bm.torch.distance(rows, target, view, 0.9) == bm.torch.distance(rows, target, cost, 0.9)


@pytest.mark.filterwarnings("error")
def test_arrays():
    """Also those that cannot be written to, as costs of problems, and in single precision."""
    random = np.random.default_rng(0)
    rows, cost = random.dirichlet(np.ones(N), N), random.random((N, N))
    cost.setflags(write=False)
    known = bm.torch.distance(rows, np.eye(N), cost, 0.9)
    assert known.dtype == torch.float64
    rounded = bm.torch.distance(rows.astype(np.float32), np.eye(N, dtype=np.float32), cost, 0.9)
    assert float(rounded) == pytest.approx(float(known), rel=1e-5)


@pytest.mark.parametrize(
    "rows",
    [[[1.0], [0.5, 0.5]], [torch.tensor([1.0, 0.0], requires_grad=True), torch.tensor([0.0, 1.0])]],
    ids=["ragged", "tensors"],
)
def test_lists_that_are_no_arrays(rows):
    """Are refused with what to call instead."""
    with pytest.raises(InvalidProblem, match=r"P is a list, expected .*torch\.stack"):
        bm.torch.distance(rows, np.eye(2), np.eye(2), 0.9)


@pytest.mark.parametrize("layout", ["coo", "csr"])
def test_values_of_sparse_tensors(layout):
    """Have the derivatives of dense ones."""
    dense = torch.softmax(numbers(N, N).detach(), -1)
    target, cost = torch.softmax(numbers(M, M), -1).detach(), numbers(N, M, seed=2).detach().exp()
    free = dense.clone().requires_grad_()
    bm.torch.distance(free, target, cost, 0.9).backward()
    stored = dense.reshape(-1).clone().requires_grad_()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch calls its sparse tensors a beta
        if layout == "coo":
            places = torch.cartesian_prod(torch.arange(N), torch.arange(N)).T
            kernel = torch.sparse_coo_tensor(places, stored, (N, N))
        else:
            kernel = torch.sparse_csr_tensor(torch.arange(0, N * N + 1, N), torch.arange(N).repeat(N), stored, (N, N))
        bm.torch.distance(kernel, target, cost, 0.9).backward()
    np.testing.assert_allclose(stored.grad.numpy().reshape(N, N), free.grad.numpy(), atol=1e-12)


def test_single_precision():
    """Stays single, with the derivatives of double precision up to rounding."""
    found = []
    for dtype in (torch.float32, torch.float64):
        logits = numbers(N, N, dtype=dtype)
        value = bm.torch.distance(torch.softmax(logits, -1), *fixed(dtype), 0.9)
        assert value.dtype == dtype
        value.backward()
        assert logits.grad.dtype == dtype
        found.append((value.detach().double().numpy(), logits.grad.double().numpy()))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-5)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-3, atol=1e-5)


def fixed(dtype=torch.float64):
    """A target and a cost."""
    return (
        torch.softmax(numbers(M, M, seed=1, dtype=dtype), -1).detach(),
        numbers(N, M, seed=2, dtype=dtype).detach().exp(),
    )


def test_descent():
    """A few steps along the derivatives bring a chain close to another, with any optimiser."""
    target = torch.tensor([[0.3, 0.7], [0.6, 0.4]], dtype=torch.float64)
    cost = torch.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=torch.float64)
    start = torch.tensor([1.0, 0.0], dtype=torch.float64)
    logits = torch.zeros(2, 2, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.SGD([logits], lr=0.05)
    values = []
    for _ in range(30):
        optimiser.zero_grad()
        loss = bm.torch.distance(torch.softmax(logits, -1), target, cost, 0.9, source_start=start, target_start=start)
        loss.backward()
        optimiser.step()
        values.append(float(loss.detach()))
    assert min(values) < 0.3 * values[0]


def test_without_derivatives():
    """Plain numbers and tensors that want nothing give a tensor that wants nothing."""
    value = bm.torch.distance([[1.0]], [[0.5, 0.5], [0.5, 0.5]], [[1.0, 1.0]], 0.5)
    assert value.item() == pytest.approx(2.0)
    assert not value.requires_grad


def test_bad_input():
    """Rows off the simplex, NaN, whole numbers, half precision, sparse costs."""
    target, cost = fixed()
    good = torch.softmax(numbers(N, N), -1).detach()
    with pytest.raises(InvalidChain, match="row 1 of P sums to 2"):
        bm.torch.distance(good * torch.tensor([[1.0], [2.0], [1.0]]).double(), target, cost, 0.9)
    with pytest.raises(InvalidChain, match="nan"):
        bm.torch.distance(good * float("nan"), target, cost, 0.9)
    for wrong in (torch.eye(N, dtype=torch.int64), torch.eye(N, dtype=torch.float16)):
        with pytest.raises(InvalidOption, match=r"P has dtype torch\.\w+, expected float32 or float64; P.double\(\)"):
            bm.torch.distance(wrong, target, cost, 0.9)
    with pytest.raises(InvalidProblem, match="discount"):
        bm.torch.distance(good, target, cost, 1.0)
    with pytest.raises(InvalidChain, match="sparse"):
        bm.torch.distance(good, target, cost.to_sparse_coo(), 0.9)


def test_a_plain_discount_stays_in_double_precision():
    """Distances grow like 1/(1 - discount), so single precision would lose most digits near one."""
    P, Q, cost = torch.full((2, 2), 0.5), torch.tensor([[0.25, 0.75], [0.5, 0.5]]), 1 - torch.eye(2)
    for discount in (0.9999, 0.99999999):
        single = bm.torch.distance(P, Q, cost, discount)
        double = bm.torch.distance(P.double(), Q.double(), cost.double(), discount)
        assert single.dtype == torch.float32
        assert single.item() == pytest.approx(double.item(), rel=1e-6)


def test_missing_inputs():
    """None and texts are no tensors."""
    target, cost = fixed()
    for wrong in ((None, target, cost, 0.9), (target, target, None, 0.9), (target, target, cost, "0.9")):
        with pytest.raises(InvalidProblem, match="expected a tensor"):
            bm.torch.distance(*wrong)


@pytest.mark.parametrize("transform", ["grad", "vmap", "jacrev"])
def test_transforms_of_torch_func_are_refused(transform):
    """With what to call instead."""
    P, cost = torch.eye(2, dtype=torch.float64), torch.ones(2, 2, dtype=torch.float64)
    function = getattr(torch.func, transform)(lambda cost: bm.torch.distance(P, P, cost, 0.9))
    with pytest.raises(InvalidOption, match=r"torch\.autograd\.grad"):
        function(cost[None] if transform == "vmap" else cost)


def test_second_derivatives_are_refused():
    """Not dropped in silence; a first derivative with a graph is as good as without."""
    target, cost = fixed()
    P = torch.full((len(cost), len(cost)), 1 / len(cost), dtype=torch.float64, requires_grad=True)
    distance = bm.torch.distance(P, target, cost, 0.9)
    (plain,) = torch.autograd.grad(distance, P, retain_graph=True)
    (slope,) = torch.autograd.grad(distance, P, create_graph=True)
    assert slope.requires_grad
    assert torch.equal(slope, plain)
    with pytest.raises(InvalidOption, match="differentiated again"):
        (distance + slope.pow(2).sum()).backward()


def test_derivatives_along_the_outer_one():
    """A derivative is linear in what it is multiplied by, and may be differentiated by that alone."""
    target, cost = fixed()
    P = torch.full((len(cost), len(cost)), 1 / len(cost), dtype=torch.float64)

    def function(cost):
        return bm.torch.distance(P, target, cost, 0.9)

    _, along = torch.autograd.functional.jvp(function, cost, torch.ones_like(cost))
    assert along.item() == pytest.approx(10.0)
    with pytest.raises(InvalidOption, match="differentiated again"):
        torch.autograd.functional.hessian(function, cost)


def test_many_derivatives_at_once():
    """Batches of products with the Jacobian, as `jacobian(vectorize=True)` asks for them."""
    point = numbers(4, N, N), numbers(M, M, seed=1), numbers(N, M, seed=2), numbers(N, seed=3)

    def by_cost(cost):
        return softly(*(one.detach() for one in point[:2]), cost, point[3].detach(), tol=1e-12)

    assert torch.autograd.gradcheck(by_cost, point[2], eps=1e-5, atol=1e-6, rtol=1e-5, check_batched_grad=True)
    rows = [torch.autograd.grad(softly(*point)[k], point[2])[0] for k in range(4)]
    whole = torch.autograd.functional.jacobian(
        lambda cost: softly(*point[:2], cost, point[3]), point[2], vectorize=True
    )
    np.testing.assert_allclose(whole, torch.stack(rows), atol=1e-12)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # PyTorch loads its own rules with a deprecated function
def test_forward_mode_is_refused():
    """With what to call instead."""
    target, cost = fixed()
    P = torch.full((N, N), 1 / N, dtype=torch.float64)
    with torch.autograd.forward_ad.dual_level(), pytest.raises(InvalidOption, match=r"torch\.autograd\.grad"):
        bm.torch.distance(P, target, torch.autograd.forward_ad.make_dual(cost, cost), 0.9)


@pytest.mark.filterwarnings("ignore::UserWarning")  # those of PyTorch's compiler about itself, which it hides
def test_compiled_functions():
    """`torch.compile` goes around the distance, from the first call on."""
    target, cost = fixed()
    logits = numbers(N, N)

    def function(logits):
        return 2.0 * bm.torch.distance(logits.softmax(-1), target, cost, 0.9)

    compiled = torch.compile(function, backend="eager")
    for given in (logits, numbers(N, N, seed=5)):
        assert torch.equal(compiled(given), function(given))
    compiled(logits).backward()
    (slope,) = torch.autograd.grad(function(logits), logits)
    assert torch.equal(logits.grad, slope)


@pytest.mark.filterwarnings("ignore::UserWarning")  # what PyTorch says of sparse tensors once a process
def test_entries_of_sparse_tensors_are_named_by_their_place():
    """Row and column, as in dense ones."""
    target, cost = fixed()
    for wrong, values in (("nan", [float("nan"), 1.5, 1, 1]), (r"-0\.5", [1, 1.5, -0.5, 1])):
        places = torch.tensor([[0, 0, 1, 2], [0, 1, 1, 2]])
        P = torch.sparse_coo_tensor(places, torch.tensor(values).double(), (N, N))
        place = r"\(0, 0\)" if wrong == "nan" else r"\(1, 1\)"
        for kernel in (P, P.to_dense()):
            with pytest.raises(InvalidChain, match=f"P is {wrong} at {place}"):
                bm.torch.distance(kernel, target, cost, 0.9)
    with pytest.raises(InvalidChain, match=r"source_start is -0\.5 at 1,"):
        bm.torch.distance(torch.eye(N).double(), target, cost, 0.9, source_start=[0.5, -0.5, 1.0])


def test_layouts_devices_and_numbers_that_are_not_taken():
    """Columns first, blocks, dense dimensions, no values, imaginary parts: what was expected, and what helps."""
    target, cost = fixed()
    P = torch.eye(N).double()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch calls its sparse tensors a beta
        wrong = [P.to_sparse_csc(), P.to_sparse_bsr((1, 1)), P.to_sparse_bsc((1, 1)), P.to_sparse(1)]
        for kernel in wrong:
            with pytest.raises(InvalidChain, match="layout") as told:
                bm.torch.distance(kernel, target, cost, 0.9)
            remedy = re.search(r"P\.(\w+)\(\)", str(told.value))[1]
            assert bm.torch.distance(getattr(kernel, remedy)(), target, cost, 0.9) > 0
    with pytest.raises(InvalidOption, match="meta"):
        bm.torch.distance(P.to("meta"), target, cost, 0.9)
    for imaginary in (P.to(torch.complex128), P.numpy() + 1j):
        with pytest.raises(InvalidOption, match="expected real numbers") as told:
            bm.torch.distance(imaginary, target, cost, 0.9)
        assert "double()" not in str(told.value)


def test_kernels_without_states():
    """There is nothing to compare."""
    with pytest.raises(InvalidChain, match="one row per state"):
        bm.torch.distance(torch.ones(0, 0), torch.eye(2), torch.ones(0, 2), 0.9)
