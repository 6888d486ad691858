"""The five experiments of the paper (Calo et al. 2024): a config gives a record, the record gives pictures and tables.

`bisimetric reproduce` runs them; `ALL` holds them by name. May import everything but the command.
"""

from bisimetric.experiments import eta, heat_map, instances, role_of_m, running_time
from bisimetric.experiments.experiment import Experiment, Record, Table, Workplace, read_record, write_record

ALL: dict[str, Experiment] = {
    module.EXPERIMENT.name: module.EXPERIMENT for module in (role_of_m, heat_map, eta, running_time, instances)
}

__all__ = ["ALL", "Experiment", "Record", "Table", "Workplace", "read_record", "write_record"]
