/* The part of Db2's db2ApiDf.h that the collector uses, for compiling it where there is no Db2; fields as in the documentation of db2ReadLog. */
#ifndef DB2APIDF_H
#define DB2APIDF_H
#include <stdint.h>
#include <sqlca.h>

typedef uint32_t db2Uint32;
typedef uint64_t db2Uint64;

typedef struct db2LRI { db2Uint64 lriType, part1, part2; } db2LRI;
typedef struct db2LSN { db2Uint64 lsnU64; } db2LSN;
typedef struct db2TimeOfLog { db2Uint32 seconds, accuracy; } db2TimeOfLog;

typedef struct db2ReadLogInfoStruct {
    db2LRI initialLRI, firstReadLRI, nextStartLRI, firstReusedLRI;
    db2Uint32 logRecsWritten, logBytesWritten, timeOfLRIReuse;
    db2TimeOfLog currentTimeValue;
    db2Uint32 futureUse1;
    db2LSN oldestInflightLSN;
} db2ReadLogInfoStruct;

typedef struct db2ReadLogStruct {
    db2Uint32 iCallerAction;
    db2LRI *piStartLRI, *piEndLRI;
    char *poLogBuffer;
    db2Uint32 iLogBufferSize, iFilterOption;
    db2ReadLogInfoStruct *poReadLogInfo;
    db2LRI *piMinRequiredLRI;
#ifdef START_TIME
    char *piStartTime;
#endif
} db2ReadLogStruct;

enum { db2Version1010 = 10010000, db2Version1158 = 11050800, DB2READLOG_READ = 1, DB2READLOG_QUERY = 3, DB2READLOG_FILTER_ON = 1 };

int db2ReadLog(db2Uint32 version, void *input, struct sqlca *sqlca);
#endif
