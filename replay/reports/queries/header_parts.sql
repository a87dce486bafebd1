-- What a pass over the headers gives, batch by batch (replay/reports/headers.py).
CREATE TABLE unit_parts (
    commit_position VARCHAR, identity VARCHAR, urid VARCHAR, member BIGINT,
    begin_position VARCHAR, commit_time VARCHAR,
    authid VARCHAR, plan VARCHAR, correlation VARCHAR, "connection" VARCHAR,
    ended VARCHAR, incomplete BOOLEAN, records BIGINT, bytes BIGINT
);

CREATE TABLE count_parts (
    commit_position VARCHAR, identity VARCHAR, table_name VARCHAR,
    op VARCHAR, fate VARCHAR, origin VARCHAR, changes BIGINT, bytes BIGINT
);

-- What a pass over the changes gives, where values decide.
CREATE TABLE row_facts (
    table_name VARCHAR, op VARCHAR, commit_lrsn VARCHAR, commit_time TIMESTAMP,
    urid VARCHAR, member BIGINT,
    authid VARCHAR, plan VARCHAR, correlation_id VARCHAR, connection_id VARCHAR,
    origin VARCHAR, fate BIGINT
);

CREATE TABLE events (
    commit_position VARCHAR, unit VARCHAR, commit_time VARCHAR, kind VARCHAR,
    table_name VARCHAR, authid VARCHAR, plan VARCHAR, correlation VARCHAR, ended VARCHAR,
    log_file VARCHAR, log_record BIGINT, log_offset BIGINT
);

-- Changes of structure, from a pass over the changes.
CREATE TABLE structure_parts (
    log_file VARCHAR, log_record BIGINT,
    "after" STRUCT(
        table_owner VARCHAR, table_name VARCHAR, "action" VARCHAR, definition VARCHAR,
        old_name VARCHAR, new_name VARCHAR, statement VARCHAR, note VARCHAR
    )
);
