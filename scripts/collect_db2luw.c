/* Collects the log of a Db2 for Linux, UNIX and Windows database into a file that "logreplay --source db2luw --log FILE" reads.
 *
 *   cc -O2 -I"$DB2/include" -o collect_db2luw collect_db2luw.c -L"$DB2/lib64" -ldb2
 *   DB2USER=... DB2PASSWORD=... ./collect_db2luw DATABASE FILE [FROM]
 *
 * DB2 is the folder of a data server client or of an instance (sqllib); the API is not in the small CLI driver. Db2 10.1 or later. The database must
 * be recoverable (LOGARCHMETH1 not OFF), its tables be created or altered with DATA CAPTURE CHANGES before the changes, the user have SYSADM or
 * DBADM. Without DB2USER the operating system's user connects.
 *
 * FROM is where to begin, TYPE:PART1:PART2 as this program prints it at its end; without it, the first record since the database was activated.
 * Where client and server are 11.5.8 or later, it may be a time (UTC), YYYY-MM-DD-hh.mm.ss or with up to six digits of a second behind a point:
 *
 *   cc -DSTART_TIME -DREADLOG_VERSION=db2Version... ...
 *
 * with the constant that db2ApiDf.h has for that release. Units that begin before the time lack their beginning; logreplay names them.
 *
 * Reading ends where the log ended when it began. The file has a header of 16 bytes and then the buffers as db2ReadLog fills them: records
 * that can be propagated (DB2READLOG_FILTER_ON), each behind 56 bytes of framing. It appears under its name when it is complete.
 *
 * Exit code: 0 all read, 8 the API reported an error, 12 wrong use.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlcli1.h>
#include <sqlca.h>
#include <db2ApiDf.h>

enum { OK = 0, FAILED = 8, MISUSED = 12 };
enum { READ_TO_CURRENT = 2654, BUFFER_TOO_SMALL = -2652 };
enum { FIRST_BUFFER = 8 << 20, LARGEST_BUFFER = 1 << 30 };

/* Magic, byte order (1 big, 2 little), dialect (4: Db2 10.1 and later), framing (7: 56 bytes), reserved. */
static void write_header(FILE *out)
{
    const uint16_t one = 1;
    unsigned char header[16] = "DB2RLOG1";
    header[8] = *(const unsigned char *)&one ? 2 : 1;
    header[9] = 4;
    header[10] = 7;
    fwrite(header, sizeof header, 1, out);
}

static int fail(const char *doing, const struct sqlca *sqlca)
{
    fprintf(stderr, "collect_db2luw: %s: SQLCODE %ld, SQLSTATE %.5s, %.*s\n", doing, (long)sqlca->sqlcode, sqlca->sqlstate,
            (int)sqlca->sqlerrml, sqlca->sqlerrmc);
    return FAILED;
}

static int connect_to(const char *database, SQLHANDLE *environment, SQLHANDLE *connection)
{
    const char *user = getenv("DB2USER"), *password = getenv("DB2PASSWORD");
    SQLCHAR state[6] = "", text[512] = "";
    SQLINTEGER code = 0;
    SQLRETURN done;

    SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, environment);
    SQLAllocHandle(SQL_HANDLE_DBC, *environment, connection);
    done = SQLConnect(*connection, (SQLCHAR *)database, SQL_NTS, (SQLCHAR *)user, user ? SQL_NTS : 0, (SQLCHAR *)password,
                      password ? SQL_NTS : 0);
    if (done == SQL_SUCCESS || done == SQL_SUCCESS_WITH_INFO)
        done = SQLSetConnection(*connection); /* the API works on the current connection */
    if (done == SQL_SUCCESS || done == SQL_SUCCESS_WITH_INFO)
        return OK;
    SQLGetDiagRec(SQL_HANDLE_DBC, *connection, 1, state, &code, text, sizeof text, NULL);
    fprintf(stderr, "collect_db2luw: cannot connect to %s: SQLSTATE %s, %s\n", database, state, text);
    return FAILED;
}

/* The release whose structures are given to the API; db2ReadLogStruct has piStartTime since 11.5.8. */
#ifndef READLOG_VERSION
#define READLOG_VERSION db2Version1010
#endif

static int call(db2ReadLogStruct *input, struct sqlca *sqlca)
{
    memset(sqlca, 0, sizeof *sqlca);
    db2ReadLog(READLOG_VERSION, input, sqlca);
    return (int)sqlca->sqlcode;
}

/* Whether a word is a time as the API takes it, with digits of a second or without. */
static int is_time(const char *word)
{
    const char *picture = "0000-00-00-00.00.00.000000";
    size_t length = strlen(word), place;

    if (length != 19 && (length < 21 || length > strlen(picture)))
        return 0;
    for (place = 0; place < length; place++)
        if (picture[place] == '0' ? word[place] < '0' || word[place] > '9' : word[place] != picture[place])
            return 0;
    return 1;
}

