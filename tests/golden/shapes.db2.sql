-- logreplay redo script for db2. Stop at the first error, for example: db2 -s +c -tf this-file
-- unit URID=00AB authid=A\u000A\u202EB plan=
-- key: insert, --names lower
INSERT INTO SHOP."ORDER" (ID, "USER", STATE, AMOUNT, RATE) VALUES (1, 'tab' || CHR(9) || 'back\', 'NEW', -2.50, 0.1e0);
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- its inverse: delete
DELETE FROM SHOP."ORDER" WHERE ID = 1;
DELETE FROM SHOP."ORDER" WHERE ID = 9;
DELETE FROM SHOP."ORDER" WHERE ID = 3;
-- key: update, --names lower, --where-columns key
UPDATE SHOP."ORDER" SET "USER" = 'tab' || CHR(9) || 'back\', AMOUNT = -2.50 WHERE ID = 1;
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- (nothing)
-- its inverse: update
UPDATE SHOP."ORDER" SET "USER" = 'o''neil', AMOUNT = 1.50 WHERE ID = 1;
UPDATE SHOP."ORDER" SET ID = 2, "USER" = NULL, STATE = NULL, AMOUNT = NULL, RATE = NULL WHERE ID = 9;
-- (nothing)
-- key: update, --names lower, --where-columns guard
UPDATE SHOP."ORDER" SET "USER" = 'tab' || CHR(9) || 'back\', AMOUNT = -2.50 WHERE ID = 1 AND "USER" || '.' = 'o''neil' || '.' AND AMOUNT = 1.50;
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- (nothing)
-- its inverse: update
UPDATE SHOP."ORDER" SET "USER" = 'o''neil', AMOUNT = 1.50 WHERE ID = 1 AND "USER" || '.' = 'tab' || CHR(9) || 'back\' || '.' AND AMOUNT = -2.50;
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- (nothing)
-- key: update, --names lower, --where-columns all
UPDATE SHOP."ORDER" SET "USER" = 'tab' || CHR(9) || 'back\', AMOUNT = -2.50 WHERE ID = 1 AND "USER" || '.' = 'o''neil' || '.' AND STATE = 'NEW' AND AMOUNT = 1.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- its inverse: update
UPDATE SHOP."ORDER" SET "USER" = 'o''neil', AMOUNT = 1.50 WHERE ID = 1 AND "USER" || '.' = 'tab' || CHR(9) || 'back\' || '.' AND STATE = 'NEW' AND AMOUNT = -2.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- key: delete, --names lower, --where-columns key
DELETE FROM SHOP."ORDER" WHERE ID = 1;
DELETE FROM SHOP."ORDER" WHERE ID = 2;
DELETE FROM SHOP."ORDER" WHERE ID = 3;
-- its inverse: insert
INSERT INTO SHOP."ORDER" (ID, "USER", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO SHOP."ORDER" (ID, "USER", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- key: delete, --names lower, --where-columns guard
DELETE FROM SHOP."ORDER" WHERE ID = 1 AND "USER" || '.' = 'o''neil' || '.' AND STATE = 'NEW' AND AMOUNT = 1.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
DELETE FROM SHOP."ORDER" WHERE ID = 2 AND "USER" IS NULL AND STATE IS NULL AND AMOUNT IS NULL AND RATE IS NULL;
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- its inverse: insert
INSERT INTO SHOP."ORDER" (ID, "USER", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO SHOP."ORDER" (ID, "USER", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- key: delete, --names lower, --where-columns all
DELETE FROM SHOP."ORDER" WHERE ID = 1 AND "USER" || '.' = 'o''neil' || '.' AND STATE = 'NEW' AND AMOUNT = 1.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
DELETE FROM SHOP."ORDER" WHERE ID = 2 AND "USER" IS NULL AND STATE IS NULL AND AMOUNT IS NULL AND RATE IS NULL;
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- its inverse: insert
INSERT INTO SHOP."ORDER" (ID, "USER", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO SHOP."ORDER" (ID, "USER", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- key: insert, --names exact
INSERT INTO SHOP."ORDER" (ID, "User", STATE, AMOUNT, RATE) VALUES (1, 'tab' || CHR(9) || 'back\', 'NEW', -2.50, 0.1e0);
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- its inverse: delete
DELETE FROM SHOP."ORDER" WHERE ID = 1;
DELETE FROM SHOP."ORDER" WHERE ID = 9;
DELETE FROM SHOP."ORDER" WHERE ID = 3;
-- key: update, --names exact, --where-columns key
UPDATE SHOP."ORDER" SET "User" = 'tab' || CHR(9) || 'back\', AMOUNT = -2.50 WHERE ID = 1;
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- (nothing)
-- its inverse: update
UPDATE SHOP."ORDER" SET "User" = 'o''neil', AMOUNT = 1.50 WHERE ID = 1;
UPDATE SHOP."ORDER" SET ID = 2, "User" = NULL, STATE = NULL, AMOUNT = NULL, RATE = NULL WHERE ID = 9;
-- (nothing)
-- key: update, --names exact, --where-columns guard
UPDATE SHOP."ORDER" SET "User" = 'tab' || CHR(9) || 'back\', AMOUNT = -2.50 WHERE ID = 1 AND "User" || '.' = 'o''neil' || '.' AND AMOUNT = 1.50;
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- (nothing)
-- its inverse: update
UPDATE SHOP."ORDER" SET "User" = 'o''neil', AMOUNT = 1.50 WHERE ID = 1 AND "User" || '.' = 'tab' || CHR(9) || 'back\' || '.' AND AMOUNT = -2.50;
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- (nothing)
-- key: update, --names exact, --where-columns all
UPDATE SHOP."ORDER" SET "User" = 'tab' || CHR(9) || 'back\', AMOUNT = -2.50 WHERE ID = 1 AND "User" || '.' = 'o''neil' || '.' AND STATE = 'NEW' AND AMOUNT = 1.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- its inverse: update
UPDATE SHOP."ORDER" SET "User" = 'o''neil', AMOUNT = 1.50 WHERE ID = 1 AND "User" || '.' = 'tab' || CHR(9) || 'back\' || '.' AND STATE = 'NEW' AND AMOUNT = -2.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- key: delete, --names exact, --where-columns key
DELETE FROM SHOP."ORDER" WHERE ID = 1;
DELETE FROM SHOP."ORDER" WHERE ID = 2;
DELETE FROM SHOP."ORDER" WHERE ID = 3;
-- its inverse: insert
INSERT INTO SHOP."ORDER" (ID, "User", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO SHOP."ORDER" (ID, "User", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- key: delete, --names exact, --where-columns guard
DELETE FROM SHOP."ORDER" WHERE ID = 1 AND "User" || '.' = 'o''neil' || '.' AND STATE = 'NEW' AND AMOUNT = 1.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
DELETE FROM SHOP."ORDER" WHERE ID = 2 AND "User" IS NULL AND STATE IS NULL AND AMOUNT IS NULL AND RATE IS NULL;
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- its inverse: insert
INSERT INTO SHOP."ORDER" (ID, "User", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO SHOP."ORDER" (ID, "User", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- key: delete, --names exact, --where-columns all
DELETE FROM SHOP."ORDER" WHERE ID = 1 AND "User" || '.' = 'o''neil' || '.' AND STATE = 'NEW' AND AMOUNT = 1.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
DELETE FROM SHOP."ORDER" WHERE ID = 2 AND "User" IS NULL AND STATE IS NULL AND AMOUNT IS NULL AND RATE IS NULL;
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- its inverse: insert
INSERT INTO SHOP."ORDER" (ID, "User", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO SHOP."ORDER" (ID, "User", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- no key: insert, --names lower
INSERT INTO SHOP."ORDER#LOG" (ID, "USER", STATE, AMOUNT, RATE) VALUES (1, 'tab' || CHR(9) || 'back\', 'NEW', -2.50, 0.1e0);
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- its inverse: delete
DELETE FROM SHOP."ORDER#LOG" AS one WHERE RID(one) = (SELECT RID(one) FROM SHOP."ORDER#LOG" AS one WHERE ID = 1 AND "USER" || '.' = 'tab' || CHR(9) || 'back\' || '.' AND STATE = 'NEW' AND AMOUNT = -2.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 FETCH FIRST 1 ROWS ONLY);
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- no key: update, --names lower, --where-columns key
UPDATE SHOP."ORDER#LOG" AS one SET "USER" = 'tab' || CHR(9) || 'back\', AMOUNT = -2.50 WHERE RID(one) = (SELECT RID(one) FROM SHOP."ORDER#LOG" AS one WHERE ID = 1 AND "USER" || '.' = 'o''neil' || '.' AND STATE = 'NEW' AND AMOUNT = 1.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 FETCH FIRST 1 ROWS ONLY);
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- its inverse: update
UPDATE SHOP."ORDER#LOG" AS one SET "USER" = 'o''neil', AMOUNT = 1.50 WHERE RID(one) = (SELECT RID(one) FROM SHOP."ORDER#LOG" AS one WHERE ID = 1 AND "USER" || '.' = 'tab' || CHR(9) || 'back\' || '.' AND STATE = 'NEW' AND AMOUNT = -2.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 FETCH FIRST 1 ROWS ONLY);
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- no key: update, --names lower, --where-columns guard
UPDATE SHOP."ORDER#LOG" AS one SET "USER" = 'tab' || CHR(9) || 'back\', AMOUNT = -2.50 WHERE RID(one) = (SELECT RID(one) FROM SHOP."ORDER#LOG" AS one WHERE ID = 1 AND "USER" || '.' = 'o''neil' || '.' AND STATE = 'NEW' AND AMOUNT = 1.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 FETCH FIRST 1 ROWS ONLY);
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- its inverse: update
UPDATE SHOP."ORDER#LOG" AS one SET "USER" = 'o''neil', AMOUNT = 1.50 WHERE RID(one) = (SELECT RID(one) FROM SHOP."ORDER#LOG" AS one WHERE ID = 1 AND "USER" || '.' = 'tab' || CHR(9) || 'back\' || '.' AND STATE = 'NEW' AND AMOUNT = -2.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 FETCH FIRST 1 ROWS ONLY);
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- no key: update, --names lower, --where-columns all
UPDATE SHOP."ORDER#LOG" AS one SET "USER" = 'tab' || CHR(9) || 'back\', AMOUNT = -2.50 WHERE RID(one) = (SELECT RID(one) FROM SHOP."ORDER#LOG" AS one WHERE ID = 1 AND "USER" || '.' = 'o''neil' || '.' AND STATE = 'NEW' AND AMOUNT = 1.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 FETCH FIRST 1 ROWS ONLY);
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- its inverse: update
UPDATE SHOP."ORDER#LOG" AS one SET "USER" = 'o''neil', AMOUNT = 1.50 WHERE RID(one) = (SELECT RID(one) FROM SHOP."ORDER#LOG" AS one WHERE ID = 1 AND "USER" || '.' = 'tab' || CHR(9) || 'back\' || '.' AND STATE = 'NEW' AND AMOUNT = -2.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 FETCH FIRST 1 ROWS ONLY);
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- no key: delete, --names lower, --where-columns key
DELETE FROM SHOP."ORDER#LOG" AS one WHERE RID(one) = (SELECT RID(one) FROM SHOP."ORDER#LOG" AS one WHERE ID = 1 AND "USER" || '.' = 'o''neil' || '.' AND STATE = 'NEW' AND AMOUNT = 1.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 FETCH FIRST 1 ROWS ONLY);
DELETE FROM SHOP."ORDER#LOG" AS one WHERE RID(one) = (SELECT RID(one) FROM SHOP."ORDER#LOG" AS one WHERE ID = 2 AND "USER" IS NULL AND STATE IS NULL AND AMOUNT IS NULL AND RATE IS NULL FETCH FIRST 1 ROWS ONLY);
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- its inverse: insert
INSERT INTO SHOP."ORDER#LOG" (ID, "USER", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO SHOP."ORDER#LOG" (ID, "USER", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- no key: delete, --names lower, --where-columns guard
DELETE FROM SHOP."ORDER#LOG" AS one WHERE RID(one) = (SELECT RID(one) FROM SHOP."ORDER#LOG" AS one WHERE ID = 1 AND "USER" || '.' = 'o''neil' || '.' AND STATE = 'NEW' AND AMOUNT = 1.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 FETCH FIRST 1 ROWS ONLY);
DELETE FROM SHOP."ORDER#LOG" AS one WHERE RID(one) = (SELECT RID(one) FROM SHOP."ORDER#LOG" AS one WHERE ID = 2 AND "USER" IS NULL AND STATE IS NULL AND AMOUNT IS NULL AND RATE IS NULL FETCH FIRST 1 ROWS ONLY);
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- its inverse: insert
INSERT INTO SHOP."ORDER#LOG" (ID, "USER", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO SHOP."ORDER#LOG" (ID, "USER", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- no key: delete, --names lower, --where-columns all
DELETE FROM SHOP."ORDER#LOG" AS one WHERE RID(one) = (SELECT RID(one) FROM SHOP."ORDER#LOG" AS one WHERE ID = 1 AND "USER" || '.' = 'o''neil' || '.' AND STATE = 'NEW' AND AMOUNT = 1.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 FETCH FIRST 1 ROWS ONLY);
DELETE FROM SHOP."ORDER#LOG" AS one WHERE RID(one) = (SELECT RID(one) FROM SHOP."ORDER#LOG" AS one WHERE ID = 2 AND "USER" IS NULL AND STATE IS NULL AND AMOUNT IS NULL AND RATE IS NULL FETCH FIRST 1 ROWS ONLY);
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- its inverse: insert
INSERT INTO SHOP."ORDER#LOG" (ID, "USER", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO SHOP."ORDER#LOG" (ID, "USER", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- no key: insert, --names exact
INSERT INTO SHOP."ORDER#LOG" (ID, "User", STATE, AMOUNT, RATE) VALUES (1, 'tab' || CHR(9) || 'back\', 'NEW', -2.50, 0.1e0);
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- its inverse: delete
DELETE FROM SHOP."ORDER#LOG" AS one WHERE RID(one) = (SELECT RID(one) FROM SHOP."ORDER#LOG" AS one WHERE ID = 1 AND "User" || '.' = 'tab' || CHR(9) || 'back\' || '.' AND STATE = 'NEW' AND AMOUNT = -2.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 FETCH FIRST 1 ROWS ONLY);
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- no key: update, --names exact, --where-columns key
UPDATE SHOP."ORDER#LOG" AS one SET "User" = 'tab' || CHR(9) || 'back\', AMOUNT = -2.50 WHERE RID(one) = (SELECT RID(one) FROM SHOP."ORDER#LOG" AS one WHERE ID = 1 AND "User" || '.' = 'o''neil' || '.' AND STATE = 'NEW' AND AMOUNT = 1.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 FETCH FIRST 1 ROWS ONLY);
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- its inverse: update
UPDATE SHOP."ORDER#LOG" AS one SET "User" = 'o''neil', AMOUNT = 1.50 WHERE RID(one) = (SELECT RID(one) FROM SHOP."ORDER#LOG" AS one WHERE ID = 1 AND "User" || '.' = 'tab' || CHR(9) || 'back\' || '.' AND STATE = 'NEW' AND AMOUNT = -2.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 FETCH FIRST 1 ROWS ONLY);
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- no key: update, --names exact, --where-columns guard
UPDATE SHOP."ORDER#LOG" AS one SET "User" = 'tab' || CHR(9) || 'back\', AMOUNT = -2.50 WHERE RID(one) = (SELECT RID(one) FROM SHOP."ORDER#LOG" AS one WHERE ID = 1 AND "User" || '.' = 'o''neil' || '.' AND STATE = 'NEW' AND AMOUNT = 1.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 FETCH FIRST 1 ROWS ONLY);
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- its inverse: update
UPDATE SHOP."ORDER#LOG" AS one SET "User" = 'o''neil', AMOUNT = 1.50 WHERE RID(one) = (SELECT RID(one) FROM SHOP."ORDER#LOG" AS one WHERE ID = 1 AND "User" || '.' = 'tab' || CHR(9) || 'back\' || '.' AND STATE = 'NEW' AND AMOUNT = -2.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 FETCH FIRST 1 ROWS ONLY);
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- no key: update, --names exact, --where-columns all
UPDATE SHOP."ORDER#LOG" AS one SET "User" = 'tab' || CHR(9) || 'back\', AMOUNT = -2.50 WHERE RID(one) = (SELECT RID(one) FROM SHOP."ORDER#LOG" AS one WHERE ID = 1 AND "User" || '.' = 'o''neil' || '.' AND STATE = 'NEW' AND AMOUNT = 1.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 FETCH FIRST 1 ROWS ONLY);
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- its inverse: update
UPDATE SHOP."ORDER#LOG" AS one SET "User" = 'o''neil', AMOUNT = 1.50 WHERE RID(one) = (SELECT RID(one) FROM SHOP."ORDER#LOG" AS one WHERE ID = 1 AND "User" || '.' = 'tab' || CHR(9) || 'back\' || '.' AND STATE = 'NEW' AND AMOUNT = -2.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 FETCH FIRST 1 ROWS ONLY);
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- no key: delete, --names exact, --where-columns key
DELETE FROM SHOP."ORDER#LOG" AS one WHERE RID(one) = (SELECT RID(one) FROM SHOP."ORDER#LOG" AS one WHERE ID = 1 AND "User" || '.' = 'o''neil' || '.' AND STATE = 'NEW' AND AMOUNT = 1.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 FETCH FIRST 1 ROWS ONLY);
DELETE FROM SHOP."ORDER#LOG" AS one WHERE RID(one) = (SELECT RID(one) FROM SHOP."ORDER#LOG" AS one WHERE ID = 2 AND "User" IS NULL AND STATE IS NULL AND AMOUNT IS NULL AND RATE IS NULL FETCH FIRST 1 ROWS ONLY);
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- its inverse: insert
INSERT INTO SHOP."ORDER#LOG" (ID, "User", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO SHOP."ORDER#LOG" (ID, "User", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- no key: delete, --names exact, --where-columns guard
DELETE FROM SHOP."ORDER#LOG" AS one WHERE RID(one) = (SELECT RID(one) FROM SHOP."ORDER#LOG" AS one WHERE ID = 1 AND "User" || '.' = 'o''neil' || '.' AND STATE = 'NEW' AND AMOUNT = 1.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 FETCH FIRST 1 ROWS ONLY);
DELETE FROM SHOP."ORDER#LOG" AS one WHERE RID(one) = (SELECT RID(one) FROM SHOP."ORDER#LOG" AS one WHERE ID = 2 AND "User" IS NULL AND STATE IS NULL AND AMOUNT IS NULL AND RATE IS NULL FETCH FIRST 1 ROWS ONLY);
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- its inverse: insert
INSERT INTO SHOP."ORDER#LOG" (ID, "User", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO SHOP."ORDER#LOG" (ID, "User", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- no key: delete, --names exact, --where-columns all
DELETE FROM SHOP."ORDER#LOG" AS one WHERE RID(one) = (SELECT RID(one) FROM SHOP."ORDER#LOG" AS one WHERE ID = 1 AND "User" || '.' = 'o''neil' || '.' AND STATE = 'NEW' AND AMOUNT = 1.50 AND RATE BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 FETCH FIRST 1 ROWS ONLY);
DELETE FROM SHOP."ORDER#LOG" AS one WHERE RID(one) = (SELECT RID(one) FROM SHOP."ORDER#LOG" AS one WHERE ID = 2 AND "User" IS NULL AND STATE IS NULL AND AMOUNT IS NULL AND RATE IS NULL FETCH FIRST 1 ROWS ONLY);
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- its inverse: insert
INSERT INTO SHOP."ORDER#LOG" (ID, "User", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO SHOP."ORDER#LOG" (ID, "User", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- key of a time and a float: insert, --names lower
INSERT INTO MEASURE ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES ('0001-01-01 00:00:00.000000', 0.000009999999747378752e0, '9999-12-31', NULL, NULL, BX'00ff', NULL, 0);
-- its inverse: delete
DELETE FROM MEASURE WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.000009999999747378752e0;
-- key of a time and a float: update, --names lower, --where-columns key
UPDATE MEASURE SET SPAN = 0.000009999999747378752e0, "DAY" = '9999-12-31', CLOCK = NULL, ZONED = NULL, "RAW" = BX'00ff', "SMALL-1" = NULL, BIG = 0 WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.10000000149011612e0;
-- its inverse: update
UPDATE MEASURE SET SPAN = 0.10000000149011612e0, "DAY" = '0001-01-01', CLOCK = '24:00:00', ZONED = '2024-02-29 10:00:00.500000+05:30', "RAW" = BX'', "SMALL-1" = -1, BIG = 9223372036854775807 WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.000009999999747378752e0;
-- key of a time and a float: update, --names lower, --where-columns guard
UPDATE MEASURE SET SPAN = 0.000009999999747378752e0, "DAY" = '9999-12-31', CLOCK = NULL, ZONED = NULL, "RAW" = BX'00ff', "SMALL-1" = NULL, BIG = 0 WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.10000000149011612e0 AND "DAY" = '0001-01-01' AND CLOCK = '24:00:00' AND ZONED = '2024-02-29 10:00:00.500000+05:30' AND "RAW" = BX'' AND "SMALL-1" = -1 AND BIG = 9223372036854775807;
-- its inverse: update
UPDATE MEASURE SET SPAN = 0.10000000149011612e0, "DAY" = '0001-01-01', CLOCK = '24:00:00', ZONED = '2024-02-29 10:00:00.500000+05:30', "RAW" = BX'', "SMALL-1" = -1, BIG = 9223372036854775807 WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.000009999999747378752e0 AND "DAY" = '9999-12-31' AND CLOCK IS NULL AND ZONED IS NULL AND "RAW" = BX'00ff' AND "SMALL-1" IS NULL AND BIG = 0;
-- key of a time and a float: update, --names lower, --where-columns all
UPDATE MEASURE SET SPAN = 0.000009999999747378752e0, "DAY" = '9999-12-31', CLOCK = NULL, ZONED = NULL, "RAW" = BX'00ff', "SMALL-1" = NULL, BIG = 0 WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.10000000149011612e0 AND "DAY" = '0001-01-01' AND CLOCK = '24:00:00' AND ZONED = '2024-02-29 10:00:00.500000+05:30' AND "RAW" = BX'' AND "SMALL-1" = -1 AND BIG = 9223372036854775807;
-- its inverse: update
UPDATE MEASURE SET SPAN = 0.10000000149011612e0, "DAY" = '0001-01-01', CLOCK = '24:00:00', ZONED = '2024-02-29 10:00:00.500000+05:30', "RAW" = BX'', "SMALL-1" = -1, BIG = 9223372036854775807 WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.000009999999747378752e0 AND "DAY" = '9999-12-31' AND CLOCK IS NULL AND ZONED IS NULL AND "RAW" = BX'00ff' AND "SMALL-1" IS NULL AND BIG = 0;
-- key of a time and a float: delete, --names lower, --where-columns key
DELETE FROM MEASURE WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.10000000149011612e0;
-- its inverse: insert
INSERT INTO MEASURE ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '24:00:00', '2024-02-29 10:00:00.500000+05:30', BX'', -1, 9223372036854775807);
-- key of a time and a float: delete, --names lower, --where-columns guard
DELETE FROM MEASURE WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.10000000149011612e0 AND "DAY" = '0001-01-01' AND CLOCK = '24:00:00' AND ZONED = '2024-02-29 10:00:00.500000+05:30' AND "RAW" = BX'' AND "SMALL-1" = -1 AND BIG = 9223372036854775807;
-- its inverse: insert
INSERT INTO MEASURE ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '24:00:00', '2024-02-29 10:00:00.500000+05:30', BX'', -1, 9223372036854775807);
-- key of a time and a float: delete, --names lower, --where-columns all
DELETE FROM MEASURE WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.10000000149011612e0 AND "DAY" = '0001-01-01' AND CLOCK = '24:00:00' AND ZONED = '2024-02-29 10:00:00.500000+05:30' AND "RAW" = BX'' AND "SMALL-1" = -1 AND BIG = 9223372036854775807;
-- its inverse: insert
INSERT INTO MEASURE ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '24:00:00', '2024-02-29 10:00:00.500000+05:30', BX'', -1, 9223372036854775807);
-- key of a time and a float: insert, --names exact
INSERT INTO MEASURE ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES ('0001-01-01 00:00:00.000000', 0.000009999999747378752e0, '9999-12-31', NULL, NULL, BX'00ff', NULL, 0);
-- its inverse: delete
DELETE FROM MEASURE WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.000009999999747378752e0;
-- key of a time and a float: update, --names exact, --where-columns key
UPDATE MEASURE SET SPAN = 0.000009999999747378752e0, "DAY" = '9999-12-31', CLOCK = NULL, ZONED = NULL, "RAW" = BX'00ff', "SMALL-1" = NULL, BIG = 0 WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.10000000149011612e0;
-- its inverse: update
UPDATE MEASURE SET SPAN = 0.10000000149011612e0, "DAY" = '0001-01-01', CLOCK = '24:00:00', ZONED = '2024-02-29 10:00:00.500000+05:30', "RAW" = BX'', "SMALL-1" = -1, BIG = 9223372036854775807 WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.000009999999747378752e0;
-- key of a time and a float: update, --names exact, --where-columns guard
UPDATE MEASURE SET SPAN = 0.000009999999747378752e0, "DAY" = '9999-12-31', CLOCK = NULL, ZONED = NULL, "RAW" = BX'00ff', "SMALL-1" = NULL, BIG = 0 WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.10000000149011612e0 AND "DAY" = '0001-01-01' AND CLOCK = '24:00:00' AND ZONED = '2024-02-29 10:00:00.500000+05:30' AND "RAW" = BX'' AND "SMALL-1" = -1 AND BIG = 9223372036854775807;
-- its inverse: update
UPDATE MEASURE SET SPAN = 0.10000000149011612e0, "DAY" = '0001-01-01', CLOCK = '24:00:00', ZONED = '2024-02-29 10:00:00.500000+05:30', "RAW" = BX'', "SMALL-1" = -1, BIG = 9223372036854775807 WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.000009999999747378752e0 AND "DAY" = '9999-12-31' AND CLOCK IS NULL AND ZONED IS NULL AND "RAW" = BX'00ff' AND "SMALL-1" IS NULL AND BIG = 0;
-- key of a time and a float: update, --names exact, --where-columns all
UPDATE MEASURE SET SPAN = 0.000009999999747378752e0, "DAY" = '9999-12-31', CLOCK = NULL, ZONED = NULL, "RAW" = BX'00ff', "SMALL-1" = NULL, BIG = 0 WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.10000000149011612e0 AND "DAY" = '0001-01-01' AND CLOCK = '24:00:00' AND ZONED = '2024-02-29 10:00:00.500000+05:30' AND "RAW" = BX'' AND "SMALL-1" = -1 AND BIG = 9223372036854775807;
-- its inverse: update
UPDATE MEASURE SET SPAN = 0.10000000149011612e0, "DAY" = '0001-01-01', CLOCK = '24:00:00', ZONED = '2024-02-29 10:00:00.500000+05:30', "RAW" = BX'', "SMALL-1" = -1, BIG = 9223372036854775807 WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.000009999999747378752e0 AND "DAY" = '9999-12-31' AND CLOCK IS NULL AND ZONED IS NULL AND "RAW" = BX'00ff' AND "SMALL-1" IS NULL AND BIG = 0;
-- key of a time and a float: delete, --names exact, --where-columns key
DELETE FROM MEASURE WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.10000000149011612e0;
-- its inverse: insert
INSERT INTO MEASURE ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '24:00:00', '2024-02-29 10:00:00.500000+05:30', BX'', -1, 9223372036854775807);
-- key of a time and a float: delete, --names exact, --where-columns guard
DELETE FROM MEASURE WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.10000000149011612e0 AND "DAY" = '0001-01-01' AND CLOCK = '24:00:00' AND ZONED = '2024-02-29 10:00:00.500000+05:30' AND "RAW" = BX'' AND "SMALL-1" = -1 AND BIG = 9223372036854775807;
-- its inverse: insert
INSERT INTO MEASURE ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '24:00:00', '2024-02-29 10:00:00.500000+05:30', BX'', -1, 9223372036854775807);
-- key of a time and a float: delete, --names exact, --where-columns all
DELETE FROM MEASURE WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.10000000149011612e0 AND "DAY" = '0001-01-01' AND CLOCK = '24:00:00' AND ZONED = '2024-02-29 10:00:00.500000+05:30' AND "RAW" = BX'' AND "SMALL-1" = -1 AND BIG = 9223372036854775807;
-- its inverse: insert
INSERT INTO MEASURE ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '24:00:00', '2024-02-29 10:00:00.500000+05:30', BX'', -1, 9223372036854775807);
-- excluded columns, blanks of CHAR kept
INSERT INTO SHOP."ORDER" (ID, STATE, RATE) VALUES (1, 'NEW ', 0.1e0);
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- (nothing)
-- LR3001 RATE: found nan; expected a number that db2 can hold
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
MERGE INTO SHOP."ORDER" AS t USING SYSIBM.SYSDUMMY1 ON (t.ID = 1) WHEN MATCHED THEN UPDATE SET "USER" = 'tab' || CHR(9) || 'back\', STATE = 'NEW', AMOUNT = -2.50, RATE = 0.1e0 WHEN NOT MATCHED THEN INSERT (ID, "USER", STATE, AMOUNT, RATE) VALUES (1, 'tab' || CHR(9) || 'back\', 'NEW', -2.50, 0.1e0);
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- its inverse: delete
DELETE FROM SHOP."ORDER" WHERE ID = 1;
DELETE FROM SHOP."ORDER" WHERE ID = 9;
DELETE FROM SHOP."ORDER" WHERE ID = 3;
-- upsert, key: update, --names lower
MERGE INTO SHOP."ORDER" AS t USING SYSIBM.SYSDUMMY1 ON (t.ID = 1) WHEN MATCHED THEN UPDATE SET "USER" = 'tab' || CHR(9) || 'back\', STATE = 'NEW', AMOUNT = -2.50, RATE = 0.1e0 WHEN NOT MATCHED THEN INSERT (ID, "USER", STATE, AMOUNT, RATE) VALUES (1, 'tab' || CHR(9) || 'back\', 'NEW', -2.50, 0.1e0);
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- (nothing)
-- its inverse: update
MERGE INTO SHOP."ORDER" AS t USING SYSIBM.SYSDUMMY1 ON (t.ID = 1) WHEN MATCHED THEN UPDATE SET "USER" = 'o''neil', STATE = 'NEW', AMOUNT = 1.50, RATE = 0.1e0 WHEN NOT MATCHED THEN INSERT (ID, "USER", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
DELETE FROM SHOP."ORDER" WHERE ID = 9;
MERGE INTO SHOP."ORDER" AS t USING SYSIBM.SYSDUMMY1 ON (t.ID = 2) WHEN MATCHED THEN UPDATE SET "USER" = NULL, STATE = NULL, AMOUNT = NULL, RATE = NULL WHEN NOT MATCHED THEN INSERT (ID, "USER", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
-- (nothing)
-- upsert, key: delete, --names lower
DELETE FROM SHOP."ORDER" WHERE ID = 1;
DELETE FROM SHOP."ORDER" WHERE ID = 2;
DELETE FROM SHOP."ORDER" WHERE ID = 3;
-- its inverse: insert
MERGE INTO SHOP."ORDER" AS t USING SYSIBM.SYSDUMMY1 ON (t.ID = 1) WHEN MATCHED THEN UPDATE SET "USER" = 'o''neil', STATE = 'NEW', AMOUNT = 1.50, RATE = 0.1e0 WHEN NOT MATCHED THEN INSERT (ID, "USER", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
MERGE INTO SHOP."ORDER" AS t USING SYSIBM.SYSDUMMY1 ON (t.ID = 2) WHEN MATCHED THEN UPDATE SET "USER" = NULL, STATE = NULL, AMOUNT = NULL, RATE = NULL WHEN NOT MATCHED THEN INSERT (ID, "USER", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- upsert, key: insert, --names exact
MERGE INTO SHOP."ORDER" AS t USING SYSIBM.SYSDUMMY1 ON (t.ID = 1) WHEN MATCHED THEN UPDATE SET "User" = 'tab' || CHR(9) || 'back\', STATE = 'NEW', AMOUNT = -2.50, RATE = 0.1e0 WHEN NOT MATCHED THEN INSERT (ID, "User", STATE, AMOUNT, RATE) VALUES (1, 'tab' || CHR(9) || 'back\', 'NEW', -2.50, 0.1e0);
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- its inverse: delete
DELETE FROM SHOP."ORDER" WHERE ID = 1;
DELETE FROM SHOP."ORDER" WHERE ID = 9;
DELETE FROM SHOP."ORDER" WHERE ID = 3;
-- upsert, key: update, --names exact
MERGE INTO SHOP."ORDER" AS t USING SYSIBM.SYSDUMMY1 ON (t.ID = 1) WHEN MATCHED THEN UPDATE SET "User" = 'tab' || CHR(9) || 'back\', STATE = 'NEW', AMOUNT = -2.50, RATE = 0.1e0 WHEN NOT MATCHED THEN INSERT (ID, "User", STATE, AMOUNT, RATE) VALUES (1, 'tab' || CHR(9) || 'back\', 'NEW', -2.50, 0.1e0);
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- (nothing)
-- its inverse: update
MERGE INTO SHOP."ORDER" AS t USING SYSIBM.SYSDUMMY1 ON (t.ID = 1) WHEN MATCHED THEN UPDATE SET "User" = 'o''neil', STATE = 'NEW', AMOUNT = 1.50, RATE = 0.1e0 WHEN NOT MATCHED THEN INSERT (ID, "User", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
DELETE FROM SHOP."ORDER" WHERE ID = 9;
MERGE INTO SHOP."ORDER" AS t USING SYSIBM.SYSDUMMY1 ON (t.ID = 2) WHEN MATCHED THEN UPDATE SET "User" = NULL, STATE = NULL, AMOUNT = NULL, RATE = NULL WHEN NOT MATCHED THEN INSERT (ID, "User", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
-- (nothing)
-- upsert, key: delete, --names exact
DELETE FROM SHOP."ORDER" WHERE ID = 1;
DELETE FROM SHOP."ORDER" WHERE ID = 2;
DELETE FROM SHOP."ORDER" WHERE ID = 3;
-- its inverse: insert
MERGE INTO SHOP."ORDER" AS t USING SYSIBM.SYSDUMMY1 ON (t.ID = 1) WHEN MATCHED THEN UPDATE SET "User" = 'o''neil', STATE = 'NEW', AMOUNT = 1.50, RATE = 0.1e0 WHEN NOT MATCHED THEN INSERT (ID, "User", STATE, AMOUNT, RATE) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
MERGE INTO SHOP."ORDER" AS t USING SYSIBM.SYSDUMMY1 ON (t.ID = 2) WHEN MATCHED THEN UPDATE SET "User" = NULL, STATE = NULL, AMOUNT = NULL, RATE = NULL WHEN NOT MATCHED THEN INSERT (ID, "User", STATE, AMOUNT, RATE) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that db2 can hold
-- upsert, key of a time and a float: insert, --names lower
MERGE INTO MEASURE AS t USING SYSIBM.SYSDUMMY1 ON (t."AT" = '0001-01-01 00:00:00.000000' AND t.SPAN = 0.000009999999747378752e0) WHEN MATCHED THEN UPDATE SET "DAY" = '9999-12-31', CLOCK = NULL, ZONED = NULL, "RAW" = BX'00ff', "SMALL-1" = NULL, BIG = 0 WHEN NOT MATCHED THEN INSERT ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES ('0001-01-01 00:00:00.000000', 0.000009999999747378752e0, '9999-12-31', NULL, NULL, BX'00ff', NULL, 0);
-- its inverse: delete
DELETE FROM MEASURE WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.000009999999747378752e0;
-- upsert, key of a time and a float: update, --names lower
DELETE FROM MEASURE WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.10000000149011612e0;
MERGE INTO MEASURE AS t USING SYSIBM.SYSDUMMY1 ON (t."AT" = '0001-01-01 00:00:00.000000' AND t.SPAN = 0.000009999999747378752e0) WHEN MATCHED THEN UPDATE SET "DAY" = '9999-12-31', CLOCK = NULL, ZONED = NULL, "RAW" = BX'00ff', "SMALL-1" = NULL, BIG = 0 WHEN NOT MATCHED THEN INSERT ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES ('0001-01-01 00:00:00.000000', 0.000009999999747378752e0, '9999-12-31', NULL, NULL, BX'00ff', NULL, 0);
-- its inverse: update
DELETE FROM MEASURE WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.000009999999747378752e0;
MERGE INTO MEASURE AS t USING SYSIBM.SYSDUMMY1 ON (t."AT" = '0001-01-01 00:00:00.000000' AND t.SPAN = 0.10000000149011612e0) WHEN MATCHED THEN UPDATE SET "DAY" = '0001-01-01', CLOCK = '24:00:00', ZONED = '2024-02-29 10:00:00.500000+05:30', "RAW" = BX'', "SMALL-1" = -1, BIG = 9223372036854775807 WHEN NOT MATCHED THEN INSERT ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '24:00:00', '2024-02-29 10:00:00.500000+05:30', BX'', -1, 9223372036854775807);
-- upsert, key of a time and a float: delete, --names lower
DELETE FROM MEASURE WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.10000000149011612e0;
-- its inverse: insert
MERGE INTO MEASURE AS t USING SYSIBM.SYSDUMMY1 ON (t."AT" = '0001-01-01 00:00:00.000000' AND t.SPAN = 0.10000000149011612e0) WHEN MATCHED THEN UPDATE SET "DAY" = '0001-01-01', CLOCK = '24:00:00', ZONED = '2024-02-29 10:00:00.500000+05:30', "RAW" = BX'', "SMALL-1" = -1, BIG = 9223372036854775807 WHEN NOT MATCHED THEN INSERT ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '24:00:00', '2024-02-29 10:00:00.500000+05:30', BX'', -1, 9223372036854775807);
-- upsert, key of a time and a float: insert, --names exact
MERGE INTO MEASURE AS t USING SYSIBM.SYSDUMMY1 ON (t."AT" = '0001-01-01 00:00:00.000000' AND t.SPAN = 0.000009999999747378752e0) WHEN MATCHED THEN UPDATE SET "DAY" = '9999-12-31', CLOCK = NULL, ZONED = NULL, "RAW" = BX'00ff', "SMALL-1" = NULL, BIG = 0 WHEN NOT MATCHED THEN INSERT ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES ('0001-01-01 00:00:00.000000', 0.000009999999747378752e0, '9999-12-31', NULL, NULL, BX'00ff', NULL, 0);
-- its inverse: delete
DELETE FROM MEASURE WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.000009999999747378752e0;
-- upsert, key of a time and a float: update, --names exact
DELETE FROM MEASURE WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.10000000149011612e0;
MERGE INTO MEASURE AS t USING SYSIBM.SYSDUMMY1 ON (t."AT" = '0001-01-01 00:00:00.000000' AND t.SPAN = 0.000009999999747378752e0) WHEN MATCHED THEN UPDATE SET "DAY" = '9999-12-31', CLOCK = NULL, ZONED = NULL, "RAW" = BX'00ff', "SMALL-1" = NULL, BIG = 0 WHEN NOT MATCHED THEN INSERT ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES ('0001-01-01 00:00:00.000000', 0.000009999999747378752e0, '9999-12-31', NULL, NULL, BX'00ff', NULL, 0);
-- its inverse: update
DELETE FROM MEASURE WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.000009999999747378752e0;
MERGE INTO MEASURE AS t USING SYSIBM.SYSDUMMY1 ON (t."AT" = '0001-01-01 00:00:00.000000' AND t.SPAN = 0.10000000149011612e0) WHEN MATCHED THEN UPDATE SET "DAY" = '0001-01-01', CLOCK = '24:00:00', ZONED = '2024-02-29 10:00:00.500000+05:30', "RAW" = BX'', "SMALL-1" = -1, BIG = 9223372036854775807 WHEN NOT MATCHED THEN INSERT ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '24:00:00', '2024-02-29 10:00:00.500000+05:30', BX'', -1, 9223372036854775807);
-- upsert, key of a time and a float: delete, --names exact
DELETE FROM MEASURE WHERE "AT" = '0001-01-01 00:00:00.000000' AND SPAN = 0.10000000149011612e0;
-- its inverse: insert
MERGE INTO MEASURE AS t USING SYSIBM.SYSDUMMY1 ON (t."AT" = '0001-01-01 00:00:00.000000' AND t.SPAN = 0.10000000149011612e0) WHEN MATCHED THEN UPDATE SET "DAY" = '0001-01-01', CLOCK = '24:00:00', ZONED = '2024-02-29 10:00:00.500000+05:30', "RAW" = BX'', "SMALL-1" = -1, BIG = 9223372036854775807 WHEN NOT MATCHED THEN INSERT ("AT", SPAN, "DAY", CLOCK, ZONED, "RAW", "SMALL-1", BIG) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '24:00:00', '2024-02-29 10:00:00.500000+05:30', BX'', -1, 9223372036854775807);
-- upsert, nothing but key: insert, --names lower
MERGE INTO SHOP.PAIR AS t USING SYSIBM.SYSDUMMY1 ON (t.ID = 1 AND t.AMOUNT = 2.50) WHEN NOT MATCHED THEN INSERT (ID, AMOUNT) VALUES (1, 2.50);
-- LR3013 AMOUNT: found NULL in the key; expected a value in every column of the key: NULL is equal to nothing
-- its inverse: delete
DELETE FROM SHOP.PAIR WHERE ID = 1 AND AMOUNT = 2.50;
DELETE FROM SHOP.PAIR WHERE ID = 2 AND AMOUNT IS NULL;
-- upsert, nothing but key: update, --names lower
DELETE FROM SHOP.PAIR WHERE ID = 1 AND AMOUNT = 1.50;
MERGE INTO SHOP.PAIR AS t USING SYSIBM.SYSDUMMY1 ON (t.ID = 1 AND t.AMOUNT = 2.50) WHEN NOT MATCHED THEN INSERT (ID, AMOUNT) VALUES (1, 2.50);
-- LR3013 AMOUNT: found NULL in the key; expected a value in every column of the key: NULL is equal to nothing
-- its inverse: update
DELETE FROM SHOP.PAIR WHERE ID = 1 AND AMOUNT = 2.50;
MERGE INTO SHOP.PAIR AS t USING SYSIBM.SYSDUMMY1 ON (t.ID = 1 AND t.AMOUNT = 1.50) WHEN NOT MATCHED THEN INSERT (ID, AMOUNT) VALUES (1, 1.50);
DELETE FROM SHOP.PAIR WHERE ID = 2 AND AMOUNT IS NULL;
MERGE INTO SHOP.PAIR AS t USING SYSIBM.SYSDUMMY1 ON (t.ID = 2 AND t.AMOUNT = 2.00) WHEN NOT MATCHED THEN INSERT (ID, AMOUNT) VALUES (2, 2.00);
-- upsert, nothing but key: delete, --names lower
DELETE FROM SHOP.PAIR WHERE ID = 1 AND AMOUNT = 1.50;
DELETE FROM SHOP.PAIR WHERE ID = 2 AND AMOUNT = 2.00;
-- its inverse: insert
MERGE INTO SHOP.PAIR AS t USING SYSIBM.SYSDUMMY1 ON (t.ID = 1 AND t.AMOUNT = 1.50) WHEN NOT MATCHED THEN INSERT (ID, AMOUNT) VALUES (1, 1.50);
MERGE INTO SHOP.PAIR AS t USING SYSIBM.SYSDUMMY1 ON (t.ID = 2 AND t.AMOUNT = 2.00) WHEN NOT MATCHED THEN INSERT (ID, AMOUNT) VALUES (2, 2.00);
-- upsert, nothing but key: insert, --names exact
MERGE INTO SHOP.PAIR AS t USING SYSIBM.SYSDUMMY1 ON (t.ID = 1 AND t.AMOUNT = 2.50) WHEN NOT MATCHED THEN INSERT (ID, AMOUNT) VALUES (1, 2.50);
-- LR3013 AMOUNT: found NULL in the key; expected a value in every column of the key: NULL is equal to nothing
-- its inverse: delete
DELETE FROM SHOP.PAIR WHERE ID = 1 AND AMOUNT = 2.50;
DELETE FROM SHOP.PAIR WHERE ID = 2 AND AMOUNT IS NULL;
-- upsert, nothing but key: update, --names exact
DELETE FROM SHOP.PAIR WHERE ID = 1 AND AMOUNT = 1.50;
MERGE INTO SHOP.PAIR AS t USING SYSIBM.SYSDUMMY1 ON (t.ID = 1 AND t.AMOUNT = 2.50) WHEN NOT MATCHED THEN INSERT (ID, AMOUNT) VALUES (1, 2.50);
-- LR3013 AMOUNT: found NULL in the key; expected a value in every column of the key: NULL is equal to nothing
-- its inverse: update
DELETE FROM SHOP.PAIR WHERE ID = 1 AND AMOUNT = 2.50;
MERGE INTO SHOP.PAIR AS t USING SYSIBM.SYSDUMMY1 ON (t.ID = 1 AND t.AMOUNT = 1.50) WHEN NOT MATCHED THEN INSERT (ID, AMOUNT) VALUES (1, 1.50);
DELETE FROM SHOP.PAIR WHERE ID = 2 AND AMOUNT IS NULL;
MERGE INTO SHOP.PAIR AS t USING SYSIBM.SYSDUMMY1 ON (t.ID = 2 AND t.AMOUNT = 2.00) WHEN NOT MATCHED THEN INSERT (ID, AMOUNT) VALUES (2, 2.00);
-- upsert, nothing but key: delete, --names exact
DELETE FROM SHOP.PAIR WHERE ID = 1 AND AMOUNT = 1.50;
DELETE FROM SHOP.PAIR WHERE ID = 2 AND AMOUNT = 2.00;
-- its inverse: insert
MERGE INTO SHOP.PAIR AS t USING SYSIBM.SYSDUMMY1 ON (t.ID = 1 AND t.AMOUNT = 1.50) WHEN NOT MATCHED THEN INSERT (ID, AMOUNT) VALUES (1, 1.50);
MERGE INTO SHOP.PAIR AS t USING SYSIBM.SYSDUMMY1 ON (t.ID = 2 AND t.AMOUNT = 2.00) WHEN NOT MATCHED THEN INSERT (ID, AMOUNT) VALUES (2, 2.00);
-- upsert: updates of which a part is known, and with excluded columns
UPDATE SHOP."ORDER" SET "USER" = 'tab' || CHR(9) || 'back\', AMOUNT = -2.50 WHERE ID = 1;
-- LR3013: found a change of the key of a row of SHOP.ORDER that cannot be written whole: values are not in the log, or columns or changes are left out; expected the whole row: --upsert puts it in place under its new key
-- (nothing)
UPDATE SHOP."ORDER" SET "USER" = 'tab' || CHR(9) || 'back\' WHERE ID = 1;
-- LR3001 RATE: found nan; expected a number that db2 can hold
-- (nothing)
