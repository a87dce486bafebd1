"""A model of rows, with encoders of its own, that logreplay's answers are compared with.

Everything here is written from the published record layouts and from what Db2 does, never from
the code of the reader. ``python -m tests.model --help`` runs it over as many seeds as wanted.
"""
