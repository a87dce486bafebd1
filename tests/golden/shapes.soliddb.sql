-- logreplay redo script for soliddb. Stop at the first error, for example: solsql (it commits nothing by itself)
-- soliddb has no SQL to check that a statement touches one row.
-- unit URID=00AB authid=A\u000A\u202EB plan=
-- key: insert, --names lower
-- LR3001 User: found 'tab\tback\\'; expected a text without control characters, which soliddb has no way to write
-- LR3001 RATE: found nan; expected a number that soliddb can hold
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- its inverse: delete
DELETE FROM SHOP."ORDER" WHERE ID = 1;
DELETE FROM SHOP."ORDER" WHERE ID = 9;
DELETE FROM SHOP."ORDER" WHERE ID = 3;
-- key: update, --names lower, --where-columns key
-- LR3001 User: found 'tab\tback\\'; expected a text without control characters, which soliddb has no way to write
-- LR3001 RATE: found nan; expected a number that soliddb can hold
-- (nothing)
-- its inverse: update
UPDATE SHOP."ORDER" SET "USER" = 'o''neil', AMOUNT = 1.50 WHERE ID = 1;
UPDATE SHOP."ORDER" SET ID = 2, "USER" = NULL, STATE = NULL, AMOUNT = NULL, RATE = NULL WHERE ID = 9;
-- (nothing)
-- key: update, --names lower, --where-columns guard
-- LR3001 User: found 'tab\tback\\'; expected a text without control characters, which soliddb has no way to write
-- LR3001 RATE: found nan; expected a number that soliddb can hold
-- (nothing)
-- its inverse: update
-- LR3001 User: found 'tab\tback\\'; expected a text without control characters, which soliddb has no way to write
-- LR3001 RATE: found nan; expected a number that soliddb can hold
-- (nothing)
-- key: update, --names lower, --where-columns all
-- LR3001 User: found 'tab\tback\\'; expected a text without control characters, which soliddb has no way to write
-- LR3001 RATE: found nan; expected a number that soliddb can hold
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- its inverse: update
-- LR3001 User: found 'tab\tback\\'; expected a text without control characters, which soliddb has no way to write
-- LR3001 RATE: found nan; expected a number that soliddb can hold
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- key: delete, --names lower, --where-columns key
DELETE FROM SHOP."ORDER" WHERE ID = 1;
DELETE FROM SHOP."ORDER" WHERE ID = 2;
DELETE FROM SHOP."ORDER" WHERE ID = 3;
-- its inverse: insert
INSERT INTO SHOP."ORDER" (ID, "USER", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO SHOP."ORDER" (ID, "USER", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- key: delete, --names lower, --where-columns guard
DELETE FROM SHOP."ORDER" WHERE ID = 1 AND "USER" = 'o''neil' AND STATE = 'NEW' AND AMOUNT = 1.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
DELETE FROM SHOP."ORDER" WHERE ID = 2 AND "USER" IS NULL AND STATE IS NULL AND AMOUNT IS NULL AND RATE IS NULL;
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- its inverse: insert
INSERT INTO SHOP."ORDER" (ID, "USER", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO SHOP."ORDER" (ID, "USER", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- key: delete, --names lower, --where-columns all
DELETE FROM SHOP."ORDER" WHERE ID = 1 AND "USER" = 'o''neil' AND STATE = 'NEW' AND AMOUNT = 1.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
DELETE FROM SHOP."ORDER" WHERE ID = 2 AND "USER" IS NULL AND STATE IS NULL AND AMOUNT IS NULL AND RATE IS NULL;
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- its inverse: insert
INSERT INTO SHOP."ORDER" (ID, "USER", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO SHOP."ORDER" (ID, "USER", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- key: insert, --names exact
-- LR3001 User: found 'tab\tback\\'; expected a text without control characters, which soliddb has no way to write
-- LR3001 RATE: found nan; expected a number that soliddb can hold
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- its inverse: delete
DELETE FROM SHOP."ORDER" WHERE ID = 1;
DELETE FROM SHOP."ORDER" WHERE ID = 9;
DELETE FROM SHOP."ORDER" WHERE ID = 3;
-- key: update, --names exact, --where-columns key
-- LR3001 User: found 'tab\tback\\'; expected a text without control characters, which soliddb has no way to write
-- LR3001 RATE: found nan; expected a number that soliddb can hold
-- (nothing)
-- its inverse: update
UPDATE SHOP."ORDER" SET "User" = 'o''neil', AMOUNT = 1.50 WHERE ID = 1;
UPDATE SHOP."ORDER" SET ID = 2, "User" = NULL, STATE = NULL, AMOUNT = NULL, RATE = NULL WHERE ID = 9;
-- (nothing)
-- key: update, --names exact, --where-columns guard
-- LR3001 User: found 'tab\tback\\'; expected a text without control characters, which soliddb has no way to write
-- LR3001 RATE: found nan; expected a number that soliddb can hold
-- (nothing)
-- its inverse: update
-- LR3001 User: found 'tab\tback\\'; expected a text without control characters, which soliddb has no way to write
-- LR3001 RATE: found nan; expected a number that soliddb can hold
-- (nothing)
-- key: update, --names exact, --where-columns all
-- LR3001 User: found 'tab\tback\\'; expected a text without control characters, which soliddb has no way to write
-- LR3001 RATE: found nan; expected a number that soliddb can hold
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- its inverse: update
-- LR3001 User: found 'tab\tback\\'; expected a text without control characters, which soliddb has no way to write
-- LR3001 RATE: found nan; expected a number that soliddb can hold
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- key: delete, --names exact, --where-columns key
DELETE FROM SHOP."ORDER" WHERE ID = 1;
DELETE FROM SHOP."ORDER" WHERE ID = 2;
DELETE FROM SHOP."ORDER" WHERE ID = 3;
-- its inverse: insert
INSERT INTO SHOP."ORDER" (ID, "User", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO SHOP."ORDER" (ID, "User", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- key: delete, --names exact, --where-columns guard
DELETE FROM SHOP."ORDER" WHERE ID = 1 AND "User" = 'o''neil' AND STATE = 'NEW' AND AMOUNT = 1.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
DELETE FROM SHOP."ORDER" WHERE ID = 2 AND "User" IS NULL AND STATE IS NULL AND AMOUNT IS NULL AND RATE IS NULL;
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- its inverse: insert
INSERT INTO SHOP."ORDER" (ID, "User", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO SHOP."ORDER" (ID, "User", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- key: delete, --names exact, --where-columns all
DELETE FROM SHOP."ORDER" WHERE ID = 1 AND "User" = 'o''neil' AND STATE = 'NEW' AND AMOUNT = 1.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
DELETE FROM SHOP."ORDER" WHERE ID = 2 AND "User" IS NULL AND STATE IS NULL AND AMOUNT IS NULL AND RATE IS NULL;
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- its inverse: insert
INSERT INTO SHOP."ORDER" (ID, "User", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO SHOP."ORDER" (ID, "User", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- no key: insert, --names lower
-- LR3001 User: found 'tab\tback\\'; expected a text without control characters, which soliddb has no way to write
-- LR3001 RATE: found nan; expected a number that soliddb can hold
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- its inverse: delete
-- LR3001 User: found 'tab\tback\\'; expected a text without control characters, which soliddb has no way to write
-- LR3001 RATE: found nan; expected a number that soliddb can hold
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- no key: update, --names lower, --where-columns key
-- LR3001 User: found 'tab\tback\\'; expected a text without control characters, which soliddb has no way to write
-- LR3001 RATE: found nan; expected a number that soliddb can hold
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- its inverse: update
-- LR3001 User: found 'tab\tback\\'; expected a text without control characters, which soliddb has no way to write
-- LR3001 RATE: found nan; expected a number that soliddb can hold
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- no key: update, --names lower, --where-columns guard
-- LR3001 User: found 'tab\tback\\'; expected a text without control characters, which soliddb has no way to write
-- LR3001 RATE: found nan; expected a number that soliddb can hold
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- its inverse: update
-- LR3001 User: found 'tab\tback\\'; expected a text without control characters, which soliddb has no way to write
-- LR3001 RATE: found nan; expected a number that soliddb can hold
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- no key: update, --names lower, --where-columns all
-- LR3001 User: found 'tab\tback\\'; expected a text without control characters, which soliddb has no way to write
-- LR3001 RATE: found nan; expected a number that soliddb can hold
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- its inverse: update
-- LR3001 User: found 'tab\tback\\'; expected a text without control characters, which soliddb has no way to write
-- LR3001 RATE: found nan; expected a number that soliddb can hold
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- no key: delete, --names lower, --where-columns key
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: soliddb has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: soliddb has no way to change one of several equal rows
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- its inverse: insert
INSERT INTO SHOP."ORDER#LOG" (ID, "USER", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO SHOP."ORDER#LOG" (ID, "USER", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- no key: delete, --names lower, --where-columns guard
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: soliddb has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: soliddb has no way to change one of several equal rows
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- its inverse: insert
INSERT INTO SHOP."ORDER#LOG" (ID, "USER", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO SHOP."ORDER#LOG" (ID, "USER", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- no key: delete, --names lower, --where-columns all
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: soliddb has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: soliddb has no way to change one of several equal rows
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- its inverse: insert
INSERT INTO SHOP."ORDER#LOG" (ID, "USER", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO SHOP."ORDER#LOG" (ID, "USER", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- no key: insert, --names exact
-- LR3001 User: found 'tab\tback\\'; expected a text without control characters, which soliddb has no way to write
-- LR3001 RATE: found nan; expected a number that soliddb can hold
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- its inverse: delete
-- LR3001 User: found 'tab\tback\\'; expected a text without control characters, which soliddb has no way to write
-- LR3001 RATE: found nan; expected a number that soliddb can hold
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- no key: update, --names exact, --where-columns key
-- LR3001 User: found 'tab\tback\\'; expected a text without control characters, which soliddb has no way to write
-- LR3001 RATE: found nan; expected a number that soliddb can hold
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- its inverse: update
-- LR3001 User: found 'tab\tback\\'; expected a text without control characters, which soliddb has no way to write
-- LR3001 RATE: found nan; expected a number that soliddb can hold
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- no key: update, --names exact, --where-columns guard
-- LR3001 User: found 'tab\tback\\'; expected a text without control characters, which soliddb has no way to write
-- LR3001 RATE: found nan; expected a number that soliddb can hold
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- its inverse: update
-- LR3001 User: found 'tab\tback\\'; expected a text without control characters, which soliddb has no way to write
-- LR3001 RATE: found nan; expected a number that soliddb can hold
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- no key: update, --names exact, --where-columns all
-- LR3001 User: found 'tab\tback\\'; expected a text without control characters, which soliddb has no way to write
-- LR3001 RATE: found nan; expected a number that soliddb can hold
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- its inverse: update
-- LR3001 User: found 'tab\tback\\'; expected a text without control characters, which soliddb has no way to write
-- LR3001 RATE: found nan; expected a number that soliddb can hold
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- no key: delete, --names exact, --where-columns key
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: soliddb has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: soliddb has no way to change one of several equal rows
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- its inverse: insert
INSERT INTO SHOP."ORDER#LOG" (ID, "User", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO SHOP."ORDER#LOG" (ID, "User", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- no key: delete, --names exact, --where-columns guard
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: soliddb has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: soliddb has no way to change one of several equal rows
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- its inverse: insert
INSERT INTO SHOP."ORDER#LOG" (ID, "User", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO SHOP."ORDER#LOG" (ID, "User", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- no key: delete, --names exact, --where-columns all
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: soliddb has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: soliddb has no way to change one of several equal rows
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- its inverse: insert
INSERT INTO SHOP."ORDER#LOG" (ID, "User", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO SHOP."ORDER#LOG" (ID, "User", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- key of a time and a float: insert, --names lower
INSERT INTO MEASURE ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES ('0001-01-01 00:00:00.000000', 0.000009999999747378752e0, '9999-12-31', NULL, NULL, CAST('00ff' AS VARBINARY), NULL, 0);
-- its inverse: delete
DELETE FROM MEASURE WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.000009999999747378752e0;
-- key of a time and a float: update, --names lower, --where-columns key
UPDATE MEASURE SET SPAN = 0.000009999999747378752e0, "DAY" = '9999-12-31', CLOCK = NULL, ZONED = NULL, "RAW" = CAST('00ff' AS VARBINARY), "SMALL-1" = NULL, BIG = 0 WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.10000000149011612e0;
-- its inverse: update
UPDATE MEASURE SET SPAN = 0.10000000149011612e0, "DAY" = '0001-01-01', CLOCK = '00:00:00', ZONED = '2024-02-29 10:00:00.500000+05:30', "RAW" = CAST('' AS VARBINARY), "SMALL-1" = -1, BIG = 9223372036854775807 WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.000009999999747378752e0;
-- key of a time and a float: update, --names lower, --where-columns guard
UPDATE MEASURE SET SPAN = 0.000009999999747378752e0, "DAY" = '9999-12-31', CLOCK = NULL, ZONED = NULL, "RAW" = CAST('00ff' AS VARBINARY), "SMALL-1" = NULL, BIG = 0 WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.10000000149011612e0 AND "DAY" = '0001-01-01' AND CLOCK = '00:00:00' AND ZONED = '2024-02-29 10:00:00.500000+05:30' AND "RAW" = CAST('' AS VARBINARY) AND "SMALL-1" = -1 AND BIG = 9223372036854775807;
-- its inverse: update
UPDATE MEASURE SET SPAN = 0.10000000149011612e0, "DAY" = '0001-01-01', CLOCK = '00:00:00', ZONED = '2024-02-29 10:00:00.500000+05:30', "RAW" = CAST('' AS VARBINARY), "SMALL-1" = -1, BIG = 9223372036854775807 WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.000009999999747378752e0 AND "DAY" = '9999-12-31' AND CLOCK IS NULL AND ZONED IS NULL AND "RAW" = CAST('00ff' AS VARBINARY) AND "SMALL-1" IS NULL AND BIG = 0;
-- key of a time and a float: update, --names lower, --where-columns all
UPDATE MEASURE SET SPAN = 0.000009999999747378752e0, "DAY" = '9999-12-31', CLOCK = NULL, ZONED = NULL, "RAW" = CAST('00ff' AS VARBINARY), "SMALL-1" = NULL, BIG = 0 WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.10000000149011612e0 AND "DAY" = '0001-01-01' AND CLOCK = '00:00:00' AND ZONED = '2024-02-29 10:00:00.500000+05:30' AND "RAW" = CAST('' AS VARBINARY) AND "SMALL-1" = -1 AND BIG = 9223372036854775807;
-- its inverse: update
UPDATE MEASURE SET SPAN = 0.10000000149011612e0, "DAY" = '0001-01-01', CLOCK = '00:00:00', ZONED = '2024-02-29 10:00:00.500000+05:30', "RAW" = CAST('' AS VARBINARY), "SMALL-1" = -1, BIG = 9223372036854775807 WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.000009999999747378752e0 AND "DAY" = '9999-12-31' AND CLOCK IS NULL AND ZONED IS NULL AND "RAW" = CAST('00ff' AS VARBINARY) AND "SMALL-1" IS NULL AND BIG = 0;
-- key of a time and a float: delete, --names lower, --where-columns key
DELETE FROM MEASURE WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.10000000149011612e0;
-- its inverse: insert
INSERT INTO MEASURE ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '00:00:00', '2024-02-29 10:00:00.500000+05:30', CAST('' AS VARBINARY), -1, 9223372036854775807);
-- key of a time and a float: delete, --names lower, --where-columns guard
DELETE FROM MEASURE WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.10000000149011612e0 AND "DAY" = '0001-01-01' AND CLOCK = '00:00:00' AND ZONED = '2024-02-29 10:00:00.500000+05:30' AND "RAW" = CAST('' AS VARBINARY) AND "SMALL-1" = -1 AND BIG = 9223372036854775807;
-- its inverse: insert
INSERT INTO MEASURE ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '00:00:00', '2024-02-29 10:00:00.500000+05:30', CAST('' AS VARBINARY), -1, 9223372036854775807);
-- key of a time and a float: delete, --names lower, --where-columns all
DELETE FROM MEASURE WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.10000000149011612e0 AND "DAY" = '0001-01-01' AND CLOCK = '00:00:00' AND ZONED = '2024-02-29 10:00:00.500000+05:30' AND "RAW" = CAST('' AS VARBINARY) AND "SMALL-1" = -1 AND BIG = 9223372036854775807;
-- its inverse: insert
INSERT INTO MEASURE ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '00:00:00', '2024-02-29 10:00:00.500000+05:30', CAST('' AS VARBINARY), -1, 9223372036854775807);
-- key of a time and a float: insert, --names exact
INSERT INTO MEASURE ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES ('0001-01-01 00:00:00.000000', 0.000009999999747378752e0, '9999-12-31', NULL, NULL, CAST('00ff' AS VARBINARY), NULL, 0);
-- its inverse: delete
DELETE FROM MEASURE WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.000009999999747378752e0;
-- key of a time and a float: update, --names exact, --where-columns key
UPDATE MEASURE SET SPAN = 0.000009999999747378752e0, "DAY" = '9999-12-31', CLOCK = NULL, ZONED = NULL, "RAW" = CAST('00ff' AS VARBINARY), "SMALL-1" = NULL, BIG = 0 WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.10000000149011612e0;
-- its inverse: update
UPDATE MEASURE SET SPAN = 0.10000000149011612e0, "DAY" = '0001-01-01', CLOCK = '00:00:00', ZONED = '2024-02-29 10:00:00.500000+05:30', "RAW" = CAST('' AS VARBINARY), "SMALL-1" = -1, BIG = 9223372036854775807 WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.000009999999747378752e0;
-- key of a time and a float: update, --names exact, --where-columns guard
UPDATE MEASURE SET SPAN = 0.000009999999747378752e0, "DAY" = '9999-12-31', CLOCK = NULL, ZONED = NULL, "RAW" = CAST('00ff' AS VARBINARY), "SMALL-1" = NULL, BIG = 0 WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.10000000149011612e0 AND "DAY" = '0001-01-01' AND CLOCK = '00:00:00' AND ZONED = '2024-02-29 10:00:00.500000+05:30' AND "RAW" = CAST('' AS VARBINARY) AND "SMALL-1" = -1 AND BIG = 9223372036854775807;
-- its inverse: update
UPDATE MEASURE SET SPAN = 0.10000000149011612e0, "DAY" = '0001-01-01', CLOCK = '00:00:00', ZONED = '2024-02-29 10:00:00.500000+05:30', "RAW" = CAST('' AS VARBINARY), "SMALL-1" = -1, BIG = 9223372036854775807 WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.000009999999747378752e0 AND "DAY" = '9999-12-31' AND CLOCK IS NULL AND ZONED IS NULL AND "RAW" = CAST('00ff' AS VARBINARY) AND "SMALL-1" IS NULL AND BIG = 0;
-- key of a time and a float: update, --names exact, --where-columns all
UPDATE MEASURE SET SPAN = 0.000009999999747378752e0, "DAY" = '9999-12-31', CLOCK = NULL, ZONED = NULL, "RAW" = CAST('00ff' AS VARBINARY), "SMALL-1" = NULL, BIG = 0 WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.10000000149011612e0 AND "DAY" = '0001-01-01' AND CLOCK = '00:00:00' AND ZONED = '2024-02-29 10:00:00.500000+05:30' AND "RAW" = CAST('' AS VARBINARY) AND "SMALL-1" = -1 AND BIG = 9223372036854775807;
-- its inverse: update
UPDATE MEASURE SET SPAN = 0.10000000149011612e0, "DAY" = '0001-01-01', CLOCK = '00:00:00', ZONED = '2024-02-29 10:00:00.500000+05:30', "RAW" = CAST('' AS VARBINARY), "SMALL-1" = -1, BIG = 9223372036854775807 WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.000009999999747378752e0 AND "DAY" = '9999-12-31' AND CLOCK IS NULL AND ZONED IS NULL AND "RAW" = CAST('00ff' AS VARBINARY) AND "SMALL-1" IS NULL AND BIG = 0;
-- key of a time and a float: delete, --names exact, --where-columns key
DELETE FROM MEASURE WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.10000000149011612e0;
-- its inverse: insert
INSERT INTO MEASURE ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '00:00:00', '2024-02-29 10:00:00.500000+05:30', CAST('' AS VARBINARY), -1, 9223372036854775807);
-- key of a time and a float: delete, --names exact, --where-columns guard
DELETE FROM MEASURE WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.10000000149011612e0 AND "DAY" = '0001-01-01' AND CLOCK = '00:00:00' AND ZONED = '2024-02-29 10:00:00.500000+05:30' AND "RAW" = CAST('' AS VARBINARY) AND "SMALL-1" = -1 AND BIG = 9223372036854775807;
-- its inverse: insert
INSERT INTO MEASURE ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '00:00:00', '2024-02-29 10:00:00.500000+05:30', CAST('' AS VARBINARY), -1, 9223372036854775807);
-- key of a time and a float: delete, --names exact, --where-columns all
DELETE FROM MEASURE WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.10000000149011612e0 AND "DAY" = '0001-01-01' AND CLOCK = '00:00:00' AND ZONED = '2024-02-29 10:00:00.500000+05:30' AND "RAW" = CAST('' AS VARBINARY) AND "SMALL-1" = -1 AND BIG = 9223372036854775807;
-- its inverse: insert
INSERT INTO MEASURE ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '00:00:00', '2024-02-29 10:00:00.500000+05:30', CAST('' AS VARBINARY), -1, 9223372036854775807);
-- excluded columns, blanks of CHAR kept
INSERT INTO SHOP."ORDER" (ID, STATE, RATE) VALUES (1, 'NEW ', 0.1e0);
-- LR3001 RATE: found nan; expected a number that soliddb can hold
-- LR3001 RATE: found inf; expected a number that soliddb can hold
-- (nothing)
-- LR3001 RATE: found nan; expected a number that soliddb can hold
-- (nothing)
DELETE FROM SHOP."ORDER" WHERE ID = 1;
DELETE FROM SHOP."ORDER" WHERE ID = 2;
DELETE FROM SHOP."ORDER" WHERE ID = 3;
-- whole tables
DELETE FROM SHOP."ORDER";
DELETE FROM SHOP."ORDER";
DELETE FROM SHOP."ORDER";
DELETE FROM SHOP."ORDER";
