"""A model of rows that logreplay's answers about the logs of three families are compared with.

Everything here is written from what databases do, never from the code of the reader; the bytes of
the logs are those of :mod:`tests.independent`.
"""
