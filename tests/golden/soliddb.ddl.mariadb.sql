>> CREATE TABLE SHOP.DBA.CUSTOMER (ID INTEGER NOT NULL PRIMARY KEY, NAME VARCHAR(40), WNAME WVARCHAR(40) DEFAULT 'it''s', BALANCE DECIMAL(10, 2) DEFAULT -1.5 NOT NULL, CREATED TIMESTAMP, CREDIT BIGINT, NOTE LONG VARCHAR) STORE MEMORY
-- left out: STORE MEMORY
-- CUSTOMER.CREATED: TIMESTAMP(9) becomes DATETIME(6), lossy: six fraction digits
-- CUSTOMER.NOTE: CLOB becomes LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, widened: the length is not kept
CREATE TABLE `dba`.customer (id INT NOT NULL, name VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, wname VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT ('it''s'), balance DECIMAL(52, 2) DEFAULT (-1.50) NOT NULL, created DATETIME(6), credit BIGINT, note LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, PRIMARY KEY (id));
<< all of it
DROP TABLE `dba`.customer;
>> ALTER TABLE CUSTOMER ADD COLUMN TIER SMALLINT DEFAULT 5 NOT NULL
ALTER TABLE `dba`.customer ADD COLUMN tier SMALLINT DEFAULT (5) NOT NULL;
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
CREATE TABLE `dba`.orders (id INT NOT NULL, cust INT, qty SMALLINT DEFAULT (1) NOT NULL, kind CHAR(1) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT ('a'), `raw` VARBINARY(4) DEFAULT (X'01ff'), `day` DATE DEFAULT ('2024-02-29'), CONSTRAINT orders_pk PRIMARY KEY (id, qty), CHECK (qty > 0 AND qty < 100), CONSTRAINT kind_ck CHECK (kind IN ('a', 'b')), UNIQUE (cust, qty), CONSTRAINT orders_fk FOREIGN KEY (cust) REFERENCES `dba`.customer (id));
<< all of it
DROP TABLE `dba`.orders;
>> CREATE TABLE EVERY_TYPE (A TINYINT, B BIT, C REAL, D FLOAT(20), E NUMERIC(9, 2), F NUMERIC, G DECIMAL, H WCHAR(5), I LONG WVARCHAR, J LONG VARBINARY, K BINARY(4), L TIME, M VARCHAR, N VARBINARY, O CHAR, P DECIMAL(9), Q INTEGER) STORE DISK
-- left out: STORE DISK
-- EVERY_TYPE.G: DECFLOAT becomes VARCHAR(42), widened: text: no type has its range and its NaN
-- EVERY_TYPE.I: CLOB becomes LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, widened: the length is not kept
-- EVERY_TYPE.J: BLOB becomes LONGBLOB, widened: the length is not kept
-- EVERY_TYPE.M: CLOB becomes LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, widened: the length is not kept
-- EVERY_TYPE.N: BLOB becomes LONGBLOB, widened: the length is not kept
CREATE TABLE `dba`.every_type (a SMALLINT, b SMALLINT, c FLOAT, d DOUBLE, e DECIMAL(9, 2), f DECIMAL(52, 2), g VARCHAR(42), h CHAR(5) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, i LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, j LONGBLOB, k VARBINARY(4), l TIME, m LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, n LONGBLOB, o CHAR(1) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, p DECIMAL(52, 0), q INT);
<< all of it
DROP TABLE `dba`.every_type;
>> CREATE TABLE PART (ID INTEGER NOT NULL PRIMARY KEY, CUST INTEGER CONSTRAINT PART_FK REFERENCES CUSTOMER (ID) ON UPDATE CASCADE ON DELETE SET NULL)
CREATE TABLE `dba`.`part` (id INT NOT NULL, cust INT, PRIMARY KEY (id), CONSTRAINT part_fk FOREIGN KEY (cust) REFERENCES `dba`.customer (id) ON UPDATE CASCADE ON DELETE SET NULL);
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
CREATE UNIQUE INDEX customer_ix ON `dba`.customer(name DESC, id);
<< all of it
DROP INDEX customer_ix ON `dba`.customer;
>> CREATE INDEX ORDERS_IX ON DBA.ORDERS (DAY)
CREATE INDEX orders_ix ON `dba`.orders(`day`);
<< all of it
DROP INDEX orders_ix ON `dba`.orders;
>> CREATE SEQUENCE NUMBERS START WITH 5 INCREMENT BY -1
-- where the sequence stands is not in the log
CREATE SEQUENCE `dba`.numbers START WITH 5 INCREMENT BY -1 MINVALUE -9223372036854775807 MAXVALUE 9223372036854775806;
<< all of it
DROP SEQUENCE `dba`.numbers;
>> CREATE DENSE SEQUENCE GAPLESS
-- a DENSE sequence has no gaps; this one may have some
-- where the sequence stands is not in the log
CREATE SEQUENCE `dba`.gapless START WITH 1;
<< all of it
DROP SEQUENCE `dba`.gapless;
>> CREATE VIEW RICH (ID, LABEL) AS SELECT ID, NAME FROM CUSTOMER WHERE CREDIT > 5 WITH CHECK OPTION
CREATE VIEW `dba`.rich (id, `label`) AS SELECT id, name FROM `dba`.customer WHERE credit > 5 WITH CHECK OPTION;
<< all of it
DROP VIEW `dba`.rich;
>> CREATE VIEW COUNTED AS SELECT C.ID, COUNT(*) AS N FROM CUSTOMER AS C LEFT JOIN ORDERS AS O ON C.ID = O.CUST WHERE C.NAME <> 'x\y' GROUP BY C.ID HAVING COUNT(*) > 1 UNION ALL SELECT ID, 0 FROM CUSTOMER WHERE NAME LIKE 'a%'
CREATE VIEW `dba`.counted AS SELECT c.id, COUNT(*) AS n FROM `dba`.customer AS c LEFT JOIN `dba`.orders AS o ON c.id = o.cust WHERE c.name <> CONCAT('x', CHAR(92 USING utf8mb4), 'y') GROUP BY c.id HAVING COUNT(*) > 1 UNION ALL SELECT id, 0 FROM `dba`.customer WHERE name LIKE 'a%';
<< all of it
DROP VIEW `dba`.counted;
>> CREATE VIEW TREE AS SELECT LEVEL, ID FROM CUSTOMER START WITH ID = 1 CONNECT BY PRIOR ID = CREDIT
!! LR3003 found the statement …; expected what mariadb can say: 'SELECT LEVEL, ID FROM CUSTOMER START WITH ID = 1 CONNECT BY PRIOR ID = CREDIT': a hierarchical query
<< all of it
DROP VIEW `dba`.tree;
>> CREATE VIEW TODAY AS SELECT DAYOFWEEK(DAY) AS D FROM ORDERS
!! LR3003 found the statement …; expected what mariadb can say: 'DAYOFWEEK(DAY)' may mean something else in mariadb
<< all of it
DROP VIEW `dba`.today;
>> ALTER TABLE EVERY_TYPE MODIFY COLUMN H WCHAR(9)
ALTER TABLE `dba`.every_type MODIFY COLUMN h CHAR(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
<< all of it
ALTER TABLE `dba`.every_type MODIFY COLUMN h CHAR(5) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
>> ALTER TABLE EVERY_TYPE ALTER COLUMN O SET DEFAULT 'o'
ALTER TABLE `dba`.every_type ALTER COLUMN o SET DEFAULT ('o');
<< all of it
ALTER TABLE `dba`.every_type ALTER COLUMN o DROP DEFAULT;
>> ALTER TABLE EVERY_TYPE ALTER COLUMN O DROP DEFAULT
ALTER TABLE `dba`.every_type ALTER COLUMN o DROP DEFAULT;
<< all of it
ALTER TABLE `dba`.every_type ALTER COLUMN o SET DEFAULT ('o');
>> ALTER TABLE EVERY_TYPE ALTER COLUMN A ADD NOT NULL
ALTER TABLE `dba`.every_type MODIFY COLUMN a SMALLINT NOT NULL;
<< all of it
ALTER TABLE `dba`.every_type MODIFY COLUMN a SMALLINT;
>> ALTER TABLE EVERY_TYPE ALTER COLUMN A DROP NOT NULL
ALTER TABLE `dba`.every_type MODIFY COLUMN a SMALLINT;
<< all of it
ALTER TABLE `dba`.every_type MODIFY COLUMN a SMALLINT NOT NULL;
>> ALTER TABLE EVERY_TYPE ADD CONSTRAINT POSITIVE CHECK (A > 0)
ALTER TABLE `dba`.every_type ADD CONSTRAINT positive CHECK (a > 0);
<< all of it
ALTER TABLE `dba`.every_type DROP CONSTRAINT positive;
>> ALTER TABLE EVERY_TYPE ADD CONSTRAINT ONCE UNIQUE (A)
ALTER TABLE `dba`.every_type ADD CONSTRAINT once UNIQUE (a);
<< all of it
ALTER TABLE `dba`.every_type DROP CONSTRAINT once;
>> ALTER TABLE EVERY_TYPE ADD CONSTRAINT PARENT FOREIGN KEY (Q) REFERENCES CUSTOMER (ID) ON DELETE CASCADE
ALTER TABLE `dba`.every_type ADD CONSTRAINT parent FOREIGN KEY (q) REFERENCES `dba`.customer (id) ON DELETE CASCADE;
<< all of it
ALTER TABLE `dba`.every_type DROP CONSTRAINT parent;
>> ALTER TABLE EVERY_TYPE DROP CONSTRAINT PARENT
ALTER TABLE `dba`.every_type DROP CONSTRAINT parent;
<< all of it
ALTER TABLE `dba`.every_type ADD CONSTRAINT parent FOREIGN KEY (q) REFERENCES `dba`.customer (id) ON DELETE CASCADE;
>> ALTER TABLE EVERY_TYPE DROP COLUMN N
ALTER TABLE `dba`.every_type DROP COLUMN n;
<< the values of the column
-- EVERY_TYPE.N: BLOB becomes LONGBLOB, widened: the length is not kept
ALTER TABLE `dba`.every_type ADD COLUMN n LONGBLOB;
>> ALTER TABLE EVERY_TYPE SET TABLE NAME TYPES
ALTER TABLE `dba`.every_type RENAME `dba`.types;
<< all of it
ALTER TABLE `dba`.types RENAME `dba`.every_type;
>> ALTER TABLE TYPES MODIFY SCHEMA OTHER
ALTER TABLE `dba`.types RENAME TO other.types;
<< all of it
ALTER TABLE other.types RENAME TO `dba`.types;
>> ALTER TABLE OTHER.TYPES SET HISTORY COLUMNS (A, B)
-- left out: ALTER TABLE OTHER.TYPES SET HISTORY COLUMNS (A, B)
<< all of it
>> TRUNCATE TABLE OTHER.TYPES
DELETE FROM other.types;
<< the rows that TRUNCATE took are not in the log
>> DROP VIEW COUNTED
DROP VIEW `dba`.counted;
<< all of it
CREATE VIEW `dba`.counted AS SELECT c.id, COUNT(*) AS n FROM `dba`.customer AS c LEFT JOIN `dba`.orders AS o ON c.id = o.cust WHERE c.name <> CONCAT('x', CHAR(92 USING utf8mb4), 'y') GROUP BY c.id HAVING COUNT(*) > 1 UNION ALL SELECT id, 0 FROM `dba`.customer WHERE name LIKE 'a%';
>> DROP INDEX ORDERS_IX
DROP INDEX orders_ix ON `dba`.orders;
<< all of it
CREATE INDEX orders_ix ON `dba`.orders(`day`);
>> DROP SEQUENCE GAPLESS
DROP SEQUENCE `dba`.gapless;
<< where the sequence stood
-- a DENSE sequence has no gaps; this one may have some
-- where the sequence stands is not in the log
CREATE SEQUENCE `dba`.gapless START WITH 1;
>> DROP TABLE SESSIONS
-- left out: DROP TABLE SESSIONS; the rows of the table are not in the log, and it is not in the target
<< all of it
>> DROP TABLE ORDERS
DROP TABLE `dba`.orders;
<< the rows of the table
CREATE TABLE `dba`.orders (id INT NOT NULL, cust INT, qty SMALLINT DEFAULT (1) NOT NULL, kind CHAR(1) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT ('a'), `raw` VARBINARY(4) DEFAULT (X'01ff'), `day` DATE DEFAULT ('2024-02-29'), CONSTRAINT orders_pk PRIMARY KEY (id, qty), CHECK (qty > 0 AND qty < 100), CONSTRAINT kind_ck CHECK (kind IN ('a', 'b')), UNIQUE (cust, qty), CONSTRAINT orders_fk FOREIGN KEY (cust) REFERENCES `dba`.customer (id));
>> DROP VIEW RICH
DROP VIEW `dba`.rich;
<< all of it
CREATE VIEW `dba`.rich (id, `label`) AS SELECT id, name FROM `dba`.customer WHERE credit > 5 WITH CHECK OPTION;
>> DROP TABLE CUSTOMER CASCADE CONSTRAINTS
ALTER TABLE `dba`.`part` DROP CONSTRAINT part_fk;
-- foreign keys that refer to the table go first; the target refuses while one is left
DROP TABLE `dba`.customer;
<< the rows of the table, and foreign keys of tables that are not known
-- left out: STORE MEMORY
-- CUSTOMER.CREATED: TIMESTAMP(9) becomes DATETIME(6), lossy: six fraction digits
-- CUSTOMER.NOTE: CLOB becomes LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, widened: the length is not kept
CREATE TABLE `dba`.customer (id INT NOT NULL, name VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, wname VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT ('it''s'), balance DECIMAL(52, 2) DEFAULT (-1.50) NOT NULL, created DATETIME(6), credit BIGINT, note LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, ranking SMALLINT DEFAULT (5) NOT NULL, since DATE, PRIMARY KEY (id));
CREATE UNIQUE INDEX customer_ix ON `dba`.customer(name DESC, id);
ALTER TABLE `dba`.`part` ADD CONSTRAINT part_fk FOREIGN KEY (cust) REFERENCES `dba`.customer (id) ON UPDATE CASCADE ON DELETE SET NULL;
>> ALTER TABLE PART ENCRYPT
!! LR3021 found the statement …; expected a statement of solidDB: Expected what to alter. Line 1, Col: 24.
<< the statement is not understood
>> GRANT SELECT ON CUSTOMER TO PUBLIC
!! LR3003 found the statement …; expected what mariadb can say: it is no change of a table, index, view or sequence
<< the statement changes no table, index, view or sequence
