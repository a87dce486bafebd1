"""What depends on what: write sets, the graph of units of recovery, cascade, and the order that
constraints ask for."""
