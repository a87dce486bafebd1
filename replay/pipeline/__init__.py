"""From an open log to rows in commit order: plan, scan, partition, rows, the fast path, and the
engines that carry out jobs."""
