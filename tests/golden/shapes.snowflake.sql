-- logreplay redo script for snowflake. Stop at the first error, for example: snowsql -o exit_on_error=true -o variable_substitution=false -f this-file
ALTER SESSION SET TIMESTAMP_INPUT_FORMAT = 'AUTO', DATE_INPUT_FORMAT = 'AUTO', TIME_INPUT_FORMAT = 'AUTO';
-- unit URID=00AB authid=A\u000A\u202EB plan=
-- key: insert, --names lower
INSERT INTO SHOP."ORDER" (ID, "USER", STATE, AMOUNT, RATE) VALUES (1, 'tab' || CHR(9) || 'back' || CHR(92), 'NEW', -2.50, CAST('0.1' AS DOUBLE));
INSERT INTO SHOP."ORDER" (ID, "USER", STATE, AMOUNT, RATE) VALUES (9, '', '', 0.01, CAST('NaN' AS DOUBLE));
INSERT INTO SHOP."ORDER" (ID, "USER", STATE, AMOUNT, RATE) VALUES (3, 'a', 'OLD', 0.00, CAST('inf' AS DOUBLE));
-- its inverse: delete
DELETE FROM SHOP."ORDER" WHERE ID = 1;
DELETE FROM SHOP."ORDER" WHERE ID = 9;
DELETE FROM SHOP."ORDER" WHERE ID = 3;
-- key: update, --names lower, --where-columns key
UPDATE SHOP."ORDER" SET "USER" = 'tab' || CHR(9) || 'back' || CHR(92), AMOUNT = -2.50 WHERE ID = 1;
UPDATE SHOP."ORDER" SET ID = 9, "USER" = '', STATE = '', AMOUNT = 0.01, RATE = CAST('NaN' AS DOUBLE) WHERE ID = 2;
-- (nothing)
-- its inverse: update
UPDATE SHOP."ORDER" SET "USER" = 'o''neil', AMOUNT = 1.50 WHERE ID = 1;
UPDATE SHOP."ORDER" SET ID = 2, "USER" = NULL, STATE = NULL, AMOUNT = NULL, RATE = NULL WHERE ID = 9;
-- (nothing)
-- key: update, --names lower, --where-columns guard
UPDATE SHOP."ORDER" SET "USER" = 'tab' || CHR(9) || 'back' || CHR(92), AMOUNT = -2.50 WHERE ID = 1 AND "USER" = 'o''neil' AND AMOUNT = 1.50;
UPDATE SHOP."ORDER" SET ID = 9, "USER" = '', STATE = '', AMOUNT = 0.01, RATE = CAST('NaN' AS DOUBLE) WHERE ID = 2 AND "USER" IS NULL AND STATE IS NULL AND AMOUNT IS NULL AND RATE IS NULL;
-- (nothing)
-- its inverse: update
UPDATE SHOP."ORDER" SET "USER" = 'o''neil', AMOUNT = 1.50 WHERE ID = 1 AND "USER" = 'tab' || CHR(9) || 'back' || CHR(92) AND AMOUNT = -2.50;
UPDATE SHOP."ORDER" SET ID = 2, "USER" = NULL, STATE = NULL, AMOUNT = NULL, RATE = NULL WHERE ID = 9 AND "USER" = '' AND STATE = '' AND AMOUNT = 0.01 AND RATE BETWEEN CAST('NaN' AS DOUBLE) AND CAST('NaN' AS DOUBLE);
-- (nothing)
-- key: update, --names lower, --where-columns all
UPDATE SHOP."ORDER" SET "USER" = 'tab' || CHR(9) || 'back' || CHR(92), AMOUNT = -2.50 WHERE ID = 1 AND "USER" = 'o''neil' AND STATE = 'NEW' AND AMOUNT = 1.50 AND RATE BETWEEN CAST('0.09999999999999995' AS DOUBLE) AND CAST('0.10000000000000006' AS DOUBLE);
UPDATE SHOP."ORDER" SET ID = 9, "USER" = '', STATE = '', AMOUNT = 0.01, RATE = CAST('NaN' AS DOUBLE) WHERE ID = 2 AND "USER" IS NULL AND STATE IS NULL AND AMOUNT IS NULL AND RATE IS NULL;
-- (nothing)
-- its inverse: update
UPDATE SHOP."ORDER" SET "USER" = 'o''neil', AMOUNT = 1.50 WHERE ID = 1 AND "USER" = 'tab' || CHR(9) || 'back' || CHR(92) AND STATE = 'NEW' AND AMOUNT = -2.50 AND RATE BETWEEN CAST('0.09999999999999995' AS DOUBLE) AND CAST('0.10000000000000006' AS DOUBLE);
UPDATE SHOP."ORDER" SET ID = 2, "USER" = NULL, STATE = NULL, AMOUNT = NULL, RATE = NULL WHERE ID = 9 AND "USER" = '' AND STATE = '' AND AMOUNT = 0.01 AND RATE BETWEEN CAST('NaN' AS DOUBLE) AND CAST('NaN' AS DOUBLE);
-- (nothing)
-- key: delete, --names lower, --where-columns key
DELETE FROM SHOP."ORDER" WHERE ID = 1;
DELETE FROM SHOP."ORDER" WHERE ID = 2;
DELETE FROM SHOP."ORDER" WHERE ID = 3;
-- its inverse: insert
INSERT INTO SHOP."ORDER" (ID, "USER", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
INSERT INTO SHOP."ORDER" (ID, "USER", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
INSERT INTO SHOP."ORDER" (ID, "USER", STATE, AMOUNT, RATE) VALUES (3, 'a', 'OLD', 0.00, CAST('inf' AS DOUBLE));
-- key: delete, --names lower, --where-columns guard
DELETE FROM SHOP."ORDER" WHERE ID = 1 AND "USER" = 'o''neil' AND STATE = 'NEW' AND AMOUNT = 1.50 AND RATE BETWEEN CAST('0.09999999999999995' AS DOUBLE) AND CAST('0.10000000000000006' AS DOUBLE);
DELETE FROM SHOP."ORDER" WHERE ID = 2 AND "USER" IS NULL AND STATE IS NULL AND AMOUNT IS NULL AND RATE IS NULL;
DELETE FROM SHOP."ORDER" WHERE ID = 3 AND "USER" = 'a' AND STATE = 'OLD' AND AMOUNT = 0.00 AND RATE BETWEEN CAST('1.7976931348623151e+308' AS DOUBLE) AND CAST('inf' AS DOUBLE);
-- its inverse: insert
INSERT INTO SHOP."ORDER" (ID, "USER", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
INSERT INTO SHOP."ORDER" (ID, "USER", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
INSERT INTO SHOP."ORDER" (ID, "USER", STATE, AMOUNT, RATE) VALUES (3, 'a', 'OLD', 0.00, CAST('inf' AS DOUBLE));
-- key: delete, --names lower, --where-columns all
DELETE FROM SHOP."ORDER" WHERE ID = 1 AND "USER" = 'o''neil' AND STATE = 'NEW' AND AMOUNT = 1.50 AND RATE BETWEEN CAST('0.09999999999999995' AS DOUBLE) AND CAST('0.10000000000000006' AS DOUBLE);
DELETE FROM SHOP."ORDER" WHERE ID = 2 AND "USER" IS NULL AND STATE IS NULL AND AMOUNT IS NULL AND RATE IS NULL;
DELETE FROM SHOP."ORDER" WHERE ID = 3 AND "USER" = 'a' AND STATE = 'OLD' AND AMOUNT = 0.00 AND RATE BETWEEN CAST('1.7976931348623151e+308' AS DOUBLE) AND CAST('inf' AS DOUBLE);
-- its inverse: insert
INSERT INTO SHOP."ORDER" (ID, "USER", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
INSERT INTO SHOP."ORDER" (ID, "USER", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
INSERT INTO SHOP."ORDER" (ID, "USER", STATE, AMOUNT, RATE) VALUES (3, 'a', 'OLD', 0.00, CAST('inf' AS DOUBLE));
-- key: insert, --names exact
INSERT INTO SHOP."ORDER" (ID, "User", STATE, AMOUNT, RATE) VALUES (1, 'tab' || CHR(9) || 'back' || CHR(92), 'NEW', -2.50, CAST('0.1' AS DOUBLE));
INSERT INTO SHOP."ORDER" (ID, "User", STATE, AMOUNT, RATE) VALUES (9, '', '', 0.01, CAST('NaN' AS DOUBLE));
INSERT INTO SHOP."ORDER" (ID, "User", STATE, AMOUNT, RATE) VALUES (3, 'a', 'OLD', 0.00, CAST('inf' AS DOUBLE));
-- its inverse: delete
DELETE FROM SHOP."ORDER" WHERE ID = 1;
DELETE FROM SHOP."ORDER" WHERE ID = 9;
DELETE FROM SHOP."ORDER" WHERE ID = 3;
-- key: update, --names exact, --where-columns key
UPDATE SHOP."ORDER" SET "User" = 'tab' || CHR(9) || 'back' || CHR(92), AMOUNT = -2.50 WHERE ID = 1;
UPDATE SHOP."ORDER" SET ID = 9, "User" = '', STATE = '', AMOUNT = 0.01, RATE = CAST('NaN' AS DOUBLE) WHERE ID = 2;
-- (nothing)
-- its inverse: update
UPDATE SHOP."ORDER" SET "User" = 'o''neil', AMOUNT = 1.50 WHERE ID = 1;
UPDATE SHOP."ORDER" SET ID = 2, "User" = NULL, STATE = NULL, AMOUNT = NULL, RATE = NULL WHERE ID = 9;
-- (nothing)
-- key: update, --names exact, --where-columns guard
UPDATE SHOP."ORDER" SET "User" = 'tab' || CHR(9) || 'back' || CHR(92), AMOUNT = -2.50 WHERE ID = 1 AND "User" = 'o''neil' AND AMOUNT = 1.50;
UPDATE SHOP."ORDER" SET ID = 9, "User" = '', STATE = '', AMOUNT = 0.01, RATE = CAST('NaN' AS DOUBLE) WHERE ID = 2 AND "User" IS NULL AND STATE IS NULL AND AMOUNT IS NULL AND RATE IS NULL;
-- (nothing)
-- its inverse: update
UPDATE SHOP."ORDER" SET "User" = 'o''neil', AMOUNT = 1.50 WHERE ID = 1 AND "User" = 'tab' || CHR(9) || 'back' || CHR(92) AND AMOUNT = -2.50;
UPDATE SHOP."ORDER" SET ID = 2, "User" = NULL, STATE = NULL, AMOUNT = NULL, RATE = NULL WHERE ID = 9 AND "User" = '' AND STATE = '' AND AMOUNT = 0.01 AND RATE BETWEEN CAST('NaN' AS DOUBLE) AND CAST('NaN' AS DOUBLE);
-- (nothing)
-- key: update, --names exact, --where-columns all
UPDATE SHOP."ORDER" SET "User" = 'tab' || CHR(9) || 'back' || CHR(92), AMOUNT = -2.50 WHERE ID = 1 AND "User" = 'o''neil' AND STATE = 'NEW' AND AMOUNT = 1.50 AND RATE BETWEEN CAST('0.09999999999999995' AS DOUBLE) AND CAST('0.10000000000000006' AS DOUBLE);
UPDATE SHOP."ORDER" SET ID = 9, "User" = '', STATE = '', AMOUNT = 0.01, RATE = CAST('NaN' AS DOUBLE) WHERE ID = 2 AND "User" IS NULL AND STATE IS NULL AND AMOUNT IS NULL AND RATE IS NULL;
-- (nothing)
-- its inverse: update
UPDATE SHOP."ORDER" SET "User" = 'o''neil', AMOUNT = 1.50 WHERE ID = 1 AND "User" = 'tab' || CHR(9) || 'back' || CHR(92) AND STATE = 'NEW' AND AMOUNT = -2.50 AND RATE BETWEEN CAST('0.09999999999999995' AS DOUBLE) AND CAST('0.10000000000000006' AS DOUBLE);
UPDATE SHOP."ORDER" SET ID = 2, "User" = NULL, STATE = NULL, AMOUNT = NULL, RATE = NULL WHERE ID = 9 AND "User" = '' AND STATE = '' AND AMOUNT = 0.01 AND RATE BETWEEN CAST('NaN' AS DOUBLE) AND CAST('NaN' AS DOUBLE);
-- (nothing)
-- key: delete, --names exact, --where-columns key
DELETE FROM SHOP."ORDER" WHERE ID = 1;
DELETE FROM SHOP."ORDER" WHERE ID = 2;
DELETE FROM SHOP."ORDER" WHERE ID = 3;
-- its inverse: insert
INSERT INTO SHOP."ORDER" (ID, "User", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
INSERT INTO SHOP."ORDER" (ID, "User", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
INSERT INTO SHOP."ORDER" (ID, "User", STATE, AMOUNT, RATE) VALUES (3, 'a', 'OLD', 0.00, CAST('inf' AS DOUBLE));
-- key: delete, --names exact, --where-columns guard
DELETE FROM SHOP."ORDER" WHERE ID = 1 AND "User" = 'o''neil' AND STATE = 'NEW' AND AMOUNT = 1.50 AND RATE BETWEEN CAST('0.09999999999999995' AS DOUBLE) AND CAST('0.10000000000000006' AS DOUBLE);
DELETE FROM SHOP."ORDER" WHERE ID = 2 AND "User" IS NULL AND STATE IS NULL AND AMOUNT IS NULL AND RATE IS NULL;
DELETE FROM SHOP."ORDER" WHERE ID = 3 AND "User" = 'a' AND STATE = 'OLD' AND AMOUNT = 0.00 AND RATE BETWEEN CAST('1.7976931348623151e+308' AS DOUBLE) AND CAST('inf' AS DOUBLE);
-- its inverse: insert
INSERT INTO SHOP."ORDER" (ID, "User", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
INSERT INTO SHOP."ORDER" (ID, "User", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
INSERT INTO SHOP."ORDER" (ID, "User", STATE, AMOUNT, RATE) VALUES (3, 'a', 'OLD', 0.00, CAST('inf' AS DOUBLE));
-- key: delete, --names exact, --where-columns all
DELETE FROM SHOP."ORDER" WHERE ID = 1 AND "User" = 'o''neil' AND STATE = 'NEW' AND AMOUNT = 1.50 AND RATE BETWEEN CAST('0.09999999999999995' AS DOUBLE) AND CAST('0.10000000000000006' AS DOUBLE);
DELETE FROM SHOP."ORDER" WHERE ID = 2 AND "User" IS NULL AND STATE IS NULL AND AMOUNT IS NULL AND RATE IS NULL;
DELETE FROM SHOP."ORDER" WHERE ID = 3 AND "User" = 'a' AND STATE = 'OLD' AND AMOUNT = 0.00 AND RATE BETWEEN CAST('1.7976931348623151e+308' AS DOUBLE) AND CAST('inf' AS DOUBLE);
-- its inverse: insert
INSERT INTO SHOP."ORDER" (ID, "User", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
INSERT INTO SHOP."ORDER" (ID, "User", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
INSERT INTO SHOP."ORDER" (ID, "User", STATE, AMOUNT, RATE) VALUES (3, 'a', 'OLD', 0.00, CAST('inf' AS DOUBLE));
-- no key: insert, --names lower
INSERT INTO SHOP."ORDER#LOG" (ID, "USER", STATE, AMOUNT, RATE) VALUES (1, 'tab' || CHR(9) || 'back' || CHR(92), 'NEW', -2.50, CAST('0.1' AS DOUBLE));
INSERT INTO SHOP."ORDER#LOG" (ID, "USER", STATE, AMOUNT, RATE) VALUES (9, '', '', 0.01, CAST('NaN' AS DOUBLE));
INSERT INTO SHOP."ORDER#LOG" (ID, "USER", STATE, AMOUNT, RATE) VALUES (3, 'a', 'OLD', 0.00, CAST('inf' AS DOUBLE));
-- its inverse: delete
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- no key: update, --names lower, --where-columns key
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- its inverse: update
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- no key: update, --names lower, --where-columns guard
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- its inverse: update
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- no key: update, --names lower, --where-columns all
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- its inverse: update
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- no key: delete, --names lower, --where-columns key
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- its inverse: insert
INSERT INTO SHOP."ORDER#LOG" (ID, "USER", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
INSERT INTO SHOP."ORDER#LOG" (ID, "USER", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
INSERT INTO SHOP."ORDER#LOG" (ID, "USER", STATE, AMOUNT, RATE) VALUES (3, 'a', 'OLD', 0.00, CAST('inf' AS DOUBLE));
-- no key: delete, --names lower, --where-columns guard
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- its inverse: insert
INSERT INTO SHOP."ORDER#LOG" (ID, "USER", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
INSERT INTO SHOP."ORDER#LOG" (ID, "USER", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
INSERT INTO SHOP."ORDER#LOG" (ID, "USER", STATE, AMOUNT, RATE) VALUES (3, 'a', 'OLD', 0.00, CAST('inf' AS DOUBLE));
-- no key: delete, --names lower, --where-columns all
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- its inverse: insert
INSERT INTO SHOP."ORDER#LOG" (ID, "USER", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
INSERT INTO SHOP."ORDER#LOG" (ID, "USER", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
INSERT INTO SHOP."ORDER#LOG" (ID, "USER", STATE, AMOUNT, RATE) VALUES (3, 'a', 'OLD', 0.00, CAST('inf' AS DOUBLE));
-- no key: insert, --names exact
INSERT INTO SHOP."ORDER#LOG" (ID, "User", STATE, AMOUNT, RATE) VALUES (1, 'tab' || CHR(9) || 'back' || CHR(92), 'NEW', -2.50, CAST('0.1' AS DOUBLE));
INSERT INTO SHOP."ORDER#LOG" (ID, "User", STATE, AMOUNT, RATE) VALUES (9, '', '', 0.01, CAST('NaN' AS DOUBLE));
INSERT INTO SHOP."ORDER#LOG" (ID, "User", STATE, AMOUNT, RATE) VALUES (3, 'a', 'OLD', 0.00, CAST('inf' AS DOUBLE));
-- its inverse: delete
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- no key: update, --names exact, --where-columns key
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- its inverse: update
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- no key: update, --names exact, --where-columns guard
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- its inverse: update
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- no key: update, --names exact, --where-columns all
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- its inverse: update
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- no key: delete, --names exact, --where-columns key
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- its inverse: insert
INSERT INTO SHOP."ORDER#LOG" (ID, "User", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
INSERT INTO SHOP."ORDER#LOG" (ID, "User", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
INSERT INTO SHOP."ORDER#LOG" (ID, "User", STATE, AMOUNT, RATE) VALUES (3, 'a', 'OLD', 0.00, CAST('inf' AS DOUBLE));
-- no key: delete, --names exact, --where-columns guard
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- its inverse: insert
INSERT INTO SHOP."ORDER#LOG" (ID, "User", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
INSERT INTO SHOP."ORDER#LOG" (ID, "User", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
INSERT INTO SHOP."ORDER#LOG" (ID, "User", STATE, AMOUNT, RATE) VALUES (3, 'a', 'OLD', 0.00, CAST('inf' AS DOUBLE));
-- no key: delete, --names exact, --where-columns all
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: snowflake has no way to change one of several equal rows
-- its inverse: insert
INSERT INTO SHOP."ORDER#LOG" (ID, "User", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
INSERT INTO SHOP."ORDER#LOG" (ID, "User", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
INSERT INTO SHOP."ORDER#LOG" (ID, "User", STATE, AMOUNT, RATE) VALUES (3, 'a', 'OLD', 0.00, CAST('inf' AS DOUBLE));
-- key of a time and a float: insert, --names lower
INSERT INTO MEASURE ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.000009999999747378752' AS DOUBLE), CAST('9999-12-31' AS DATE), NULL, NULL, TO_BINARY('00ff', 'HEX'), NULL, 0);
-- its inverse: delete
DELETE FROM MEASURE WHERE "AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND SPAN = CAST('0.000009999999747378752' AS DOUBLE);
-- key of a time and a float: update, --names lower, --where-columns key
UPDATE MEASURE SET SPAN = CAST('0.000009999999747378752' AS DOUBLE), "DAY" = CAST('9999-12-31' AS DATE), CLOCK = NULL, ZONED = NULL, "RAW" = TO_BINARY('00ff', 'HEX'), "SMALL-1" = NULL, BIG = 0 WHERE "AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND SPAN = CAST('0.10000000149011612' AS DOUBLE);
-- its inverse: update
UPDATE MEASURE SET SPAN = CAST('0.10000000149011612' AS DOUBLE), "DAY" = CAST('0001-01-01' AS DATE), CLOCK = CAST('00:00:00' AS TIME), ZONED = CAST('2024-02-29 10:00:00.500000 +05:30' AS TIMESTAMP_TZ), "RAW" = TO_BINARY('', 'HEX'), "SMALL-1" = -1, BIG = 9223372036854775807 WHERE "AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND SPAN = CAST('0.000009999999747378752' AS DOUBLE);
-- key of a time and a float: update, --names lower, --where-columns guard
UPDATE MEASURE SET SPAN = CAST('0.000009999999747378752' AS DOUBLE), "DAY" = CAST('9999-12-31' AS DATE), CLOCK = NULL, ZONED = NULL, "RAW" = TO_BINARY('00ff', 'HEX'), "SMALL-1" = NULL, BIG = 0 WHERE "AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND SPAN = CAST('0.10000000149011612' AS DOUBLE) AND "DAY" = CAST('0001-01-01' AS DATE) AND CLOCK = CAST('00:00:00' AS TIME) AND ZONED = CAST('2024-02-29 10:00:00.500000 +05:30' AS TIMESTAMP_TZ) AND "RAW" = TO_BINARY('', 'HEX') AND "SMALL-1" = -1 AND BIG = 9223372036854775807;
-- its inverse: update
UPDATE MEASURE SET SPAN = CAST('0.10000000149011612' AS DOUBLE), "DAY" = CAST('0001-01-01' AS DATE), CLOCK = CAST('00:00:00' AS TIME), ZONED = CAST('2024-02-29 10:00:00.500000 +05:30' AS TIMESTAMP_TZ), "RAW" = TO_BINARY('', 'HEX'), "SMALL-1" = -1, BIG = 9223372036854775807 WHERE "AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND SPAN = CAST('0.000009999999747378752' AS DOUBLE) AND "DAY" = CAST('9999-12-31' AS DATE) AND CLOCK IS NULL AND ZONED IS NULL AND "RAW" = TO_BINARY('00ff', 'HEX') AND "SMALL-1" IS NULL AND BIG = 0;
-- key of a time and a float: update, --names lower, --where-columns all
UPDATE MEASURE SET SPAN = CAST('0.000009999999747378752' AS DOUBLE), "DAY" = CAST('9999-12-31' AS DATE), CLOCK = NULL, ZONED = NULL, "RAW" = TO_BINARY('00ff', 'HEX'), "SMALL-1" = NULL, BIG = 0 WHERE "AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND SPAN = CAST('0.10000000149011612' AS DOUBLE) AND "DAY" = CAST('0001-01-01' AS DATE) AND CLOCK = CAST('00:00:00' AS TIME) AND ZONED = CAST('2024-02-29 10:00:00.500000 +05:30' AS TIMESTAMP_TZ) AND "RAW" = TO_BINARY('', 'HEX') AND "SMALL-1" = -1 AND BIG = 9223372036854775807;
-- its inverse: update
UPDATE MEASURE SET SPAN = CAST('0.10000000149011612' AS DOUBLE), "DAY" = CAST('0001-01-01' AS DATE), CLOCK = CAST('00:00:00' AS TIME), ZONED = CAST('2024-02-29 10:00:00.500000 +05:30' AS TIMESTAMP_TZ), "RAW" = TO_BINARY('', 'HEX'), "SMALL-1" = -1, BIG = 9223372036854775807 WHERE "AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND SPAN = CAST('0.000009999999747378752' AS DOUBLE) AND "DAY" = CAST('9999-12-31' AS DATE) AND CLOCK IS NULL AND ZONED IS NULL AND "RAW" = TO_BINARY('00ff', 'HEX') AND "SMALL-1" IS NULL AND BIG = 0;
-- key of a time and a float: delete, --names lower, --where-columns key
DELETE FROM MEASURE WHERE "AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND SPAN = CAST('0.10000000149011612' AS DOUBLE);
-- its inverse: insert
INSERT INTO MEASURE ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.10000000149011612' AS DOUBLE), CAST('0001-01-01' AS DATE), CAST('00:00:00' AS TIME), CAST('2024-02-29 10:00:00.500000 +05:30' AS TIMESTAMP_TZ), TO_BINARY('', 'HEX'), -1, 9223372036854775807);
-- key of a time and a float: delete, --names lower, --where-columns guard
DELETE FROM MEASURE WHERE "AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND SPAN = CAST('0.10000000149011612' AS DOUBLE) AND "DAY" = CAST('0001-01-01' AS DATE) AND CLOCK = CAST('00:00:00' AS TIME) AND ZONED = CAST('2024-02-29 10:00:00.500000 +05:30' AS TIMESTAMP_TZ) AND "RAW" = TO_BINARY('', 'HEX') AND "SMALL-1" = -1 AND BIG = 9223372036854775807;
-- its inverse: insert
INSERT INTO MEASURE ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.10000000149011612' AS DOUBLE), CAST('0001-01-01' AS DATE), CAST('00:00:00' AS TIME), CAST('2024-02-29 10:00:00.500000 +05:30' AS TIMESTAMP_TZ), TO_BINARY('', 'HEX'), -1, 9223372036854775807);
-- key of a time and a float: delete, --names lower, --where-columns all
DELETE FROM MEASURE WHERE "AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND SPAN = CAST('0.10000000149011612' AS DOUBLE) AND "DAY" = CAST('0001-01-01' AS DATE) AND CLOCK = CAST('00:00:00' AS TIME) AND ZONED = CAST('2024-02-29 10:00:00.500000 +05:30' AS TIMESTAMP_TZ) AND "RAW" = TO_BINARY('', 'HEX') AND "SMALL-1" = -1 AND BIG = 9223372036854775807;
-- its inverse: insert
INSERT INTO MEASURE ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.10000000149011612' AS DOUBLE), CAST('0001-01-01' AS DATE), CAST('00:00:00' AS TIME), CAST('2024-02-29 10:00:00.500000 +05:30' AS TIMESTAMP_TZ), TO_BINARY('', 'HEX'), -1, 9223372036854775807);
-- key of a time and a float: insert, --names exact
INSERT INTO MEASURE ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.000009999999747378752' AS DOUBLE), CAST('9999-12-31' AS DATE), NULL, NULL, TO_BINARY('00ff', 'HEX'), NULL, 0);
-- its inverse: delete
DELETE FROM MEASURE WHERE "AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND SPAN = CAST('0.000009999999747378752' AS DOUBLE);
-- key of a time and a float: update, --names exact, --where-columns key
UPDATE MEASURE SET SPAN = CAST('0.000009999999747378752' AS DOUBLE), "DAY" = CAST('9999-12-31' AS DATE), CLOCK = NULL, ZONED = NULL, "RAW" = TO_BINARY('00ff', 'HEX'), "SMALL-1" = NULL, BIG = 0 WHERE "AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND SPAN = CAST('0.10000000149011612' AS DOUBLE);
-- its inverse: update
UPDATE MEASURE SET SPAN = CAST('0.10000000149011612' AS DOUBLE), "DAY" = CAST('0001-01-01' AS DATE), CLOCK = CAST('00:00:00' AS TIME), ZONED = CAST('2024-02-29 10:00:00.500000 +05:30' AS TIMESTAMP_TZ), "RAW" = TO_BINARY('', 'HEX'), "SMALL-1" = -1, BIG = 9223372036854775807 WHERE "AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND SPAN = CAST('0.000009999999747378752' AS DOUBLE);
-- key of a time and a float: update, --names exact, --where-columns guard
UPDATE MEASURE SET SPAN = CAST('0.000009999999747378752' AS DOUBLE), "DAY" = CAST('9999-12-31' AS DATE), CLOCK = NULL, ZONED = NULL, "RAW" = TO_BINARY('00ff', 'HEX'), "SMALL-1" = NULL, BIG = 0 WHERE "AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND SPAN = CAST('0.10000000149011612' AS DOUBLE) AND "DAY" = CAST('0001-01-01' AS DATE) AND CLOCK = CAST('00:00:00' AS TIME) AND ZONED = CAST('2024-02-29 10:00:00.500000 +05:30' AS TIMESTAMP_TZ) AND "RAW" = TO_BINARY('', 'HEX') AND "SMALL-1" = -1 AND BIG = 9223372036854775807;
-- its inverse: update
UPDATE MEASURE SET SPAN = CAST('0.10000000149011612' AS DOUBLE), "DAY" = CAST('0001-01-01' AS DATE), CLOCK = CAST('00:00:00' AS TIME), ZONED = CAST('2024-02-29 10:00:00.500000 +05:30' AS TIMESTAMP_TZ), "RAW" = TO_BINARY('', 'HEX'), "SMALL-1" = -1, BIG = 9223372036854775807 WHERE "AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND SPAN = CAST('0.000009999999747378752' AS DOUBLE) AND "DAY" = CAST('9999-12-31' AS DATE) AND CLOCK IS NULL AND ZONED IS NULL AND "RAW" = TO_BINARY('00ff', 'HEX') AND "SMALL-1" IS NULL AND BIG = 0;
-- key of a time and a float: update, --names exact, --where-columns all
UPDATE MEASURE SET SPAN = CAST('0.000009999999747378752' AS DOUBLE), "DAY" = CAST('9999-12-31' AS DATE), CLOCK = NULL, ZONED = NULL, "RAW" = TO_BINARY('00ff', 'HEX'), "SMALL-1" = NULL, BIG = 0 WHERE "AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND SPAN = CAST('0.10000000149011612' AS DOUBLE) AND "DAY" = CAST('0001-01-01' AS DATE) AND CLOCK = CAST('00:00:00' AS TIME) AND ZONED = CAST('2024-02-29 10:00:00.500000 +05:30' AS TIMESTAMP_TZ) AND "RAW" = TO_BINARY('', 'HEX') AND "SMALL-1" = -1 AND BIG = 9223372036854775807;
-- its inverse: update
UPDATE MEASURE SET SPAN = CAST('0.10000000149011612' AS DOUBLE), "DAY" = CAST('0001-01-01' AS DATE), CLOCK = CAST('00:00:00' AS TIME), ZONED = CAST('2024-02-29 10:00:00.500000 +05:30' AS TIMESTAMP_TZ), "RAW" = TO_BINARY('', 'HEX'), "SMALL-1" = -1, BIG = 9223372036854775807 WHERE "AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND SPAN = CAST('0.000009999999747378752' AS DOUBLE) AND "DAY" = CAST('9999-12-31' AS DATE) AND CLOCK IS NULL AND ZONED IS NULL AND "RAW" = TO_BINARY('00ff', 'HEX') AND "SMALL-1" IS NULL AND BIG = 0;
-- key of a time and a float: delete, --names exact, --where-columns key
DELETE FROM MEASURE WHERE "AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND SPAN = CAST('0.10000000149011612' AS DOUBLE);
-- its inverse: insert
INSERT INTO MEASURE ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.10000000149011612' AS DOUBLE), CAST('0001-01-01' AS DATE), CAST('00:00:00' AS TIME), CAST('2024-02-29 10:00:00.500000 +05:30' AS TIMESTAMP_TZ), TO_BINARY('', 'HEX'), -1, 9223372036854775807);
-- key of a time and a float: delete, --names exact, --where-columns guard
DELETE FROM MEASURE WHERE "AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND SPAN = CAST('0.10000000149011612' AS DOUBLE) AND "DAY" = CAST('0001-01-01' AS DATE) AND CLOCK = CAST('00:00:00' AS TIME) AND ZONED = CAST('2024-02-29 10:00:00.500000 +05:30' AS TIMESTAMP_TZ) AND "RAW" = TO_BINARY('', 'HEX') AND "SMALL-1" = -1 AND BIG = 9223372036854775807;
-- its inverse: insert
INSERT INTO MEASURE ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.10000000149011612' AS DOUBLE), CAST('0001-01-01' AS DATE), CAST('00:00:00' AS TIME), CAST('2024-02-29 10:00:00.500000 +05:30' AS TIMESTAMP_TZ), TO_BINARY('', 'HEX'), -1, 9223372036854775807);
-- key of a time and a float: delete, --names exact, --where-columns all
DELETE FROM MEASURE WHERE "AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND SPAN = CAST('0.10000000149011612' AS DOUBLE) AND "DAY" = CAST('0001-01-01' AS DATE) AND CLOCK = CAST('00:00:00' AS TIME) AND ZONED = CAST('2024-02-29 10:00:00.500000 +05:30' AS TIMESTAMP_TZ) AND "RAW" = TO_BINARY('', 'HEX') AND "SMALL-1" = -1 AND BIG = 9223372036854775807;
-- its inverse: insert
INSERT INTO MEASURE ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.10000000149011612' AS DOUBLE), CAST('0001-01-01' AS DATE), CAST('00:00:00' AS TIME), CAST('2024-02-29 10:00:00.500000 +05:30' AS TIMESTAMP_TZ), TO_BINARY('', 'HEX'), -1, 9223372036854775807);
-- excluded columns, blanks of CHAR kept
INSERT INTO SHOP."ORDER" (ID, STATE, RATE) VALUES (1, 'NEW ', CAST('0.1' AS DOUBLE));
INSERT INTO SHOP."ORDER" (ID, STATE, RATE) VALUES (9, '', CAST('NaN' AS DOUBLE));
INSERT INTO SHOP."ORDER" (ID, STATE, RATE) VALUES (3, 'OLD ', CAST('inf' AS DOUBLE));
-- (nothing)
UPDATE SHOP."ORDER" SET ID = 9, STATE = '', RATE = CAST('NaN' AS DOUBLE) WHERE ID = 2;
-- (nothing)
DELETE FROM SHOP."ORDER" WHERE ID = 1;
DELETE FROM SHOP."ORDER" WHERE ID = 2;
DELETE FROM SHOP."ORDER" WHERE ID = 3;
-- whole tables
DELETE FROM SHOP."ORDER";
DELETE FROM SHOP."ORDER";
DELETE FROM SHOP."ORDER";
DELETE FROM SHOP."ORDER";
-- upsert, key: insert, --names lower
MERGE INTO SHOP."ORDER" AS t USING (SELECT 1 AS one) AS s ON (t.ID = 1) WHEN MATCHED THEN UPDATE SET "USER" = 'tab' || CHR(9) || 'back' || CHR(92), STATE = 'NEW', AMOUNT = -2.50, RATE = CAST('0.1' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (ID, "USER", STATE, AMOUNT, RATE) VALUES (1, 'tab' || CHR(9) || 'back' || CHR(92), 'NEW', -2.50, CAST('0.1' AS DOUBLE));
MERGE INTO SHOP."ORDER" AS t USING (SELECT 1 AS one) AS s ON (t.ID = 9) WHEN MATCHED THEN UPDATE SET "USER" = '', STATE = '', AMOUNT = 0.01, RATE = CAST('NaN' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (ID, "USER", STATE, AMOUNT, RATE) VALUES (9, '', '', 0.01, CAST('NaN' AS DOUBLE));
MERGE INTO SHOP."ORDER" AS t USING (SELECT 1 AS one) AS s ON (t.ID = 3) WHEN MATCHED THEN UPDATE SET "USER" = 'a', STATE = 'OLD', AMOUNT = 0.00, RATE = CAST('inf' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (ID, "USER", STATE, AMOUNT, RATE) VALUES (3, 'a', 'OLD', 0.00, CAST('inf' AS DOUBLE));
-- its inverse: delete
DELETE FROM SHOP."ORDER" WHERE ID = 1;
DELETE FROM SHOP."ORDER" WHERE ID = 9;
DELETE FROM SHOP."ORDER" WHERE ID = 3;
-- upsert, key: update, --names lower
MERGE INTO SHOP."ORDER" AS t USING (SELECT 1 AS one) AS s ON (t.ID = 1) WHEN MATCHED THEN UPDATE SET "USER" = 'tab' || CHR(9) || 'back' || CHR(92), STATE = 'NEW', AMOUNT = -2.50, RATE = CAST('0.1' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (ID, "USER", STATE, AMOUNT, RATE) VALUES (1, 'tab' || CHR(9) || 'back' || CHR(92), 'NEW', -2.50, CAST('0.1' AS DOUBLE));
DELETE FROM SHOP."ORDER" WHERE ID = 2;
MERGE INTO SHOP."ORDER" AS t USING (SELECT 1 AS one) AS s ON (t.ID = 9) WHEN MATCHED THEN UPDATE SET "USER" = '', STATE = '', AMOUNT = 0.01, RATE = CAST('NaN' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (ID, "USER", STATE, AMOUNT, RATE) VALUES (9, '', '', 0.01, CAST('NaN' AS DOUBLE));
-- (nothing)
-- its inverse: update
MERGE INTO SHOP."ORDER" AS t USING (SELECT 1 AS one) AS s ON (t.ID = 1) WHEN MATCHED THEN UPDATE SET "USER" = 'o''neil', STATE = 'NEW', AMOUNT = 1.50, RATE = CAST('0.1' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (ID, "USER", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
DELETE FROM SHOP."ORDER" WHERE ID = 9;
MERGE INTO SHOP."ORDER" AS t USING (SELECT 1 AS one) AS s ON (t.ID = 2) WHEN MATCHED THEN UPDATE SET "USER" = NULL, STATE = NULL, AMOUNT = NULL, RATE = NULL WHEN NOT MATCHED THEN INSERT (ID, "USER", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
-- (nothing)
-- upsert, key: delete, --names lower
DELETE FROM SHOP."ORDER" WHERE ID = 1;
DELETE FROM SHOP."ORDER" WHERE ID = 2;
DELETE FROM SHOP."ORDER" WHERE ID = 3;
-- its inverse: insert
MERGE INTO SHOP."ORDER" AS t USING (SELECT 1 AS one) AS s ON (t.ID = 1) WHEN MATCHED THEN UPDATE SET "USER" = 'o''neil', STATE = 'NEW', AMOUNT = 1.50, RATE = CAST('0.1' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (ID, "USER", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
MERGE INTO SHOP."ORDER" AS t USING (SELECT 1 AS one) AS s ON (t.ID = 2) WHEN MATCHED THEN UPDATE SET "USER" = NULL, STATE = NULL, AMOUNT = NULL, RATE = NULL WHEN NOT MATCHED THEN INSERT (ID, "USER", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
MERGE INTO SHOP."ORDER" AS t USING (SELECT 1 AS one) AS s ON (t.ID = 3) WHEN MATCHED THEN UPDATE SET "USER" = 'a', STATE = 'OLD', AMOUNT = 0.00, RATE = CAST('inf' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (ID, "USER", STATE, AMOUNT, RATE) VALUES (3, 'a', 'OLD', 0.00, CAST('inf' AS DOUBLE));
-- upsert, key: insert, --names exact
MERGE INTO SHOP."ORDER" AS t USING (SELECT 1 AS one) AS s ON (t.ID = 1) WHEN MATCHED THEN UPDATE SET "User" = 'tab' || CHR(9) || 'back' || CHR(92), STATE = 'NEW', AMOUNT = -2.50, RATE = CAST('0.1' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (ID, "User", STATE, AMOUNT, RATE) VALUES (1, 'tab' || CHR(9) || 'back' || CHR(92), 'NEW', -2.50, CAST('0.1' AS DOUBLE));
MERGE INTO SHOP."ORDER" AS t USING (SELECT 1 AS one) AS s ON (t.ID = 9) WHEN MATCHED THEN UPDATE SET "User" = '', STATE = '', AMOUNT = 0.01, RATE = CAST('NaN' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (ID, "User", STATE, AMOUNT, RATE) VALUES (9, '', '', 0.01, CAST('NaN' AS DOUBLE));
MERGE INTO SHOP."ORDER" AS t USING (SELECT 1 AS one) AS s ON (t.ID = 3) WHEN MATCHED THEN UPDATE SET "User" = 'a', STATE = 'OLD', AMOUNT = 0.00, RATE = CAST('inf' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (ID, "User", STATE, AMOUNT, RATE) VALUES (3, 'a', 'OLD', 0.00, CAST('inf' AS DOUBLE));
-- its inverse: delete
DELETE FROM SHOP."ORDER" WHERE ID = 1;
DELETE FROM SHOP."ORDER" WHERE ID = 9;
DELETE FROM SHOP."ORDER" WHERE ID = 3;
-- upsert, key: update, --names exact
MERGE INTO SHOP."ORDER" AS t USING (SELECT 1 AS one) AS s ON (t.ID = 1) WHEN MATCHED THEN UPDATE SET "User" = 'tab' || CHR(9) || 'back' || CHR(92), STATE = 'NEW', AMOUNT = -2.50, RATE = CAST('0.1' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (ID, "User", STATE, AMOUNT, RATE) VALUES (1, 'tab' || CHR(9) || 'back' || CHR(92), 'NEW', -2.50, CAST('0.1' AS DOUBLE));
DELETE FROM SHOP."ORDER" WHERE ID = 2;
MERGE INTO SHOP."ORDER" AS t USING (SELECT 1 AS one) AS s ON (t.ID = 9) WHEN MATCHED THEN UPDATE SET "User" = '', STATE = '', AMOUNT = 0.01, RATE = CAST('NaN' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (ID, "User", STATE, AMOUNT, RATE) VALUES (9, '', '', 0.01, CAST('NaN' AS DOUBLE));
-- (nothing)
-- its inverse: update
MERGE INTO SHOP."ORDER" AS t USING (SELECT 1 AS one) AS s ON (t.ID = 1) WHEN MATCHED THEN UPDATE SET "User" = 'o''neil', STATE = 'NEW', AMOUNT = 1.50, RATE = CAST('0.1' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (ID, "User", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
DELETE FROM SHOP."ORDER" WHERE ID = 9;
MERGE INTO SHOP."ORDER" AS t USING (SELECT 1 AS one) AS s ON (t.ID = 2) WHEN MATCHED THEN UPDATE SET "User" = NULL, STATE = NULL, AMOUNT = NULL, RATE = NULL WHEN NOT MATCHED THEN INSERT (ID, "User", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
-- (nothing)
-- upsert, key: delete, --names exact
DELETE FROM SHOP."ORDER" WHERE ID = 1;
DELETE FROM SHOP."ORDER" WHERE ID = 2;
DELETE FROM SHOP."ORDER" WHERE ID = 3;
-- its inverse: insert
MERGE INTO SHOP."ORDER" AS t USING (SELECT 1 AS one) AS s ON (t.ID = 1) WHEN MATCHED THEN UPDATE SET "User" = 'o''neil', STATE = 'NEW', AMOUNT = 1.50, RATE = CAST('0.1' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (ID, "User", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
MERGE INTO SHOP."ORDER" AS t USING (SELECT 1 AS one) AS s ON (t.ID = 2) WHEN MATCHED THEN UPDATE SET "User" = NULL, STATE = NULL, AMOUNT = NULL, RATE = NULL WHEN NOT MATCHED THEN INSERT (ID, "User", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
MERGE INTO SHOP."ORDER" AS t USING (SELECT 1 AS one) AS s ON (t.ID = 3) WHEN MATCHED THEN UPDATE SET "User" = 'a', STATE = 'OLD', AMOUNT = 0.00, RATE = CAST('inf' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (ID, "User", STATE, AMOUNT, RATE) VALUES (3, 'a', 'OLD', 0.00, CAST('inf' AS DOUBLE));
-- upsert, key of a time and a float: insert, --names lower
MERGE INTO MEASURE AS t USING (SELECT 1 AS one) AS s ON (t."AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND t.SPAN = CAST('0.000009999999747378752' AS DOUBLE)) WHEN MATCHED THEN UPDATE SET "DAY" = CAST('9999-12-31' AS DATE), CLOCK = NULL, ZONED = NULL, "RAW" = TO_BINARY('00ff', 'HEX'), "SMALL-1" = NULL, BIG = 0 WHEN NOT MATCHED THEN INSERT ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.000009999999747378752' AS DOUBLE), CAST('9999-12-31' AS DATE), NULL, NULL, TO_BINARY('00ff', 'HEX'), NULL, 0);
-- its inverse: delete
DELETE FROM MEASURE WHERE "AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND SPAN = CAST('0.000009999999747378752' AS DOUBLE);
-- upsert, key of a time and a float: update, --names lower
DELETE FROM MEASURE WHERE "AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND SPAN = CAST('0.10000000149011612' AS DOUBLE);
MERGE INTO MEASURE AS t USING (SELECT 1 AS one) AS s ON (t."AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND t.SPAN = CAST('0.000009999999747378752' AS DOUBLE)) WHEN MATCHED THEN UPDATE SET "DAY" = CAST('9999-12-31' AS DATE), CLOCK = NULL, ZONED = NULL, "RAW" = TO_BINARY('00ff', 'HEX'), "SMALL-1" = NULL, BIG = 0 WHEN NOT MATCHED THEN INSERT ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.000009999999747378752' AS DOUBLE), CAST('9999-12-31' AS DATE), NULL, NULL, TO_BINARY('00ff', 'HEX'), NULL, 0);
-- its inverse: update
DELETE FROM MEASURE WHERE "AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND SPAN = CAST('0.000009999999747378752' AS DOUBLE);
MERGE INTO MEASURE AS t USING (SELECT 1 AS one) AS s ON (t."AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND t.SPAN = CAST('0.10000000149011612' AS DOUBLE)) WHEN MATCHED THEN UPDATE SET "DAY" = CAST('0001-01-01' AS DATE), CLOCK = CAST('00:00:00' AS TIME), ZONED = CAST('2024-02-29 10:00:00.500000 +05:30' AS TIMESTAMP_TZ), "RAW" = TO_BINARY('', 'HEX'), "SMALL-1" = -1, BIG = 9223372036854775807 WHEN NOT MATCHED THEN INSERT ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.10000000149011612' AS DOUBLE), CAST('0001-01-01' AS DATE), CAST('00:00:00' AS TIME), CAST('2024-02-29 10:00:00.500000 +05:30' AS TIMESTAMP_TZ), TO_BINARY('', 'HEX'), -1, 9223372036854775807);
-- upsert, key of a time and a float: delete, --names lower
DELETE FROM MEASURE WHERE "AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND SPAN = CAST('0.10000000149011612' AS DOUBLE);
-- its inverse: insert
MERGE INTO MEASURE AS t USING (SELECT 1 AS one) AS s ON (t."AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND t.SPAN = CAST('0.10000000149011612' AS DOUBLE)) WHEN MATCHED THEN UPDATE SET "DAY" = CAST('0001-01-01' AS DATE), CLOCK = CAST('00:00:00' AS TIME), ZONED = CAST('2024-02-29 10:00:00.500000 +05:30' AS TIMESTAMP_TZ), "RAW" = TO_BINARY('', 'HEX'), "SMALL-1" = -1, BIG = 9223372036854775807 WHEN NOT MATCHED THEN INSERT ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.10000000149011612' AS DOUBLE), CAST('0001-01-01' AS DATE), CAST('00:00:00' AS TIME), CAST('2024-02-29 10:00:00.500000 +05:30' AS TIMESTAMP_TZ), TO_BINARY('', 'HEX'), -1, 9223372036854775807);
-- upsert, key of a time and a float: insert, --names exact
MERGE INTO MEASURE AS t USING (SELECT 1 AS one) AS s ON (t."AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND t.SPAN = CAST('0.000009999999747378752' AS DOUBLE)) WHEN MATCHED THEN UPDATE SET "DAY" = CAST('9999-12-31' AS DATE), CLOCK = NULL, ZONED = NULL, "RAW" = TO_BINARY('00ff', 'HEX'), "SMALL-1" = NULL, BIG = 0 WHEN NOT MATCHED THEN INSERT ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.000009999999747378752' AS DOUBLE), CAST('9999-12-31' AS DATE), NULL, NULL, TO_BINARY('00ff', 'HEX'), NULL, 0);
-- its inverse: delete
DELETE FROM MEASURE WHERE "AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND SPAN = CAST('0.000009999999747378752' AS DOUBLE);
-- upsert, key of a time and a float: update, --names exact
DELETE FROM MEASURE WHERE "AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND SPAN = CAST('0.10000000149011612' AS DOUBLE);
MERGE INTO MEASURE AS t USING (SELECT 1 AS one) AS s ON (t."AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND t.SPAN = CAST('0.000009999999747378752' AS DOUBLE)) WHEN MATCHED THEN UPDATE SET "DAY" = CAST('9999-12-31' AS DATE), CLOCK = NULL, ZONED = NULL, "RAW" = TO_BINARY('00ff', 'HEX'), "SMALL-1" = NULL, BIG = 0 WHEN NOT MATCHED THEN INSERT ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.000009999999747378752' AS DOUBLE), CAST('9999-12-31' AS DATE), NULL, NULL, TO_BINARY('00ff', 'HEX'), NULL, 0);
-- its inverse: update
DELETE FROM MEASURE WHERE "AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND SPAN = CAST('0.000009999999747378752' AS DOUBLE);
MERGE INTO MEASURE AS t USING (SELECT 1 AS one) AS s ON (t."AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND t.SPAN = CAST('0.10000000149011612' AS DOUBLE)) WHEN MATCHED THEN UPDATE SET "DAY" = CAST('0001-01-01' AS DATE), CLOCK = CAST('00:00:00' AS TIME), ZONED = CAST('2024-02-29 10:00:00.500000 +05:30' AS TIMESTAMP_TZ), "RAW" = TO_BINARY('', 'HEX'), "SMALL-1" = -1, BIG = 9223372036854775807 WHEN NOT MATCHED THEN INSERT ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.10000000149011612' AS DOUBLE), CAST('0001-01-01' AS DATE), CAST('00:00:00' AS TIME), CAST('2024-02-29 10:00:00.500000 +05:30' AS TIMESTAMP_TZ), TO_BINARY('', 'HEX'), -1, 9223372036854775807);
-- upsert, key of a time and a float: delete, --names exact
DELETE FROM MEASURE WHERE "AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND SPAN = CAST('0.10000000149011612' AS DOUBLE);
-- its inverse: insert
MERGE INTO MEASURE AS t USING (SELECT 1 AS one) AS s ON (t."AT" = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND t.SPAN = CAST('0.10000000149011612' AS DOUBLE)) WHEN MATCHED THEN UPDATE SET "DAY" = CAST('0001-01-01' AS DATE), CLOCK = CAST('00:00:00' AS TIME), ZONED = CAST('2024-02-29 10:00:00.500000 +05:30' AS TIMESTAMP_TZ), "RAW" = TO_BINARY('', 'HEX'), "SMALL-1" = -1, BIG = 9223372036854775807 WHEN NOT MATCHED THEN INSERT ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.10000000149011612' AS DOUBLE), CAST('0001-01-01' AS DATE), CAST('00:00:00' AS TIME), CAST('2024-02-29 10:00:00.500000 +05:30' AS TIMESTAMP_TZ), TO_BINARY('', 'HEX'), -1, 9223372036854775807);
-- upsert, nothing but key: insert, --names lower
MERGE INTO SHOP.PAIR AS t USING (SELECT 1 AS one) AS s ON (t.ID = 1 AND t.AMOUNT = 2.50) WHEN NOT MATCHED THEN INSERT (ID, AMOUNT) VALUES (1, 2.50);
-- LR3013 AMOUNT: found NULL in the key; expected a value in every column of the key: NULL is equal to nothing
-- its inverse: delete
DELETE FROM SHOP.PAIR WHERE ID = 1 AND AMOUNT = 2.50;
DELETE FROM SHOP.PAIR WHERE ID = 2 AND AMOUNT IS NULL;
-- upsert, nothing but key: update, --names lower
DELETE FROM SHOP.PAIR WHERE ID = 1 AND AMOUNT = 1.50;
MERGE INTO SHOP.PAIR AS t USING (SELECT 1 AS one) AS s ON (t.ID = 1 AND t.AMOUNT = 2.50) WHEN NOT MATCHED THEN INSERT (ID, AMOUNT) VALUES (1, 2.50);
-- LR3013 AMOUNT: found NULL in the key; expected a value in every column of the key: NULL is equal to nothing
-- its inverse: update
DELETE FROM SHOP.PAIR WHERE ID = 1 AND AMOUNT = 2.50;
MERGE INTO SHOP.PAIR AS t USING (SELECT 1 AS one) AS s ON (t.ID = 1 AND t.AMOUNT = 1.50) WHEN NOT MATCHED THEN INSERT (ID, AMOUNT) VALUES (1, 1.50);
DELETE FROM SHOP.PAIR WHERE ID = 2 AND AMOUNT IS NULL;
MERGE INTO SHOP.PAIR AS t USING (SELECT 1 AS one) AS s ON (t.ID = 2 AND t.AMOUNT = 2.00) WHEN NOT MATCHED THEN INSERT (ID, AMOUNT) VALUES (2, 2.00);
-- upsert, nothing but key: delete, --names lower
DELETE FROM SHOP.PAIR WHERE ID = 1 AND AMOUNT = 1.50;
DELETE FROM SHOP.PAIR WHERE ID = 2 AND AMOUNT = 2.00;
-- its inverse: insert
MERGE INTO SHOP.PAIR AS t USING (SELECT 1 AS one) AS s ON (t.ID = 1 AND t.AMOUNT = 1.50) WHEN NOT MATCHED THEN INSERT (ID, AMOUNT) VALUES (1, 1.50);
MERGE INTO SHOP.PAIR AS t USING (SELECT 1 AS one) AS s ON (t.ID = 2 AND t.AMOUNT = 2.00) WHEN NOT MATCHED THEN INSERT (ID, AMOUNT) VALUES (2, 2.00);
-- upsert, nothing but key: insert, --names exact
MERGE INTO SHOP.PAIR AS t USING (SELECT 1 AS one) AS s ON (t.ID = 1 AND t.AMOUNT = 2.50) WHEN NOT MATCHED THEN INSERT (ID, AMOUNT) VALUES (1, 2.50);
-- LR3013 AMOUNT: found NULL in the key; expected a value in every column of the key: NULL is equal to nothing
-- its inverse: delete
DELETE FROM SHOP.PAIR WHERE ID = 1 AND AMOUNT = 2.50;
DELETE FROM SHOP.PAIR WHERE ID = 2 AND AMOUNT IS NULL;
-- upsert, nothing but key: update, --names exact
DELETE FROM SHOP.PAIR WHERE ID = 1 AND AMOUNT = 1.50;
MERGE INTO SHOP.PAIR AS t USING (SELECT 1 AS one) AS s ON (t.ID = 1 AND t.AMOUNT = 2.50) WHEN NOT MATCHED THEN INSERT (ID, AMOUNT) VALUES (1, 2.50);
-- LR3013 AMOUNT: found NULL in the key; expected a value in every column of the key: NULL is equal to nothing
-- its inverse: update
DELETE FROM SHOP.PAIR WHERE ID = 1 AND AMOUNT = 2.50;
MERGE INTO SHOP.PAIR AS t USING (SELECT 1 AS one) AS s ON (t.ID = 1 AND t.AMOUNT = 1.50) WHEN NOT MATCHED THEN INSERT (ID, AMOUNT) VALUES (1, 1.50);
DELETE FROM SHOP.PAIR WHERE ID = 2 AND AMOUNT IS NULL;
MERGE INTO SHOP.PAIR AS t USING (SELECT 1 AS one) AS s ON (t.ID = 2 AND t.AMOUNT = 2.00) WHEN NOT MATCHED THEN INSERT (ID, AMOUNT) VALUES (2, 2.00);
-- upsert, nothing but key: delete, --names exact
DELETE FROM SHOP.PAIR WHERE ID = 1 AND AMOUNT = 1.50;
DELETE FROM SHOP.PAIR WHERE ID = 2 AND AMOUNT = 2.00;
-- its inverse: insert
MERGE INTO SHOP.PAIR AS t USING (SELECT 1 AS one) AS s ON (t.ID = 1 AND t.AMOUNT = 1.50) WHEN NOT MATCHED THEN INSERT (ID, AMOUNT) VALUES (1, 1.50);
MERGE INTO SHOP.PAIR AS t USING (SELECT 1 AS one) AS s ON (t.ID = 2 AND t.AMOUNT = 2.00) WHEN NOT MATCHED THEN INSERT (ID, AMOUNT) VALUES (2, 2.00);
-- upsert: updates of which a part is known, and with excluded columns
UPDATE SHOP."ORDER" SET "USER" = 'tab' || CHR(9) || 'back' || CHR(92), AMOUNT = -2.50 WHERE ID = 1;
-- LR3013: found a change of the key of a row of SHOP.ORDER that cannot be written whole: values are not in the log, or columns or changes are left out; expected the whole row: --upsert puts it in place under its new key
-- (nothing)
UPDATE SHOP."ORDER" SET "USER" = 'tab' || CHR(9) || 'back' || CHR(92) WHERE ID = 1;
-- LR3013: found a change of the key of a row of SHOP.ORDER that cannot be written whole: values are not in the log, or columns or changes are left out; expected the whole row: --upsert puts it in place under its new key
-- (nothing)
