"""`python -m mlxtpl`."""

from mlxtpl.cli import entry_point

entry_point()
