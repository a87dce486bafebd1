>> CREATE TABLE SHOP.DBA.CUSTOMER (ID INTEGER NOT NULL PRIMARY KEY, NAME VARCHAR(40), WNAME WVARCHAR(40) DEFAULT 'it''s', BALANCE DECIMAL(10, 2) DEFAULT -1.5 NOT NULL, CREATED TIMESTAMP, CREDIT BIGINT, NOTE LONG VARCHAR) STORE MEMORY
!! LR3003 found the statement …; expected what spark can say: column WNAME: spark has no default values
<< all of it
DROP TABLE `dba`.customer;
>> ALTER TABLE CUSTOMER ADD COLUMN TIER SMALLINT DEFAULT 5 NOT NULL
!! LR3003 found the statement …; expected what spark can say: spark adds no columns with a default value
<< all of it
ALTER TABLE `dba`.customer DROP COLUMN tier;
>> ALTER TABLE CUSTOMER ADD COLUMN SINCE DATE
ALTER TABLE `dba`.customer ADD COLUMN since DATE;
<< all of it
ALTER TABLE `dba`.customer DROP COLUMN since;
>> ALTER TABLE CUSTOMER RENAME COLUMN TIER RANKING
ALTER TABLE `dba`.customer RENAME COLUMN tier TO ranking;
<< all of it
ALTER TABLE `dba`.customer RENAME COLUMN ranking TO tier;
>> CREATE TABLE ORDERS (ID INTEGER NOT NULL, CUST INTEGER DEFAULT NULL, QTY SMALLINT DEFAULT 1 NOT NULL CHECK (QTY > 0 AND QTY < 100), KIND CHAR(1) DEFAULT 'a' CONSTRAINT KIND_CK CHECK (KIND IN ('a', 'b')), RAW VARBINARY(4) DEFAULT CAST('01FF' AS VARBINARY), DAY DATE DEFAULT '2024-02-29', CONSTRAINT ORDERS_PK PRIMARY KEY (ID, QTY), UNIQUE (CUST, QTY), CONSTRAINT ORDERS_FK FOREIGN KEY (CUST) REFERENCES CUSTOMER (ID))
!! LR3003 found the statement …; expected what spark can say: column QTY: spark has no default values
<< all of it
DROP TABLE `dba`.orders;
>> CREATE TABLE EVERY_TYPE (A TINYINT, B BIT, C REAL, D FLOAT(20), E NUMERIC(9, 2), F NUMERIC, G DECIMAL, H WCHAR(5), I LONG WVARCHAR, J LONG VARBINARY, K BINARY(4), L TIME, M VARCHAR, N VARBINARY, O CHAR, P DECIMAL(9), Q INTEGER) STORE DISK
-- left out: STORE DISK
-- EVERY_TYPE.F: DECIMAL(52,2) becomes DECIMAL(38, 2), lossy: 38 digits at most
-- EVERY_TYPE.G: DECFLOAT becomes STRING, widened: text: no type has its range and its NaN
-- EVERY_TYPE.H: CHAR(5) becomes STRING, widened: not padded; lengths are not enforced
-- EVERY_TYPE.I: CLOB becomes STRING, widened: the length is not kept
-- EVERY_TYPE.J: BLOB becomes BINARY, widened: the length is not kept
-- EVERY_TYPE.K: BINARY(4) becomes BINARY, widened: lengths are not enforced
-- EVERY_TYPE.L: TIME becomes STRING, widened: text HH:MM:SS
-- EVERY_TYPE.M: CLOB becomes STRING, widened: the length is not kept
-- EVERY_TYPE.N: BLOB becomes BINARY, widened: the length is not kept
-- EVERY_TYPE.O: CHAR(1) becomes STRING, widened: not padded; lengths are not enforced
-- EVERY_TYPE.P: DECIMAL(52,0) becomes DECIMAL(38, 0), lossy: 38 digits at most
CREATE TABLE `dba`.every_type (a SMALLINT, b SMALLINT, c FLOAT, d DOUBLE, e DECIMAL(9, 2), f DECIMAL(38, 2), g STRING, h STRING, i STRING, j BINARY, k BINARY, l STRING, m STRING, n BINARY, o STRING, p DECIMAL(38, 0), q INT);
<< all of it
DROP TABLE `dba`.every_type;
>> CREATE TABLE PART (ID INTEGER NOT NULL PRIMARY KEY, CUST INTEGER CONSTRAINT PART_FK REFERENCES CUSTOMER (ID) ON UPDATE CASCADE ON DELETE SET NULL)
!! LR3003 found the statement …; expected what spark can say: spark takes no foreign key constraint there
<< all of it
DROP TABLE `dba`.`part`;
>> CREATE TRANSIENT TABLE SESSIONS (ID INTEGER NOT NULL PRIMARY KEY)
-- left out: CREATE TRANSIENT TABLE SESSIONS (ID INTEGER NOT NULL PRIMARY KEY); its rows are not in the log
<< all of it
-- left out: DROP TABLE SESSIONS; the rows of the table are not in the log, and it is not in the target
>> CREATE INDEX SESSIONS_IX ON SESSIONS (ID)
-- left out: CREATE INDEX SESSIONS_IX ON SESSIONS(ID); the rows of the table are not in the log, and it is not in the target
<< all of it
-- left out: DROP INDEX SESSIONS_IX; the rows of the table are not in the log, and it is not in the target
>> CREATE UNIQUE INDEX CUSTOMER_IX ON CUSTOMER (NAME DESC, ID)
!! LR3003 found the statement …: found the unique index CUSTOMER_IX; spark has no indexes and does not enforce keys
<< all of it
-- left out: the index CUSTOMER_IX; spark has none
>> CREATE INDEX ORDERS_IX ON DBA.ORDERS (DAY)
-- left out: the index ORDERS_IX; spark has none
<< all of it
-- left out: the index ORDERS_IX; spark has none
>> CREATE SEQUENCE NUMBERS START WITH 5 INCREMENT BY -1
!! LR3003 found the statement …; expected what spark can say: spark has no sequences
<< all of it
!! LR3003 found the statement DROP SEQUENCE NUMBERS (for the statement …); expected what spark can say: spark has no sequences
>> CREATE DENSE SEQUENCE GAPLESS
!! LR3003 found the statement …; expected what spark can say: spark has no sequences
<< all of it
!! LR3003 found the statement DROP SEQUENCE GAPLESS (for the statement …); expected what spark can say: spark has no sequences
>> CREATE VIEW RICH (ID, LABEL) AS SELECT ID, NAME FROM CUSTOMER WHERE CREDIT > 5 WITH CHECK OPTION
!! LR3003 found the statement …; expected what spark can say: spark has no WITH CHECK OPTION
<< all of it
DROP VIEW `dba`.rich;
>> CREATE VIEW COUNTED AS SELECT C.ID, COUNT(*) AS N FROM CUSTOMER AS C LEFT JOIN ORDERS AS O ON C.ID = O.CUST WHERE C.NAME <> 'x\y' GROUP BY C.ID HAVING COUNT(*) > 1 UNION ALL SELECT ID, 0 FROM CUSTOMER WHERE NAME LIKE 'a%'
CREATE VIEW `dba`.counted AS SELECT c.id, COUNT(*) AS n FROM `dba`.customer AS c LEFT JOIN `dba`.orders AS o ON c.id = o.cust WHERE c.name <> 'x\\y' GROUP BY c.id HAVING COUNT(*) > 1 UNION ALL SELECT id, 0 FROM `dba`.customer WHERE name LIKE 'a%';
<< all of it
DROP VIEW `dba`.counted;
>> CREATE VIEW TREE AS SELECT LEVEL, ID FROM CUSTOMER START WITH ID = 1 CONNECT BY PRIOR ID = CREDIT
!! LR3003 found the statement …; expected what spark can say: 'SELECT LEVEL, ID FROM CUSTOMER START WITH ID = 1 CONNECT BY PRIOR ID = CREDIT': a hierarchical query
<< all of it
DROP VIEW `dba`.tree;
>> CREATE VIEW TODAY AS SELECT DAYOFWEEK(DAY) AS D FROM ORDERS
!! LR3003 found the statement …; expected what spark can say: 'DAYOFWEEK(DAY)' may mean something else in spark
<< all of it
DROP VIEW `dba`.today;
>> ALTER TABLE EVERY_TYPE MODIFY COLUMN H WCHAR(9)
-- EVERY_TYPE.H stays STRING
<< all of it
-- EVERY_TYPE.H stays STRING
>> ALTER TABLE EVERY_TYPE ALTER COLUMN O SET DEFAULT 'o'
!! LR3003 found the statement …; expected what spark can say: spark has no statement to change a default value
<< all of it
!! LR3003 found the statement ALTER TABLE EVERY_TYPE ALTER COLUMN O DROP DEFAULT (for the statement …); expected what spark can say: spark has no statement to take a default value away
>> ALTER TABLE EVERY_TYPE ALTER COLUMN O DROP DEFAULT
!! LR3003 found the statement …; expected what spark can say: spark has no statement to take a default value away
<< all of it
!! LR3003 found the statement ALTER TABLE EVERY_TYPE ALTER COLUMN O SET DEFAULT 'o' (for the statement …); expected what spark can say: spark has no statement to change a default value
>> ALTER TABLE EVERY_TYPE ALTER COLUMN A ADD NOT NULL
ALTER TABLE `dba`.every_type ALTER COLUMN a SET NOT NULL;
<< all of it
ALTER TABLE `dba`.every_type ALTER COLUMN a DROP NOT NULL;
>> ALTER TABLE EVERY_TYPE ALTER COLUMN A DROP NOT NULL
ALTER TABLE `dba`.every_type ALTER COLUMN a DROP NOT NULL;
<< all of it
ALTER TABLE `dba`.every_type ALTER COLUMN a SET NOT NULL;
>> ALTER TABLE EVERY_TYPE ADD CONSTRAINT POSITIVE CHECK (A > 0)
!! LR3003 found the statement …; expected what spark can say: spark takes no check constraint there
<< all of it
!! LR3003 found the statement ALTER TABLE EVERY_TYPE DROP CONSTRAINT POSITIVE (for the statement …); expected what spark can say: spark has no statement to drop a constraint
>> ALTER TABLE EVERY_TYPE ADD CONSTRAINT ONCE UNIQUE (A)
!! LR3003 found the statement …; expected what spark can say: spark takes no unique constraint there
<< all of it
!! LR3003 found the statement ALTER TABLE EVERY_TYPE DROP CONSTRAINT ONCE (for the statement …); expected what spark can say: spark has no statement to drop a constraint
>> ALTER TABLE EVERY_TYPE ADD CONSTRAINT PARENT FOREIGN KEY (Q) REFERENCES CUSTOMER (ID) ON DELETE CASCADE
!! LR3003 found the statement …; expected what spark can say: spark takes no foreign key constraint there
<< all of it
!! LR3003 found the statement ALTER TABLE EVERY_TYPE DROP CONSTRAINT PARENT (for the statement …); expected what spark can say: spark has no statement to drop a constraint
>> ALTER TABLE EVERY_TYPE DROP CONSTRAINT PARENT
!! LR3003 found the statement …; expected what spark can say: spark has no statement to drop a constraint
<< all of it
!! LR3003 found the statement ALTER TABLE EVERY_TYPE ADD CONSTRAINT PARENT FOREIGN KEY (Q) REFERENCES CUSTOMER (ID) ON DELETE CASCADE (for the statement …); expected what spark can say: spark takes no foreign key constraint there
>> ALTER TABLE EVERY_TYPE DROP COLUMN N
ALTER TABLE `dba`.every_type DROP COLUMN n;
<< the values of the column
-- EVERY_TYPE.N: BLOB becomes BINARY, widened: the length is not kept
ALTER TABLE `dba`.every_type ADD COLUMN n BINARY;
>> ALTER TABLE EVERY_TYPE SET TABLE NAME TYPES
ALTER TABLE `dba`.every_type RENAME TO `dba`.types;
<< all of it
ALTER TABLE `dba`.types RENAME TO `dba`.every_type;
>> ALTER TABLE TYPES MODIFY SCHEMA OTHER
!! LR3003 found the statement …; expected what spark can say: spark has no statement to move a table to another schema
<< all of it
!! LR3003 found the statement ALTER TABLE OTHER.TYPES MODIFY SCHEMA "DBA" (for the statement …); expected what spark can say: spark has no statement to move a table to another schema
>> ALTER TABLE OTHER.TYPES SET HISTORY COLUMNS (A, B)
-- left out: ALTER TABLE OTHER.TYPES SET HISTORY COLUMNS (A, B)
<< all of it
>> TRUNCATE TABLE OTHER.TYPES
DELETE FROM other.types;
<< the rows that TRUNCATE took are not in the log
>> DROP VIEW COUNTED
DROP VIEW `dba`.counted;
<< all of it
CREATE VIEW `dba`.counted AS SELECT c.id, COUNT(*) AS n FROM `dba`.customer AS c LEFT JOIN `dba`.orders AS o ON c.id = o.cust WHERE c.name <> 'x\\y' GROUP BY c.id HAVING COUNT(*) > 1 UNION ALL SELECT id, 0 FROM `dba`.customer WHERE name LIKE 'a%';
>> DROP INDEX ORDERS_IX
-- left out: the index ORDERS_IX; spark has none
<< all of it
-- left out: the index ORDERS_IX; spark has none
>> DROP SEQUENCE GAPLESS
!! LR3003 found the statement …; expected what spark can say: spark has no sequences
<< where the sequence stood
!! LR3003 found the statement CREATE DENSE SEQUENCE "DBA".GAPLESS (for the statement …); expected what spark can say: spark has no sequences
>> DROP TABLE SESSIONS
-- left out: DROP TABLE SESSIONS; the rows of the table are not in the log, and it is not in the target
<< all of it
>> DROP TABLE ORDERS
DROP TABLE `dba`.orders;
<< the rows of the table
!! LR3003 found the statement CREATE TABLE "DBA".ORDERS (ID INTEGER NOT NULL, CUST INTEGER DEFAULT NULL, QTY SMALLINT DEFAULT 1 NOT NULL CHECK (QTY > 0 AND QTY < 100), KIND CHAR(1) DEFAULT 'a' CONSTRAINT KIND_CK CHECK (KIND IN ('a', 'b')), RAW VARBINARY(4) DEFAULT CAST('01FF' AS VARBINARY), DAY DATE DEFAULT '2024-02-29', CONSTRAINT ORDERS_PK PRIMARY KEY (ID, QTY), UNIQUE (CUST, QTY), CONSTRAINT ORDERS_FK FOREIGN KEY (CUST) REFERENCES "DBA".CUSTOMER (ID)) (for the statement …); expected what spark can say: column QTY: spark has no default values
>> DROP VIEW RICH
DROP VIEW `dba`.rich;
<< all of it
!! LR3003 found the statement CREATE VIEW "DBA".RICH (ID, LABEL) AS SELECT ID, NAME FROM "DBA".CUSTOMER WHERE CREDIT > 5 WITH CHECK OPTION (for the statement …); expected what spark can say: spark has no WITH CHECK OPTION
>> DROP TABLE CUSTOMER CASCADE CONSTRAINTS
!! LR3003 found the statement ALTER TABLE "DBA".PART DROP CONSTRAINT PART_FK (for the statement …); expected what spark can say: spark has no statement to drop a constraint
<< the rows of the table, and foreign keys of tables that are not known
!! LR3003 found the statement CREATE TABLE SHOP.DBA.CUSTOMER (ID INTEGER NOT NULL PRIMARY KEY, NAME VARCHAR(40), WNAME WVARCHAR(40) DEFAULT 'it''s', BALANCE DECIMAL(10, 2) DEFAULT -1.5 NOT NULL, CREATED TIMESTAMP, CREDIT BIGINT, NOTE LONG VARCHAR, RANKING SMALLINT DEFAULT 5 NOT NULL, SINCE DATE) STORE MEMORY (for the statement …); expected what spark can say: column WNAME: spark has no default values
>> ALTER TABLE PART ENCRYPT
!! LR3021 found the statement …; expected a statement of solidDB: Expected what to alter. Line 1, Col: 24.
<< the statement is not understood
>> GRANT SELECT ON CUSTOMER TO PUBLIC
!! LR3003 found the statement …; expected what spark can say: it is no change of a table, index, view or sequence
<< the statement changes no table, index, view or sequence
