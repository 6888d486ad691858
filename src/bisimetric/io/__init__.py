"""Reading and writing chains and solutions."""


def save(obj: object, path: object) -> None:
    raise NotImplementedError


def load(path: object) -> object:
    raise NotImplementedError