/* Reads from `from` (NULL: the first record known), or from `time` on, to where the log ends now; `next` is where to go on another time. */
static int collect(FILE *out, const db2LRI *from, char *time, db2LRI *next, uint64_t *records)
{
    db2ReadLogInfoStruct info;
    db2ReadLogStruct input;
    struct sqlca sqlca;
    db2LRI start, end;
    size_t size = FIRST_BUFFER;
    char *buffer = NULL;
    int code;

    memset(&input, 0, sizeof input);
    memset(&info, 0, sizeof info);
    input.iCallerAction = DB2READLOG_QUERY;
    input.iFilterOption = DB2READLOG_FILTER_ON;
    input.poReadLogInfo = &info;
    if (call(&input, &sqlca) < 0)
        return fail("asking for the state of the log", &sqlca);
    start = from ? *from : info.initialLRI;
    end = info.nextStartLRI;
    *next = start;
    input.iCallerAction = DB2READLOG_READ;
    input.piStartLRI = &start;
    input.piEndLRI = &end;
    input.piMinRequiredLRI = &start;
#ifdef START_TIME
    input.piStartTime = time;
#else
    (void)time; /* refused before */
#endif
    for (;;) {
        if (buffer == NULL && (buffer = malloc(size)) == NULL) {
            fprintf(stderr, "collect_db2luw: no memory for a buffer of %zu bytes\n", size);
            return FAILED;
        }
        input.poLogBuffer = buffer;
        input.iLogBufferSize = (db2Uint32)size;
        info.logBytesWritten = info.logRecsWritten = 0;
        code = call(&input, &sqlca);
        if (code == BUFFER_TOO_SMALL && size < LARGEST_BUFFER) {
            free(buffer);
            buffer = NULL;
            size *= 2;
            continue;
        }
        if (code < 0)
            break;
        if (info.logBytesWritten && fwrite(buffer, info.logBytesWritten, 1, out) != 1) {
            fprintf(stderr, "collect_db2luw: cannot write: %s\n", strerror(errno));
            free(buffer);
            return FAILED;
        }
        *records += info.logRecsWritten;
        if (info.logRecsWritten) {
            *next = start = info.nextStartLRI;
#ifdef START_TIME
            input.piStartTime = NULL; /* from here on by position */
#endif
        }
        if (code == READ_TO_CURRENT || !info.logRecsWritten)
            break;
    }
    free(buffer);
    return code < 0 ? fail("reading the log", &sqlca) : OK;
}

static int to_file(const char *path, const db2LRI *from, char *time)
{
    char partial[4096];
    uint64_t records = 0;
    db2LRI next;
    FILE *out;
    int code;

    if ((size_t)snprintf(partial, sizeof partial, "%s.part", path) >= sizeof partial || (out = fopen(partial, "wb")) == NULL) {
        fprintf(stderr, "collect_db2luw: cannot write %s.part: %s\n", path, strerror(errno));
        return MISUSED;
    }
    write_header(out);
    code = collect(out, from, time, &next, &records);
    if (fclose(out) != 0 && code == OK) {
        fprintf(stderr, "collect_db2luw: cannot write %s: %s\n", partial, strerror(errno));
        code = FAILED;
    }
    if (code == OK && rename(partial, path) != 0) {
        fprintf(stderr, "collect_db2luw: cannot rename %s to %s: %s\n", partial, path, strerror(errno));
        code = FAILED;
    }
    if (code == OK)
        printf("%" PRIu64 " records in %s; go on from %" PRIu64 ":%" PRIu64 ":%" PRIu64 "\n", records, path, (uint64_t)next.lriType,
               (uint64_t)next.part1, (uint64_t)next.part2);
    else
        remove(partial);
    return code;
}

int main(int count, char **words)
{
    SQLHANDLE environment, connection;
    uint64_t type, part1, part2;
    db2LRI from;
    int code, end = 0;
    char *time = NULL;

    if (count < 3 || count > 4) {
        fprintf(stderr, "usage: collect_db2luw DATABASE FILE [TYPE:PART1:PART2 | YYYY-MM-DD-hh.mm.ss]\n");
        return MISUSED;
    }
    if (count == 4 && is_time(words[3])) {
        time = words[3];
#ifndef START_TIME
        fprintf(stderr, "collect_db2luw: found the time %s; expected TYPE:PART1:PART2, for this program was compiled without START_TIME,"
                        " which needs a client of Db2 11.5.8\n", time);
        return MISUSED;
#endif
    } else if (count == 4) {
        if (sscanf(words[3], "%" SCNu64 ":%" SCNu64 ":%" SCNu64 "%n", &type, &part1, &part2, &end) != 3 || words[3][end]) {
            fprintf(stderr, "collect_db2luw: found %s; expected TYPE:PART1:PART2 as printed by an earlier run, or a time\n", words[3]);
            return MISUSED;
        }
        from.lriType = type;
        from.part1 = part1;
        from.part2 = part2;
    }
    code = connect_to(words[1], &environment, &connection);
    if (code == OK) {
        code = to_file(words[2], count == 4 && time == NULL ? &from : NULL, time);
        SQLDisconnect(connection);
    }
    SQLFreeHandle(SQL_HANDLE_DBC, connection);
    SQLFreeHandle(SQL_HANDLE_ENV, environment);
    return code;
}
