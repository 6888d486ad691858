"""Ground floor: what every room uses and what knows nothing of chains. Imports only `bisimetric.errors`.

Checks of options (`options`), read-only objects (`frozen`), equality by content (`content`), inert text (`text`), names
that load late (`lazy`), raw threads and deadlines (`threads`), work in blocks (`blocks`), processors (`cores`,
`cgroups`), memory estimates (`memory`), seconds without compilation (`compiling`), a connection to Ray (`ray`).
"""
