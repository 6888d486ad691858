"""The commands as the command line sees them: one file a command, or a family of them, with its help and its arguments.

A new command is one file here and one line in the table of `cli/parser.py`. Only the standard library is imported at
module level; what a command computes stands in a module of its own in `cli`, which is imported when the command runs.
"""
