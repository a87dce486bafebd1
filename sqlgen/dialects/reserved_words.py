"""Words that some database reserves. A name that is one of them is quoted: quoting one too many
does no harm, one too few is a failed script."""

from __future__ import annotations

#: Reserved words of SQL:2016, SQLite, DuckDB, MySQL, MariaDB, Oracle, SQL Server (and its ODBC and
#: future words), Db2 for z/OS and LUW, Snowflake, BigQuery, Redshift, Spark (ANSI mode) and Trino.
RESERVED = frozenset(
    """
    abort abs absent absolute access accessible account acos action activate acyclic ada add admin
    aes128 aes256 after aggregate ai alias
    all all_rows allocate allow allowoverwrite alter always analyse analyze and another anti any
    any_value apply are array array_agg
    array_max_cardinality as asc asensitive asin assert assert_rows_modified assertion associate
    asutime asymmetric at atan atomic attach
    attributes audit authid authorization autoincrement aux auxiliary avg az64 backup before begin
    begin_frame begin_partition bernoulli
    between bigint binary binlog bit bit_length blank blankasnull blob body boolean both break
    browse buffer bufferpool by bytedict bzip2
    cache call called capture cardinality cascade cascaded case cast catalog ccsid ceil ceiling
    change char char_length character
    character_length check checkpoint classifier clob clone close cluster clustered coalesce
    collate collation collect collection collid
    column columns comment commit compress compute concat concurrently condition connect
    connect_by_root connection constraint constraints
    contains containstable content continue convert copy corr corresponding cos cosh count
    covar_pop covar_samp create credentials cross csv
    cube cume_dist current current_catalog current_date current_default_transform_group
    current_lc_ctype current_path current_role
    current_row current_schema current_server current_time current_timestamp current_timezone
    current_transform_group_for_type current_user
    cursor cycle data database databases datapartitionname datapartitionnum date day day_hour
    day_microsecond day_minute day_second days
    db2general db2genrl db2sql dba dbcc dbinfo dbpartitionname dbpartitionnum deallocate dec
    decfloat decimal declare decode default
    defaults deferrable deferred define deflate defrag delayed delete delta delta32k dense_rank
    denserank deny deref desc describe
    descriptor detach deterministic dictionary directory disable disallow disconnect disk distinct
    distinctrow distributed distributekey
    distributekeys div do document domain double drop dssize dual dummy dump dynamic each editproc
    element else elseif empty empty_blob
    empty_clob enable enclosed encode encoding encrypt encryption end end-exec end_frame
    end_partition endexec ending enum equals erase
    errlvl error escape escaped every except exception exclude excluding exclusive exec execute
    exists exit exp explain explicit expression
    extend extended external extract fail false feature fenced fetch fieldproc file fillfactor
    filter final first first_value flashback
    float float4 float8 floor following for force foreign format frame_row free freespace freetext
    freetexttable freeze from fs full
    fulltext function functions fusion general generate generated get get_lock getdate glob global
    globaldict256 globaldict64k go goto grant
    graphic group grouping grouping_id groups gscluster gzip handler hash hashed_value having hex
    high_priority hint hold holdlock hour
    hour_microsecond hour_minute hour_second hours identified identity identity_insert identitycol
    if ifnull ignore ilike immediate implicit
    import in include including inclusive increment index indexed indicator indicators inf infile
    infinity inherit initial initially inline
    inner inoperative inout input_file_block_length input_file_block_start input_file_name
    insensitive insert instead int int1 int2 int3
    int4 int8 integer integrity intersect intersection intersects interval into invisible
    io_after_gtids io_before_gtids is isnull isobid
    isolation issue iterate jar java job join json json_array json_arrayagg json_exists json_object
    json_objectagg json_query json_table
    json_table_primitive json_value keep key keys kill label lag lambda language languages large
    last last_value lateral lc_ctype lead
    leading leave left level library like like_regex limit linear lineno lines linktype listagg ln
    load local localdate locale localtime
    localtimestamp locator locators lock lockmax locksize log log10 logical long longblob longtext
    loop low_priority lower luns lzo lzop
    macro maintained manual map master_bind master_ssl_verify_server_cert match match_number
    match_recognize matches materialized max
    maxextents maxvalue mediumblob mediumint mediumtext member merge method microsecond
    microseconds middleint min minus minute
    minute_microsecond minute_second minutes minvalue mixed mlslabel mod mode modifies module month
    months mostly13 mostly32 mostly8
    multiset namespace nan national natural nchar nclob new new_table next nextval no
    no_write_to_binlog noaudit nocache nocheck nocompress
    nocycle nodename nodenumber nomaxvalue nominvalue nonclustered none noorder normalize
    normalized not nothing notnull nowait nth_value
    ntile null nullif nulls number numeric numparts obid occurrences_regex octet_length of off
    offline offset offsets oid old old_table omit
    on one online only open opendatasource openquery openrowset openxml operator optimization
    optimize optimizer_costs option optionally or
    order ordinality organization out outer outfile output over overlaps overlay overriding package
    padded page_checksum pagesize parallel
    parameter parse_vcpu_limit part partition partitioned partitioning partitions password path
    pattern pctfree per percent percent_rank
    percentile_cont percentile_disc period permissions persistent pi piecesize pipe pivot
    pivot_longer pivot_wider placing plan portion
    position position_regex pow power pragma precedes preceding precision prepare prevval primary
    print prior priqty privileges proc
    procedure program proto psid public pump purge qualify quarter query queryno raise raiserror
    range rank raw read read_write reads
    readtext real rebuild recheck reconfigure recover recursive ref ref_system_id reference
    references referencing refresh regexp regr_avgx
    regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy reindex
    reject relation release rename reorganize
    repeat replace replication require reset resignal resource respect restart restore restrict
    result result_set_locator return returning
    returns revert revoke right rlike role rollback rollup round_ceiling round_down round_floor
    round_half_down round_half_even
    round_half_up round_up routine row row_number rowcount rowguidcol rowid rownum rownumber rows
    rowset rrn rule run running savepoint
    schema schemas scratchpad scroll search second second_microsecond seconds secqty security
    securityaudit seek select semanticdistance
    semantickeyphrasetable semanticsimilaritydetailstable semanticsimilaritytable semi sensitive
    separator sequence session session_user set
    setuser share show shutdown signal similar simple sin sinh size skip slow smallint snan
    snapshot some sort source spatial specific
    specifictype sql sql_big_result sql_calc_found_rows sql_small_result sqlexception sqlid
    sqlstate sqlwarning sqrt ssl stacked standard
    start starting statement static statistics stay stddev_pop stddev_samp stogroup stores
    straight_join struct style submultiset subset
    substring substring_regex succeeds successful sum summarize summary symmetric synonym sysdate
    sysfun sysibm sysproc system system_time
    system_user systimestamp table tables tablesample tablespace tag tan tanh tdes temp temporary
    terminated text255 text32k textsize then
    time timestamp timezone_hour timezone_minute tinyblob tinyint tinytext to top trailing tran
    transaction translate translate_regex
    translation treat trigger trim trim_array true truncate truncatecolumns try_cast try_convert
    tsequal type uescape uid unbounded undo
    union unique unknown unlock unnest unpivot unsigned until update updatetext upper usage use
    user using utc_date utc_time utc_timestamp
    vacuum validate validproc value value_of values var_pop var_samp varbinary varchar varchar2
    varcharacter variable variadic variant
    varying vcat verbose version versioning view views virtual volatile volumes waitfor wallet when
    whenever where while width_bucket window
    with within without wlm work write writetext xml xmlcast xmlexists xmlnamespaces xor year
    year_month years zerofill zone
    """.split()
)

#: Words that PostgreSQL reserves (``pg_get_keywords()`` categories R and T, PostgreSQL 15 to 18);
#: as a name they need quotes.
RESERVED_BY_POSTGRES = frozenset(
    """
    all analyse analyze and any array as asc asymmetric authorization binary both case cast
    check collate collation column concurrently constraint create cross current_catalog
    current_date current_role current_schema current_time current_timestamp current_user default
    deferrable desc distinct do else end except false fetch for foreign freeze from full grant
    group having ilike in initially inner intersect into is isnull join lateral leading left
    like limit localtime localtimestamp natural not notnull null offset on only or order outer
    overlaps placing primary references returning right select session_user similar some
    symmetric system_user table tablesample then to trailing true union unique user using
    variadic verbose when where window with
    """.split()
)
