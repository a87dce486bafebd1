"""Carries out jobs over the splits of a log: in this process, or on Spark."""
