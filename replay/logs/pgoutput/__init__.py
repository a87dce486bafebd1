"""Changes as pgoutput, the output plugin of PostgreSQL, sends them."""
