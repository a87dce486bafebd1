/* Stands in for a Db2 client: serves the records (56 bytes of framing before each) of the file that DB2_RECORDS names, DB2_AT_ONCE in a call.
 * A position is 1:0:OFFSET. The time DB2_TIME is at the offset DB2_TIME_AT. DB2_FAIL_AT is the offset at which reading fails. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sqlcli1.h>
#include <db2ApiDf.h>

#ifdef START_TIME
enum { FRAMING = 56, RELEASE = db2Version1158 };
#else
enum { FRAMING = 56, RELEASE = db2Version1010 };
#endif

SQLRETURN SQLAllocHandle(SQLSMALLINT kind, SQLHANDLE from, SQLHANDLE *made) { return *made = kind + from, SQL_SUCCESS; }
SQLRETURN SQLFreeHandle(SQLSMALLINT kind, SQLHANDLE handle) { return kind && handle ? SQL_SUCCESS : SQL_ERROR; }
SQLRETURN SQLDisconnect(SQLHANDLE connection) { return connection ? SQL_SUCCESS : SQL_ERROR; }
SQLRETURN SQLSetConnection(SQLHANDLE connection) { return connection ? SQL_SUCCESS : SQL_ERROR; }

SQLRETURN SQLConnect(SQLHANDLE connection, SQLCHAR *database, SQLSMALLINT size, SQLCHAR *user, SQLSMALLINT user_size, SQLCHAR *password,
                     SQLSMALLINT password_size)
{
    int known = user && user_size == SQL_NTS && !strcmp((char *)user, "reader") && password && password_size == SQL_NTS;
    return connection && size == SQL_NTS && !strcmp((char *)database, "SAMPLE") && known ? SQL_SUCCESS : SQL_ERROR;
}

SQLRETURN SQLGetDiagRec(SQLSMALLINT kind, SQLHANDLE handle, SQLSMALLINT number, SQLCHAR *state, SQLINTEGER *code, SQLCHAR *text,
                        SQLSMALLINT size, SQLSMALLINT *length)
{
    memcpy(state, "08001", 6);
    *code = -30082;
    snprintf((char *)text, (size_t)size, "not permitted (kind %d, handle %d, record %d)", kind, (int)handle, number);
    return length ? SQL_ERROR : SQL_SUCCESS;
}

static db2LRI at(long offset)
{
    db2LRI place = {1, 0, (db2Uint64)offset};
    return place;
}

int db2ReadLog(db2Uint32 version, void *given, struct sqlca *sqlca)
{
    db2ReadLogStruct *input = given;
    db2ReadLogInfoStruct *info = input->poReadLogInfo;
    const char *fails = getenv("DB2_FAIL_AT");
    FILE *file = fopen(getenv("DB2_RECORDS"), "rb");
    long end, offset, used = 0;
    int left = atoi(getenv("DB2_AT_ONCE"));
    uint32_t length;

    fseek(file, 0, SEEK_END);
    end = ftell(file);
    sqlca->sqlcode = version == RELEASE && input->iFilterOption == DB2READLOG_FILTER_ON ? 0 : -2650;
    if (input->iCallerAction == DB2READLOG_QUERY) {
        info->initialLRI = at(0);
        info->nextStartLRI = at(end);
        fclose(file);
        return 0;
    }
    offset = (long)input->piStartLRI->part2;
#ifdef START_TIME
    if (input->piStartTime && strcmp(input->piStartTime, getenv("DB2_TIME"))) {
        sqlca->sqlcode = -2650;
        fclose(file);
        return 0;
    }
    if (input->piStartTime)
        offset = atol(getenv("DB2_TIME_AT"));
#endif
    for (; left-- && offset < (long)input->piEndLRI->part2; offset += FRAMING + (long)length) {
        fseek(file, offset + FRAMING, SEEK_SET);
        if (fread(&length, sizeof length, 1, file) != 1 || (fails && offset >= atol(fails))) {
            sqlca->sqlcode = -2651;
            memcpy(sqlca->sqlstate, "57019", 5);
            sqlca->sqlerrml = (short)sprintf(sqlca->sqlerrmc, "no log");
            break;
        }
        if (used + FRAMING + (long)length > (long)input->iLogBufferSize)
            break;
        fseek(file, offset, SEEK_SET);
        used += (long)fread(input->poLogBuffer + used, 1, FRAMING + length, file);
        info->logRecsWritten++;
    }
    info->logBytesWritten = (db2Uint32)used;
    info->nextStartLRI = at(offset);
    if (!sqlca->sqlcode)
        sqlca->sqlcode = offset >= end ? 2654 : info->logRecsWritten ? 0 : -2652;
    fclose(file);
    return 0;
}
