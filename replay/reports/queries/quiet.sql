-- report quiet: spans between the first begin and the last end with at most $most open units. A unit
-- that begins where another ends meets it.
WITH steps AS (
    SELECT least(begin_position, commit_position) AS position, 1 AS step
    FROM units
    UNION ALL
    SELECT commit_position, -1
    FROM units
    WHERE ended NOT IN ('in flight', 'in doubt')
),
running AS (
    SELECT
        position,
        (sum(step) OVER in_order)::BIGINT AS open,
        lead(position, 1, (SELECT max(commit_position) FROM units)) OVER in_order AS next_position,
        row_number() OVER in_order AS place
    FROM steps
    WINDOW in_order AS (ORDER BY position, step DESC ROWS UNBOUNDED PRECEDING)
),
marked AS (  -- a span is what lies between two places where more units are open
    SELECT *, count(*) FILTER (open > $most) OVER (ORDER BY place) AS span
    FROM running
),
spans AS (
    SELECT
        min(position) AS from_position,
        max(next_position) AS until_position,
        max(open) AS open
    FROM marked
    WHERE open <= $most
    GROUP BY span
)
SELECT
    make_timestamp(microseconds_of(from_position) + distance) AS "from",
    make_timestamp(microseconds_of(until_position) + distance) AS "until",
    (epoch_us("until") - epoch_us("from")) / 1e6 AS seconds,
    open, from_position, until_position
FROM spans, clock
WHERE from_position < until_position
ORDER BY from_position
