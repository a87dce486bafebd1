-- report open: units without an end in the log, or that lack a part; with a position $at, the units
-- that were open there, and of them those that began up to a time $moment, if there is one.
SELECT
    unit, state, authid AS "user", plan, correlation AS job,
    begin_position AS "begin", begin_time AS began, changes, tables,
    commit_time AS committed, commit_position AS "commit", "connection", seconds, bytes
FROM units
WHERE
    CASE
        WHEN $at IS NULL THEN state IN ('in flight', 'in doubt', 'incomplete')
        ELSE begin_position <= $at AND $at < commit_position
            AND ($moment IS NULL OR begin_time <= $moment::TIMESTAMP)
    END
ORDER BY begin_position NULLS FIRST, unit, number
