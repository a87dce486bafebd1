/* The part of Db2's sqlca.h that the collector uses, for compiling it where there is no Db2. */
#ifndef SQLCA_H
#define SQLCA_H
#include <stdint.h>

struct sqlca {
    char sqlcaid[8];
    int32_t sqlcabc;
    int32_t sqlcode;
    short sqlerrml;
    char sqlerrmc[70];
    char sqlerrp[8];
    int32_t sqlerrd[6];
    char sqlwarn[11];
    char sqlstate[5];
};
#endif
