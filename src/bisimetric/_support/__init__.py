"""Ground floor: checks of options, frozen arrays, inert text, threads, memory. Imports only `bisimetric.errors`."""
