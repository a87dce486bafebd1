-- What the headers of a log tell, as relations: units and counts, from unit_parts and count_parts,
-- which are filled batch by batch (replay/reports/headers.py).

CREATE MACRO microseconds_of(position) AS
    -- a store clock value behind a zero byte counts in units of bit 51
    ('0x' || substring(position, 3, 14))::BIGINT >> 4;

CREATE MACRO sum_of(amount, condition) AS
    coalesce(sum(amount) FILTER (condition), 0)::BIGINT;

CREATE TABLE timed AS
WITH whole AS (  -- of a unit that lies in several batches the facts of the first, the sums of all
    SELECT
        commit_position, identity, member,
        nullif(any_value(COLUMNS([
            'urid', 'begin_position', 'commit_time', 'authid', 'plan', 'correlation', 'connection',
            'ended'
        ]) ORDER BY rowid), ''),
        bool_or(incomplete) AS incomplete,
        sum(records)::BIGINT AS records,
        sum(bytes)::BIGINT AS bytes
    FROM unit_parts
    GROUP BY ALL
),
alike AS (  -- whether begins are positions of the kind that commits are
    SELECT
        (NOT bool_and(ends_with(commit_position, '0000'))
            OR coalesce(bool_and(ends_with(begin_position, '0000')), true))
        AND coalesce(bool_and(begin_position <= commit_position), true) AS comparable
    FROM whole
)
SELECT
    * EXCLUDE (comparable) REPLACE (
        CASE WHEN comparable THEN begin_position END AS begin_position,
        try_strptime(
            substring(commit_time, 1, 26), ['%Y-%m-%d %H:%M:%S.%f', '%Y-%m-%d %H:%M:%S']
        ) AS commit_time
    )
FROM whole, alike;

-- Microseconds from a position to its moment, where positions are readings of a clock: several that
-- lie apart are as far from their commit times, to within two seconds.
CREATE TABLE clock AS
WITH distances AS (
    SELECT
        microseconds_of(commit_position) AS ticks,
        epoch_us(commit_time) AS moment,
        moment - ticks AS distance
    FROM timed
    WHERE commit_time IS NOT NULL
)
SELECT
    CASE
        WHEN count(DISTINCT ticks) > 1
            AND max(moment) > min(moment)
            AND max(distance) - min(distance) <= 2000000
        THEN list_sort(list(distance))[count(*) // 2 + 1]
    END AS distance
FROM distances;

CREATE TABLE units AS
WITH by_table AS (  -- what stands of a committed unit, all of another one
    SELECT
        commit_position, identity,
        coalesce(table_name, '(not known)') AS "table",
        sum(changes)::BIGINT AS done
    FROM count_parts
    WHERE coalesce(fate, '') NOT IN ('rolled back to savepoint', 'reversed by Db2')
    GROUP BY ALL
),
done AS (
    SELECT
        commit_position, identity,
        sum(done)::BIGINT AS changes,
        map(list("table" ORDER BY done DESC, "table"), list(done ORDER BY done DESC, "table"))
            AS tables
    FROM by_table
    GROUP BY ALL
)
SELECT
    row_number() OVER (ORDER BY commit_position, identity) - 1 AS number,
    urid || '/' || member AS unit,
    timed.*,
    make_timestamp(microseconds_of(begin_position) + distance) AS begin_time,
    if(
        commit_time < begin_time, 0.0, (epoch_us(commit_time) - epoch_us(begin_time)) / 1e6
    )::DOUBLE AS seconds,
    CASE WHEN incomplete THEN 'incomplete' ELSE ended END AS state,
    coalesce(changes, 0) AS changes,
    tables
FROM timed
LEFT JOIN done USING (commit_position, identity)
CROSS JOIN clock
ORDER BY number;

CREATE TABLE counts AS
SELECT
    number, unit, table_name, op, coalesce(fate, 'open') AS fate, origin,
    sum(count_parts.changes)::BIGINT AS changes,
    sum(count_parts.bytes)::BIGINT AS bytes
FROM count_parts
JOIN units USING (commit_position, identity)
GROUP BY ALL
ORDER BY ALL;
