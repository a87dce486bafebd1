-- report page: its units, in commit order; moments in seconds since 1970.
SELECT
    authid AS "user", plan, correlation AS job, "connection", ended, unit AS name,
    commit_position AS "commit",
    round(epoch_us(commit_time) / 1e6, 3) AS "time",
    round(epoch_us(begin_time) / 1e6, 3) AS began,
    incomplete::INTEGER AS incomplete
FROM units
ORDER BY number
