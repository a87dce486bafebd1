"""SQL from row images: tables, rows, literals and statements. Pure: knows no logs, no databases, no
Spark."""
