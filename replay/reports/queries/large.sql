-- report large: the $top units with the most changes, then those of the $top longest that are not
-- among them.
SELECT
    row_number() OVER (ORDER BY changes DESC, commit_position, unit) AS size_rank,
    CASE
        WHEN seconds IS NOT NULL
        THEN row_number() OVER (ORDER BY seconds DESC NULLS LAST, commit_position, unit)
    END AS time_rank,
    unit, authid AS "user", plan, correlation AS job, commit_time AS committed, seconds,
    changes, bytes, state, tables,
    begin_position AS "begin", begin_time AS began, commit_position AS "commit", "connection",
    records
FROM units
QUALIFY size_rank <= $top OR time_rank <= $top
ORDER BY size_rank > $top, CASE WHEN size_rank <= $top THEN size_rank ELSE time_rank END
