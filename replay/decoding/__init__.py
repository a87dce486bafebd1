"""Bytes into values: codecs, code pages, layout tables and row images, whatever log family they
come from."""
