"""Replays into live databases: the route, the transactions, the position kept in the target, and
the proof."""
