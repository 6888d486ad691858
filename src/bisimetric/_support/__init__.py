"""Checks of options, read-only arrays, escaped text, threads, memory. Imports only `bisimetric.errors`."""
