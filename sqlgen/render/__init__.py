"""Rows as text for one purpose each: row by row, whatever is there, as loads, with parameters."""
