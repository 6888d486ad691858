"""Explicit models for tests: the parts of small files, and a function that writes them."""

from __future__ import annotations

PRISM = {
    "tra": "3 5\n0 1 0.5\n0 2 0.5\n1 1 1\n2 0 0.25\n2 2 0.75\n",
    "lab": '0="init" 1="deadlock" 2="goal" 3="safe"\n0: 0 3\n1: 2 3\n',
    "srew": "3 2\n0 1.5\n2 -2\n",
    "trew": "3 2\n2 0 4\n2 2 8\n",
    "sta": "(x,b)\n0:(0,true)\n1:(1,false)\n2:(-1,true)\n",
}
STORM = {
    "tra": "dtmc\n0 1 0.5\n0 2 0.5\n1 1 1\n2 0 0.25\n2 2 0.75\n",
    "lab": "#DECLARATION\ninit goal safe\n#END\n0 init safe\n1 goal safe\n",
    "srew": "0 1.5\n2 -2\n",
    "trew": "2 0 4\n2 2 8\n",
    "sta": PRISM["sta"],
}
PROCESS = {
    "tra": "2 3 4\n0 0 1 1 go\n0 1 0 0.5 stay\n0 1 1 0.5 stay\n1 0 1 1 stay\n",
    "lab": '0="init" 1="deadlock"\n0: 0\n',
    "trew": "2 3 2\n0 1 0 3\n0 1 1 5\n",
}


def write(folder, parts, stem="model"):
    """The files of a model, given by ending as text or bytes; returns the path of its transitions."""
    for kind, text in parts.items():
        (folder / f"{stem}.{kind}").write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder / f"{stem}.tra"
