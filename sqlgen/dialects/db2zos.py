"""Db2 for z/OS 12 and later ones, for scripts that programs of z/OS run (:mod:`sqlgen.clients`).

What stands outside literals has the same code in every EBCDIC code page: CONCAT, no vertical bars
(https://www.ibm.com/docs/SSEPEK_12.0.0/sqlref/src/tpc/db2z_withconcatoperator.html). A binary
string cannot be compared with FOR BIT DATA, which takes a character constant in hexadecimal digits
(https://ibm.com/docs/SSEPEK_13.0.0/sqlref/src/tpc/db2z_stringcomparisionsintro.html). CHR takes the
number of the character in ASCII
(https://www.ibm.com/docs/en/SSEPEK_12.0.0/sqlref/src/tpc/db2z_bif_asciichr.html).
"""

from __future__ import annotations

from dataclasses import replace

from sqlgen.dialects import Exact, Form, TextForm
from sqlgen.dialects.db2 import PROFILE as DB2
from sqlgen.schema import SqlType

PROFILE = replace(
    DB2,
    name="db2zos",
    client="DSNTEP2",
    clients=("dsntep2", "dsntep4", "spufi", "dsntiad"),
    text=TextForm(joiner=" CONCAT ", most_bytes=32704),
    bit_data=Form("X'", "'"),
    exact={SqlType.VARCHAR: Exact("", " CONCAT '.'", " CONCAT '.'")},
    row_check=None,
    quirks=("Schemas are not made: they come to be with their first table.",),
)
