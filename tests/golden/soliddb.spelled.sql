create table t (a int, b float(20), c float, d nchar(3), e national character varying(4), f clob, g blob, h nclob, i binary large object, j dec(5), k character varying(9))
CREATE TABLE t (a INTEGER, b DOUBLE PRECISION, c DOUBLE PRECISION, d WCHAR(3), e WVARCHAR(4), f LONG VARCHAR, g LONG VARBINARY, h LONG WVARCHAR, i LONG VARBINARY, j DECIMAL(5), k VARCHAR(9))
CREATE UNIQUE INDEX DBA.I1 ON DBA.ORDERS (CUST DESC, QTY)
CREATE UNIQUE INDEX DBA.I1 ON DBA.ORDERS(CUST DESC, QTY)
create index i on t (a asc, b desc)
CREATE INDEX i ON t(a, b DESC)
ALTER TABLE CUSTOMER ADD TIER SMALLINT
ALTER TABLE CUSTOMER ADD COLUMN TIER SMALLINT
ALTER TABLE T RENAME A B
ALTER TABLE T RENAME COLUMN A B
SELECT A FROM T LIMIT 5, 10
SELECT A FROM T LIMIT 10 OFFSET 5
SELECT A FROM T -- (* vendor(SOLID), product(Engine), option(hint) INDEX I *)
SELECT A FROM T
create table t (a decimal, b dec(9,2), c double, d character large object, e varwchar(3), f national char(2), g char varying(4)) store memory
CREATE TABLE t (a DECIMAL, b DECIMAL(9, 2), c DOUBLE PRECISION, d LONG VARCHAR, e WVARCHAR(3), f WCHAR(2), g VARCHAR(4)) STORE MEMORY
drop table a.b.c cascade
DROP TABLE a.b.c CASCADE
create dense sequence s increment by 5 start with 2
CREATE DENSE SEQUENCE s START WITH 2 INCREMENT BY 5
