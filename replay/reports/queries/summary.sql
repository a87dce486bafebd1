-- report summary, report activity: how many changes of each kind, by columns of named ({groups}).
WITH named AS (
    SELECT
        number, authid AS "user", correlation AS job, plan, "connection", unit, commit_time,
        strftime(commit_time, '%Y-%m-%d %H:00') AS hour,
        strftime(commit_time, '%Y-%m-%d') AS "day",
        table_name AS "table", op, origin, fate, counts.changes, counts.bytes, commit_position
    FROM counts
    JOIN units USING (number, unit)
)
SELECT
    {groups},
    count(DISTINCT number) AS units,
    sum_of(changes, fate = 'committed' AND op = 'insert') AS inserts,
    sum_of(changes, fate = 'committed' AND op = 'update') AS updates,
    sum_of(changes, fate = 'committed' AND op = 'delete') AS deletes,
    sum_of(changes, fate = 'committed' AND op NOT IN ('insert', 'update', 'delete')) AS other,
    sum_of(changes, fate <> 'committed') AS rolled_back,
    sum_of(bytes, true) AS bytes,
    min(commit_time) AS first,
    max(commit_time) AS last,
    min(commit_position) AS first_position,
    max(commit_position) AS last_position
FROM named
GROUP BY ALL
ORDER BY ALL
