-- Units and counts of the changes whose values satisfy a condition, as those of headers.
INSERT INTO unit_parts BY NAME
SELECT
    commit_lrsn AS commit_position, urid || printf('%04X', member) AS identity, urid, member,
    commit_time::VARCHAR AS commit_time,
    authid, plan, correlation_id AS correlation, connection_id AS "connection",
    'committed' AS ended, false AS incomplete, count(*) AS records, 0 AS bytes
FROM row_facts
GROUP BY ALL;

INSERT INTO count_parts BY NAME
SELECT
    commit_lrsn AS commit_position, urid || printf('%04X', member) AS identity,
    table_name, op, if(fate = 0, 'committed', 'rolled back') AS fate, origin,
    count(*) AS changes, 0 AS bytes
FROM row_facts
GROUP BY ALL;
