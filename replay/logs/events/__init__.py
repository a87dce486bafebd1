"""Change events of Debezium, as lines of JSON."""
