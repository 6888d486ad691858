"""Every experiment in a tiny version, run once, as read back from its file."""

import pytest

from bisimetric.experiments import ALL, Workplace, eta, heat_map, instances, read_record, role_of_m, running_time
from bisimetric.experiments import write_record as write

TINY = {
    "role-of-m": role_of_m.Config(rounds=40, inner_steps=(1, 2, 5), compared_at=(4, 20, 40), looks=2),
    "heat-map": heat_map.Config(),
    "eta": eta.Config(rounds=400, averaged_rounds=40, looks=2, our_rounds=(40, 400)),
    "running-time": running_time.Config(
        kinds=("uniform",),
        sizes=(2, 9),
        seeds=(0, 1),
        discounts=(0.5,),
        tuned_sizes=(4, 8),
        tuned_seeds=(0, 1),
        tuned_discounts=(0.5,),
        limit=0.1,
    ),
    "instances": instances.Config(wanted=(3, 3, 2, 2)),
}


@pytest.fixture(scope="session")
def records(tmp_path_factory):
    """Records by name, made when they are asked for."""
    folder = tmp_path_factory.mktemp("experiments")
    kept = {}

    def record(name):
        if name not in kept:
            place = folder / f"{name}.json"
            write(ALL[name].record(TINY[name], Workplace(lambda what: None, folder)), place)
            kept[name] = read_record(place)
        return kept[name]

    return record
