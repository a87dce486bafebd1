/* The part of Db2's sqlcli1.h that the collector uses, for compiling it where there is no Db2. */
#ifndef SQLCLI1_H
#define SQLCLI1_H
#include <stdint.h>

typedef unsigned char SQLCHAR;
typedef short SQLSMALLINT;
typedef short SQLRETURN;
typedef int32_t SQLINTEGER;
typedef int32_t SQLHANDLE;

enum { SQL_SUCCESS = 0, SQL_SUCCESS_WITH_INFO = 1, SQL_ERROR = -1, SQL_NTS = -3, SQL_NULL_HANDLE = 0, SQL_HANDLE_ENV = 1, SQL_HANDLE_DBC = 2 };

SQLRETURN SQLAllocHandle(SQLSMALLINT kind, SQLHANDLE from, SQLHANDLE *made);
SQLRETURN SQLFreeHandle(SQLSMALLINT kind, SQLHANDLE handle);
SQLRETURN SQLConnect(SQLHANDLE connection, SQLCHAR *database, SQLSMALLINT size, SQLCHAR *user, SQLSMALLINT user_size, SQLCHAR *password,
                     SQLSMALLINT password_size);
SQLRETURN SQLDisconnect(SQLHANDLE connection);
SQLRETURN SQLSetConnection(SQLHANDLE connection);
SQLRETURN SQLGetDiagRec(SQLSMALLINT kind, SQLHANDLE handle, SQLSMALLINT number, SQLCHAR *state, SQLINTEGER *code, SQLCHAR *text,
                        SQLSMALLINT size, SQLSMALLINT *length);
#endif
