>> CREATE TABLE SHOP.DBA.CUSTOMER (ID INTEGER NOT NULL PRIMARY KEY, NAME VARCHAR(40), WNAME WVARCHAR(40) DEFAULT 'it''s', BALANCE DECIMAL(10, 2) DEFAULT -1.5 NOT NULL, CREATED TIMESTAMP, CREDIT BIGINT, NOTE LONG VARCHAR) STORE MEMORY
-- left out: STORE MEMORY
-- CUSTOMER.ID: INTEGER becomes INT, widened: a NUMBER(38, 0)
-- CUSTOMER.BALANCE: DECIMAL(52,2) becomes DECIMAL(38, 2), lossy: 38 digits at most
-- CUSTOMER.CREDIT: BIGINT becomes BIGINT, widened: a NUMBER(38, 0)
-- CUSTOMER.NOTE: CLOB becomes VARCHAR, widened: the length is not kept
CREATE TABLE "DBA".CUSTOMER (ID INT NOT NULL, NAME VARCHAR(40), WNAME VARCHAR(40) DEFAULT 'it''s', BALANCE DECIMAL(38, 2) DEFAULT -1.50 NOT NULL, CREATED TIMESTAMP_NTZ(9), CREDIT BIGINT, NOTE VARCHAR, PRIMARY KEY (ID));
<< all of it
DROP TABLE "DBA".CUSTOMER;
>> ALTER TABLE CUSTOMER ADD COLUMN TIER SMALLINT DEFAULT 5 NOT NULL
-- CUSTOMER.TIER: SMALLINT becomes SMALLINT, widened: a NUMBER(38, 0)
ALTER TABLE "DBA".CUSTOMER ADD COLUMN TIER SMALLINT DEFAULT 5 NOT NULL;
<< all of it
ALTER TABLE "DBA".CUSTOMER DROP COLUMN TIER;
>> ALTER TABLE CUSTOMER ADD COLUMN SINCE DATE
ALTER TABLE "DBA".CUSTOMER ADD COLUMN SINCE DATE;
<< all of it
ALTER TABLE "DBA".CUSTOMER DROP COLUMN SINCE;
>> ALTER TABLE CUSTOMER RENAME COLUMN TIER RANKING
ALTER TABLE "DBA".CUSTOMER RENAME COLUMN TIER TO RANKING;
<< all of it
ALTER TABLE "DBA".CUSTOMER RENAME COLUMN RANKING TO TIER;
>> CREATE TABLE ORDERS (ID INTEGER NOT NULL, CUST INTEGER DEFAULT NULL, QTY SMALLINT DEFAULT 1 NOT NULL CHECK (QTY > 0 AND QTY < 100), KIND CHAR(1) DEFAULT 'a' CONSTRAINT KIND_CK CHECK (KIND IN ('a', 'b')), RAW VARBINARY(4) DEFAULT CAST('01FF' AS VARBINARY), DAY DATE DEFAULT '2024-02-29', CONSTRAINT ORDERS_PK PRIMARY KEY (ID, QTY), UNIQUE (CUST, QTY), CONSTRAINT ORDERS_FK FOREIGN KEY (CUST) REFERENCES CUSTOMER (ID))
!! LR3003 found the statement …; expected what snowflake can say: snowflake takes no check constraint there
<< all of it
DROP TABLE "DBA".ORDERS;
>> CREATE TABLE EVERY_TYPE (A TINYINT, B BIT, C REAL, D FLOAT(20), E NUMERIC(9, 2), F NUMERIC, G DECIMAL, H WCHAR(5), I LONG WVARCHAR, J LONG VARBINARY, K BINARY(4), L TIME, M VARCHAR, N VARBINARY, O CHAR, P DECIMAL(9), Q INTEGER) STORE DISK
-- left out: STORE DISK
-- EVERY_TYPE.A: SMALLINT becomes SMALLINT, widened: a NUMBER(38, 0)
-- EVERY_TYPE.B: SMALLINT becomes SMALLINT, widened: a NUMBER(38, 0)
-- EVERY_TYPE.C: REAL becomes FLOAT, widened: a double
-- EVERY_TYPE.F: DECIMAL(52,2) becomes DECIMAL(38, 2), lossy: 38 digits at most
-- EVERY_TYPE.G: DECFLOAT becomes VARCHAR(42), widened: text: no type has its range and its NaN
-- EVERY_TYPE.H: CHAR(5) becomes VARCHAR(5), widened: not padded
-- EVERY_TYPE.I: CLOB becomes VARCHAR, widened: the length is not kept
-- EVERY_TYPE.J: BLOB becomes BINARY, widened: the length is not kept
-- EVERY_TYPE.K: BINARY(4) becomes BINARY(4), widened: may be shorter
-- EVERY_TYPE.L: TIME becomes TIME(0), lossy: no 24:00:00
-- EVERY_TYPE.M: CLOB becomes VARCHAR, widened: the length is not kept
-- EVERY_TYPE.N: BLOB becomes BINARY, widened: the length is not kept
-- EVERY_TYPE.O: CHAR(1) becomes VARCHAR(1), widened: not padded
-- EVERY_TYPE.P: DECIMAL(52,0) becomes DECIMAL(38, 0), lossy: 38 digits at most
-- EVERY_TYPE.Q: INTEGER becomes INT, widened: a NUMBER(38, 0)
CREATE TABLE "DBA".EVERY_TYPE (A SMALLINT, B SMALLINT, C FLOAT, D FLOAT, E DECIMAL(9, 2), F DECIMAL(38, 2), G VARCHAR(42), H VARCHAR(5), I VARCHAR, J BINARY, K BINARY(4), L TIME(0), M VARCHAR, N BINARY, O VARCHAR(1), P DECIMAL(38, 0), Q INT);
<< all of it
DROP TABLE "DBA".EVERY_TYPE;
>> CREATE TABLE PART (ID INTEGER NOT NULL PRIMARY KEY, CUST INTEGER CONSTRAINT PART_FK REFERENCES CUSTOMER (ID) ON UPDATE CASCADE ON DELETE SET NULL)
!! LR3003 found the statement …; expected what snowflake can say: snowflake has no foreign keys with ON UPDATE CASCADE
<< all of it
DROP TABLE "DBA"."PART";
>> CREATE TRANSIENT TABLE SESSIONS (ID INTEGER NOT NULL PRIMARY KEY)
-- left out: CREATE TRANSIENT TABLE SESSIONS (ID INTEGER NOT NULL PRIMARY KEY); its rows are not in the log
<< all of it
-- left out: DROP TABLE SESSIONS; the rows of the table are not in the log, and it is not in the target
>> CREATE INDEX SESSIONS_IX ON SESSIONS (ID)
-- left out: CREATE INDEX SESSIONS_IX ON SESSIONS(ID); the rows of the table are not in the log, and it is not in the target
<< all of it
-- left out: DROP INDEX SESSIONS_IX; the rows of the table are not in the log, and it is not in the target
>> CREATE UNIQUE INDEX CUSTOMER_IX ON CUSTOMER (NAME DESC, ID)
!! LR3003 found the statement …: found the unique index CUSTOMER_IX; snowflake has no indexes and does not enforce keys
<< all of it
-- left out: the index CUSTOMER_IX; snowflake has none
>> CREATE INDEX ORDERS_IX ON DBA.ORDERS (DAY)
-- left out: the index ORDERS_IX; snowflake has none
<< all of it
-- left out: the index ORDERS_IX; snowflake has none
>> CREATE SEQUENCE NUMBERS START WITH 5 INCREMENT BY -1
-- where the sequence stands is not in the log
CREATE SEQUENCE "DBA".NUMBERS START WITH 5 INCREMENT BY -1 MINVALUE -9223372036854775807 MAXVALUE 9223372036854775806;
<< all of it
DROP SEQUENCE "DBA".NUMBERS;
>> CREATE DENSE SEQUENCE GAPLESS
-- a DENSE sequence has no gaps; this one may have some
-- where the sequence stands is not in the log
CREATE SEQUENCE "DBA".GAPLESS START WITH 1;
<< all of it
DROP SEQUENCE "DBA".GAPLESS;
>> CREATE VIEW RICH (ID, LABEL) AS SELECT ID, NAME FROM CUSTOMER WHERE CREDIT > 5 WITH CHECK OPTION
!! LR3003 found the statement …; expected what snowflake can say: snowflake has no WITH CHECK OPTION
<< all of it
DROP VIEW "DBA".RICH;
>> CREATE VIEW COUNTED AS SELECT C.ID, COUNT(*) AS N FROM CUSTOMER AS C LEFT JOIN ORDERS AS O ON C.ID = O.CUST WHERE C.NAME <> 'x\y' GROUP BY C.ID HAVING COUNT(*) > 1 UNION ALL SELECT ID, 0 FROM CUSTOMER WHERE NAME LIKE 'a%'
CREATE VIEW "DBA".COUNTED AS SELECT C.ID, COUNT(*) AS N FROM "DBA".CUSTOMER AS C LEFT JOIN "DBA".ORDERS AS O ON C.ID = O.CUST WHERE C.NAME <> 'x' || CHR(92) || 'y' GROUP BY C.ID HAVING COUNT(*) > 1 UNION ALL SELECT ID, 0 FROM "DBA".CUSTOMER WHERE NAME LIKE 'a%';
<< all of it
DROP VIEW "DBA".COUNTED;
>> CREATE VIEW TREE AS SELECT LEVEL, ID FROM CUSTOMER START WITH ID = 1 CONNECT BY PRIOR ID = CREDIT
!! LR3003 found the statement …; expected what snowflake can say: 'SELECT LEVEL, ID FROM CUSTOMER START WITH ID = 1 CONNECT BY PRIOR ID = CREDIT': a hierarchical query
<< all of it
DROP VIEW "DBA".TREE;
>> CREATE VIEW TODAY AS SELECT DAYOFWEEK(DAY) AS D FROM ORDERS
!! LR3003 found the statement …; expected what snowflake can say: 'DAYOFWEEK(DAY)' may mean something else in snowflake
<< all of it
DROP VIEW "DBA".TODAY;
>> ALTER TABLE EVERY_TYPE MODIFY COLUMN H WCHAR(9)
-- EVERY_TYPE.H: CHAR(9) becomes VARCHAR(9), widened: not padded
ALTER TABLE "DBA".EVERY_TYPE ALTER COLUMN H SET DATA TYPE VARCHAR(9);
<< all of it
-- EVERY_TYPE.H: CHAR(5) becomes VARCHAR(5), widened: not padded
ALTER TABLE "DBA".EVERY_TYPE ALTER COLUMN H SET DATA TYPE VARCHAR(5);
>> ALTER TABLE EVERY_TYPE ALTER COLUMN O SET DEFAULT 'o'
!! LR3003 found the statement …; expected what snowflake can say: snowflake has no statement to change a default value
<< all of it
ALTER TABLE "DBA".EVERY_TYPE ALTER COLUMN O DROP DEFAULT;
>> ALTER TABLE EVERY_TYPE ALTER COLUMN O DROP DEFAULT
ALTER TABLE "DBA".EVERY_TYPE ALTER COLUMN O DROP DEFAULT;
<< all of it
!! LR3003 found the statement ALTER TABLE EVERY_TYPE ALTER COLUMN O SET DEFAULT 'o' (for the statement …); expected what snowflake can say: snowflake has no statement to change a default value
>> ALTER TABLE EVERY_TYPE ALTER COLUMN A ADD NOT NULL
ALTER TABLE "DBA".EVERY_TYPE ALTER COLUMN A SET NOT NULL;
<< all of it
ALTER TABLE "DBA".EVERY_TYPE ALTER COLUMN A DROP NOT NULL;
>> ALTER TABLE EVERY_TYPE ALTER COLUMN A DROP NOT NULL
ALTER TABLE "DBA".EVERY_TYPE ALTER COLUMN A DROP NOT NULL;
<< all of it
ALTER TABLE "DBA".EVERY_TYPE ALTER COLUMN A SET NOT NULL;
>> ALTER TABLE EVERY_TYPE ADD CONSTRAINT POSITIVE CHECK (A > 0)
!! LR3003 found the statement …; expected what snowflake can say: snowflake takes no check constraint there
<< all of it
ALTER TABLE "DBA".EVERY_TYPE DROP CONSTRAINT POSITIVE;
>> ALTER TABLE EVERY_TYPE ADD CONSTRAINT ONCE UNIQUE (A)
ALTER TABLE "DBA".EVERY_TYPE ADD CONSTRAINT ONCE UNIQUE (A);
<< all of it
ALTER TABLE "DBA".EVERY_TYPE DROP CONSTRAINT ONCE;
>> ALTER TABLE EVERY_TYPE ADD CONSTRAINT PARENT FOREIGN KEY (Q) REFERENCES CUSTOMER (ID) ON DELETE CASCADE
!! LR3003 found the statement …; expected what snowflake can say: snowflake has no foreign keys with ON DELETE CASCADE
<< all of it
ALTER TABLE "DBA".EVERY_TYPE DROP CONSTRAINT PARENT;
>> ALTER TABLE EVERY_TYPE DROP CONSTRAINT PARENT
ALTER TABLE "DBA".EVERY_TYPE DROP CONSTRAINT PARENT;
<< all of it
!! LR3003 found the statement ALTER TABLE EVERY_TYPE ADD CONSTRAINT PARENT FOREIGN KEY (Q) REFERENCES CUSTOMER (ID) ON DELETE CASCADE (for the statement …); expected what snowflake can say: snowflake has no foreign keys with ON DELETE CASCADE
>> ALTER TABLE EVERY_TYPE DROP COLUMN N
ALTER TABLE "DBA".EVERY_TYPE DROP COLUMN N;
<< the values of the column
-- EVERY_TYPE.N: BLOB becomes BINARY, widened: the length is not kept
ALTER TABLE "DBA".EVERY_TYPE ADD COLUMN N BINARY;
>> ALTER TABLE EVERY_TYPE SET TABLE NAME TYPES
ALTER TABLE "DBA".EVERY_TYPE RENAME TO "DBA".TYPES;
<< all of it
ALTER TABLE "DBA".TYPES RENAME TO "DBA".EVERY_TYPE;
>> ALTER TABLE TYPES MODIFY SCHEMA OTHER
ALTER TABLE "DBA".TYPES RENAME TO OTHER.TYPES;
<< all of it
ALTER TABLE OTHER.TYPES RENAME TO "DBA".TYPES;
>> ALTER TABLE OTHER.TYPES SET HISTORY COLUMNS (A, B)
-- left out: ALTER TABLE OTHER.TYPES SET HISTORY COLUMNS (A, B)
<< all of it
>> TRUNCATE TABLE OTHER.TYPES
DELETE FROM OTHER.TYPES;
<< the rows that TRUNCATE took are not in the log
>> DROP VIEW COUNTED
DROP VIEW "DBA".COUNTED;
<< all of it
CREATE VIEW "DBA".COUNTED AS SELECT C.ID, COUNT(*) AS N FROM "DBA".CUSTOMER AS C LEFT JOIN "DBA".ORDERS AS O ON C.ID = O.CUST WHERE C.NAME <> 'x' || CHR(92) || 'y' GROUP BY C.ID HAVING COUNT(*) > 1 UNION ALL SELECT ID, 0 FROM "DBA".CUSTOMER WHERE NAME LIKE 'a%';
>> DROP INDEX ORDERS_IX
-- left out: the index ORDERS_IX; snowflake has none
<< all of it
-- left out: the index ORDERS_IX; snowflake has none
>> DROP SEQUENCE GAPLESS
DROP SEQUENCE "DBA".GAPLESS;
<< where the sequence stood
-- a DENSE sequence has no gaps; this one may have some
-- where the sequence stands is not in the log
CREATE SEQUENCE "DBA".GAPLESS START WITH 1;
>> DROP TABLE SESSIONS
-- left out: DROP TABLE SESSIONS; the rows of the table are not in the log, and it is not in the target
<< all of it
>> DROP TABLE ORDERS
DROP TABLE "DBA".ORDERS;
<< the rows of the table
!! LR3003 found the statement CREATE TABLE "DBA".ORDERS (ID INTEGER NOT NULL, CUST INTEGER DEFAULT NULL, QTY SMALLINT DEFAULT 1 NOT NULL CHECK (QTY > 0 AND QTY < 100), KIND CHAR(1) DEFAULT 'a' CONSTRAINT KIND_CK CHECK (KIND IN ('a', 'b')), RAW VARBINARY(4) DEFAULT CAST('01FF' AS VARBINARY), DAY DATE DEFAULT '2024-02-29', CONSTRAINT ORDERS_PK PRIMARY KEY (ID, QTY), UNIQUE (CUST, QTY), CONSTRAINT ORDERS_FK FOREIGN KEY (CUST) REFERENCES "DBA".CUSTOMER (ID)) (for the statement …); expected what snowflake can say: snowflake takes no check constraint there
>> DROP VIEW RICH
DROP VIEW "DBA".RICH;
<< all of it
!! LR3003 found the statement CREATE VIEW "DBA".RICH (ID, LABEL) AS SELECT ID, NAME FROM "DBA".CUSTOMER WHERE CREDIT > 5 WITH CHECK OPTION (for the statement …); expected what snowflake can say: snowflake has no WITH CHECK OPTION
>> DROP TABLE CUSTOMER CASCADE CONSTRAINTS
ALTER TABLE "DBA"."PART" DROP CONSTRAINT PART_FK;
-- foreign keys that refer to the table go first; the target refuses while one is left
DROP TABLE "DBA".CUSTOMER;
<< the rows of the table, and foreign keys of tables that are not known
!! LR3003 found the statement CREATE UNIQUE INDEX "DBA".CUSTOMER_IX ON "DBA".CUSTOMER(NAME DESC, ID): found the unique index CUSTOMER_IX; snowflake has no indexes and does not enforce keys (for the statement …)
>> ALTER TABLE PART ENCRYPT
!! LR3021 found the statement …; expected a statement of solidDB: Expected what to alter. Line 1, Col: 24.
<< the statement is not understood
>> GRANT SELECT ON CUSTOMER TO PUBLIC
!! LR3003 found the statement …; expected what snowflake can say: it is no change of a table, index, view or sequence
<< the statement changes no table, index, view or sequence
