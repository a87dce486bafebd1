"""Logs as frames of other programs: sources that read them in parts, and go on as logs arrive."""
