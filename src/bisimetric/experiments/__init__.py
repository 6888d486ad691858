"""The paper's five experiments, each a function from a config to a record and from the record to pictures.

`bisimetric reproduce` runs them; `ALL` has them by name. Calo et al. 2024 is the paper.
"""

from bisimetric.experiments import eta, heat_map, instances, role_of_m, running_time
from bisimetric.experiments._experiment import Experiment, Record, Table, Workplace, read_record, write_record

ALL: dict[str, Experiment] = {
    module.EXPERIMENT.name: module.EXPERIMENT for module in (role_of_m, heat_map, eta, running_time, instances)
}

__all__ = ["ALL", "Experiment", "Record", "Table", "Workplace", "read_record", "write_record"]
