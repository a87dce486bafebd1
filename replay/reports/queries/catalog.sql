-- report catalog: changes of structure and of whole tables, commands, in commit order. Statements
-- are known where the family's log has them.
SELECT
    commit_time AS committed, kind,
    coalesce(events.table_name, "after".table_owner || '.' || "after".table_name) AS "table",
    authid AS "user", plan, correlation AS job, unit, log_file, log_record,
    "after"."action" AS "action", "after".statement AS statement,
    ended, log_offset AS "offset", commit_position AS "commit"
FROM events
LEFT JOIN structure_parts USING (log_file, log_record)
ORDER BY commit_position, unit, log_file, log_record
