-- logreplay redo script for spark. Stop at the first error, for example: spark-sql -f this-file
SET spark.sql.parser.escapedStringLiterals = false;
SET spark.sql.ansi.enabled = true;
-- unit URID=00AB authid=A\u000A\u202EB plan=
-- key: insert, --names lower
INSERT INTO shop.`order` (id, `user`, state, amount, rate) VALUES (1, 'tab\tback\\', 'NEW', -2.50, CAST('0.1' AS DOUBLE));
INSERT INTO shop.`order` (id, `user`, state, amount, rate) VALUES (9, '', '', 0.01, CAST('NaN' AS DOUBLE));
INSERT INTO shop.`order` (id, `user`, state, amount, rate) VALUES (3, 'a', 'OLD', 0.00, CAST('Infinity' AS DOUBLE));
-- its inverse: delete
DELETE FROM shop.`order` WHERE id = 1;
DELETE FROM shop.`order` WHERE id = 9;
DELETE FROM shop.`order` WHERE id = 3;
-- key: update, --names lower, --where-columns key
UPDATE shop.`order` SET `user` = 'tab\tback\\', amount = -2.50 WHERE id = 1;
UPDATE shop.`order` SET id = 9, `user` = '', state = '', amount = 0.01, rate = CAST('NaN' AS DOUBLE) WHERE id = 2;
-- (nothing)
-- its inverse: update
UPDATE shop.`order` SET `user` = 'o\'neil', amount = 1.50 WHERE id = 1;
UPDATE shop.`order` SET id = 2, `user` = NULL, state = NULL, amount = NULL, rate = NULL WHERE id = 9;
-- (nothing)
-- key: update, --names lower, --where-columns guard
UPDATE shop.`order` SET `user` = 'tab\tback\\', amount = -2.50 WHERE id = 1 AND `user` = 'o\'neil' AND amount = 1.50;
UPDATE shop.`order` SET id = 9, `user` = '', state = '', amount = 0.01, rate = CAST('NaN' AS DOUBLE) WHERE id = 2 AND `user` IS NULL AND state IS NULL AND amount IS NULL AND rate IS NULL;
-- (nothing)
-- its inverse: update
UPDATE shop.`order` SET `user` = 'o\'neil', amount = 1.50 WHERE id = 1 AND `user` = 'tab\tback\\' AND amount = -2.50;
UPDATE shop.`order` SET id = 2, `user` = NULL, state = NULL, amount = NULL, rate = NULL WHERE id = 9 AND `user` = '' AND state = '' AND amount = 0.01 AND rate BETWEEN CAST('NaN' AS DOUBLE) AND CAST('NaN' AS DOUBLE);
-- (nothing)
-- key: update, --names lower, --where-columns all
UPDATE shop.`order` SET `user` = 'tab\tback\\', amount = -2.50 WHERE id = 1 AND `user` = 'o\'neil' AND state = 'NEW' AND amount = 1.50 AND rate BETWEEN CAST('0.09999999999999995' AS DOUBLE) AND CAST('0.10000000000000006' AS DOUBLE);
UPDATE shop.`order` SET id = 9, `user` = '', state = '', amount = 0.01, rate = CAST('NaN' AS DOUBLE) WHERE id = 2 AND `user` IS NULL AND state IS NULL AND amount IS NULL AND rate IS NULL;
-- (nothing)
-- its inverse: update
UPDATE shop.`order` SET `user` = 'o\'neil', amount = 1.50 WHERE id = 1 AND `user` = 'tab\tback\\' AND state = 'NEW' AND amount = -2.50 AND rate BETWEEN CAST('0.09999999999999995' AS DOUBLE) AND CAST('0.10000000000000006' AS DOUBLE);
UPDATE shop.`order` SET id = 2, `user` = NULL, state = NULL, amount = NULL, rate = NULL WHERE id = 9 AND `user` = '' AND state = '' AND amount = 0.01 AND rate BETWEEN CAST('NaN' AS DOUBLE) AND CAST('NaN' AS DOUBLE);
-- (nothing)
-- key: delete, --names lower, --where-columns key
DELETE FROM shop.`order` WHERE id = 1;
DELETE FROM shop.`order` WHERE id = 2;
DELETE FROM shop.`order` WHERE id = 3;
-- its inverse: insert
INSERT INTO shop.`order` (id, `user`, state, amount, rate) VALUES (1, 'o\'neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
INSERT INTO shop.`order` (id, `user`, state, amount, rate) VALUES (2, NULL, NULL, NULL, NULL);
INSERT INTO shop.`order` (id, `user`, state, amount, rate) VALUES (3, 'a', 'OLD', 0.00, CAST('Infinity' AS DOUBLE));
-- key: delete, --names lower, --where-columns guard
DELETE FROM shop.`order` WHERE id = 1 AND `user` = 'o\'neil' AND state = 'NEW' AND amount = 1.50 AND rate BETWEEN CAST('0.09999999999999995' AS DOUBLE) AND CAST('0.10000000000000006' AS DOUBLE);
DELETE FROM shop.`order` WHERE id = 2 AND `user` IS NULL AND state IS NULL AND amount IS NULL AND rate IS NULL;
DELETE FROM shop.`order` WHERE id = 3 AND `user` = 'a' AND state = 'OLD' AND amount = 0.00 AND rate BETWEEN CAST('1.7976931348623151e+308' AS DOUBLE) AND CAST('Infinity' AS DOUBLE);
-- its inverse: insert
INSERT INTO shop.`order` (id, `user`, state, amount, rate) VALUES (1, 'o\'neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
INSERT INTO shop.`order` (id, `user`, state, amount, rate) VALUES (2, NULL, NULL, NULL, NULL);
INSERT INTO shop.`order` (id, `user`, state, amount, rate) VALUES (3, 'a', 'OLD', 0.00, CAST('Infinity' AS DOUBLE));
-- key: delete, --names lower, --where-columns all
DELETE FROM shop.`order` WHERE id = 1 AND `user` = 'o\'neil' AND state = 'NEW' AND amount = 1.50 AND rate BETWEEN CAST('0.09999999999999995' AS DOUBLE) AND CAST('0.10000000000000006' AS DOUBLE);
DELETE FROM shop.`order` WHERE id = 2 AND `user` IS NULL AND state IS NULL AND amount IS NULL AND rate IS NULL;
DELETE FROM shop.`order` WHERE id = 3 AND `user` = 'a' AND state = 'OLD' AND amount = 0.00 AND rate BETWEEN CAST('1.7976931348623151e+308' AS DOUBLE) AND CAST('Infinity' AS DOUBLE);
-- its inverse: insert
INSERT INTO shop.`order` (id, `user`, state, amount, rate) VALUES (1, 'o\'neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
INSERT INTO shop.`order` (id, `user`, state, amount, rate) VALUES (2, NULL, NULL, NULL, NULL);
INSERT INTO shop.`order` (id, `user`, state, amount, rate) VALUES (3, 'a', 'OLD', 0.00, CAST('Infinity' AS DOUBLE));
-- key: insert, --names exact
INSERT INTO `SHOP`.`ORDER` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (1, 'tab\tback\\', 'NEW', -2.50, CAST('0.1' AS DOUBLE));
INSERT INTO `SHOP`.`ORDER` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (9, '', '', 0.01, CAST('NaN' AS DOUBLE));
INSERT INTO `SHOP`.`ORDER` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (3, 'a', 'OLD', 0.00, CAST('Infinity' AS DOUBLE));
-- its inverse: delete
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 1;
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 9;
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 3;
-- key: update, --names exact, --where-columns key
UPDATE `SHOP`.`ORDER` SET `User` = 'tab\tback\\', `AMOUNT` = -2.50 WHERE `ID` = 1;
UPDATE `SHOP`.`ORDER` SET `ID` = 9, `User` = '', `STATE` = '', `AMOUNT` = 0.01, `RATE` = CAST('NaN' AS DOUBLE) WHERE `ID` = 2;
-- (nothing)
-- its inverse: update
UPDATE `SHOP`.`ORDER` SET `User` = 'o\'neil', `AMOUNT` = 1.50 WHERE `ID` = 1;
UPDATE `SHOP`.`ORDER` SET `ID` = 2, `User` = NULL, `STATE` = NULL, `AMOUNT` = NULL, `RATE` = NULL WHERE `ID` = 9;
-- (nothing)
-- key: update, --names exact, --where-columns guard
UPDATE `SHOP`.`ORDER` SET `User` = 'tab\tback\\', `AMOUNT` = -2.50 WHERE `ID` = 1 AND `User` = 'o\'neil' AND `AMOUNT` = 1.50;
UPDATE `SHOP`.`ORDER` SET `ID` = 9, `User` = '', `STATE` = '', `AMOUNT` = 0.01, `RATE` = CAST('NaN' AS DOUBLE) WHERE `ID` = 2 AND `User` IS NULL AND `STATE` IS NULL AND `AMOUNT` IS NULL AND `RATE` IS NULL;
-- (nothing)
-- its inverse: update
UPDATE `SHOP`.`ORDER` SET `User` = 'o\'neil', `AMOUNT` = 1.50 WHERE `ID` = 1 AND `User` = 'tab\tback\\' AND `AMOUNT` = -2.50;
UPDATE `SHOP`.`ORDER` SET `ID` = 2, `User` = NULL, `STATE` = NULL, `AMOUNT` = NULL, `RATE` = NULL WHERE `ID` = 9 AND `User` = '' AND `STATE` = '' AND `AMOUNT` = 0.01 AND `RATE` BETWEEN CAST('NaN' AS DOUBLE) AND CAST('NaN' AS DOUBLE);
-- (nothing)
-- key: update, --names exact, --where-columns all
UPDATE `SHOP`.`ORDER` SET `User` = 'tab\tback\\', `AMOUNT` = -2.50 WHERE `ID` = 1 AND `User` = 'o\'neil' AND `STATE` = 'NEW' AND `AMOUNT` = 1.50 AND `RATE` BETWEEN CAST('0.09999999999999995' AS DOUBLE) AND CAST('0.10000000000000006' AS DOUBLE);
UPDATE `SHOP`.`ORDER` SET `ID` = 9, `User` = '', `STATE` = '', `AMOUNT` = 0.01, `RATE` = CAST('NaN' AS DOUBLE) WHERE `ID` = 2 AND `User` IS NULL AND `STATE` IS NULL AND `AMOUNT` IS NULL AND `RATE` IS NULL;
-- (nothing)
-- its inverse: update
UPDATE `SHOP`.`ORDER` SET `User` = 'o\'neil', `AMOUNT` = 1.50 WHERE `ID` = 1 AND `User` = 'tab\tback\\' AND `STATE` = 'NEW' AND `AMOUNT` = -2.50 AND `RATE` BETWEEN CAST('0.09999999999999995' AS DOUBLE) AND CAST('0.10000000000000006' AS DOUBLE);
UPDATE `SHOP`.`ORDER` SET `ID` = 2, `User` = NULL, `STATE` = NULL, `AMOUNT` = NULL, `RATE` = NULL WHERE `ID` = 9 AND `User` = '' AND `STATE` = '' AND `AMOUNT` = 0.01 AND `RATE` BETWEEN CAST('NaN' AS DOUBLE) AND CAST('NaN' AS DOUBLE);
-- (nothing)
-- key: delete, --names exact, --where-columns key
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 1;
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 2;
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 3;
-- its inverse: insert
INSERT INTO `SHOP`.`ORDER` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (1, 'o\'neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
INSERT INTO `SHOP`.`ORDER` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (2, NULL, NULL, NULL, NULL);
INSERT INTO `SHOP`.`ORDER` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (3, 'a', 'OLD', 0.00, CAST('Infinity' AS DOUBLE));
-- key: delete, --names exact, --where-columns guard
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 1 AND `User` = 'o\'neil' AND `STATE` = 'NEW' AND `AMOUNT` = 1.50 AND `RATE` BETWEEN CAST('0.09999999999999995' AS DOUBLE) AND CAST('0.10000000000000006' AS DOUBLE);
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 2 AND `User` IS NULL AND `STATE` IS NULL AND `AMOUNT` IS NULL AND `RATE` IS NULL;
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 3 AND `User` = 'a' AND `STATE` = 'OLD' AND `AMOUNT` = 0.00 AND `RATE` BETWEEN CAST('1.7976931348623151e+308' AS DOUBLE) AND CAST('Infinity' AS DOUBLE);
-- its inverse: insert
INSERT INTO `SHOP`.`ORDER` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (1, 'o\'neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
INSERT INTO `SHOP`.`ORDER` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (2, NULL, NULL, NULL, NULL);
INSERT INTO `SHOP`.`ORDER` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (3, 'a', 'OLD', 0.00, CAST('Infinity' AS DOUBLE));
-- key: delete, --names exact, --where-columns all
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 1 AND `User` = 'o\'neil' AND `STATE` = 'NEW' AND `AMOUNT` = 1.50 AND `RATE` BETWEEN CAST('0.09999999999999995' AS DOUBLE) AND CAST('0.10000000000000006' AS DOUBLE);
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 2 AND `User` IS NULL AND `STATE` IS NULL AND `AMOUNT` IS NULL AND `RATE` IS NULL;
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 3 AND `User` = 'a' AND `STATE` = 'OLD' AND `AMOUNT` = 0.00 AND `RATE` BETWEEN CAST('1.7976931348623151e+308' AS DOUBLE) AND CAST('Infinity' AS DOUBLE);
-- its inverse: insert
INSERT INTO `SHOP`.`ORDER` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (1, 'o\'neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
INSERT INTO `SHOP`.`ORDER` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (2, NULL, NULL, NULL, NULL);
INSERT INTO `SHOP`.`ORDER` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (3, 'a', 'OLD', 0.00, CAST('Infinity' AS DOUBLE));
-- no key: insert, --names lower
INSERT INTO shop.`order#log` (id, `user`, state, amount, rate) VALUES (1, 'tab\tback\\', 'NEW', -2.50, CAST('0.1' AS DOUBLE));
INSERT INTO shop.`order#log` (id, `user`, state, amount, rate) VALUES (9, '', '', 0.01, CAST('NaN' AS DOUBLE));
INSERT INTO shop.`order#log` (id, `user`, state, amount, rate) VALUES (3, 'a', 'OLD', 0.00, CAST('Infinity' AS DOUBLE));
-- its inverse: delete
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- no key: update, --names lower, --where-columns key
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- its inverse: update
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- no key: update, --names lower, --where-columns guard
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- its inverse: update
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- no key: update, --names lower, --where-columns all
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- its inverse: update
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- no key: delete, --names lower, --where-columns key
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- its inverse: insert
INSERT INTO shop.`order#log` (id, `user`, state, amount, rate) VALUES (1, 'o\'neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
INSERT INTO shop.`order#log` (id, `user`, state, amount, rate) VALUES (2, NULL, NULL, NULL, NULL);
INSERT INTO shop.`order#log` (id, `user`, state, amount, rate) VALUES (3, 'a', 'OLD', 0.00, CAST('Infinity' AS DOUBLE));
-- no key: delete, --names lower, --where-columns guard
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- its inverse: insert
INSERT INTO shop.`order#log` (id, `user`, state, amount, rate) VALUES (1, 'o\'neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
INSERT INTO shop.`order#log` (id, `user`, state, amount, rate) VALUES (2, NULL, NULL, NULL, NULL);
INSERT INTO shop.`order#log` (id, `user`, state, amount, rate) VALUES (3, 'a', 'OLD', 0.00, CAST('Infinity' AS DOUBLE));
-- no key: delete, --names lower, --where-columns all
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- its inverse: insert
INSERT INTO shop.`order#log` (id, `user`, state, amount, rate) VALUES (1, 'o\'neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
INSERT INTO shop.`order#log` (id, `user`, state, amount, rate) VALUES (2, NULL, NULL, NULL, NULL);
INSERT INTO shop.`order#log` (id, `user`, state, amount, rate) VALUES (3, 'a', 'OLD', 0.00, CAST('Infinity' AS DOUBLE));
-- no key: insert, --names exact
INSERT INTO `SHOP`.`ORDER#LOG` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (1, 'tab\tback\\', 'NEW', -2.50, CAST('0.1' AS DOUBLE));
INSERT INTO `SHOP`.`ORDER#LOG` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (9, '', '', 0.01, CAST('NaN' AS DOUBLE));
INSERT INTO `SHOP`.`ORDER#LOG` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (3, 'a', 'OLD', 0.00, CAST('Infinity' AS DOUBLE));
-- its inverse: delete
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- no key: update, --names exact, --where-columns key
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- its inverse: update
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- no key: update, --names exact, --where-columns guard
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- its inverse: update
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- no key: update, --names exact, --where-columns all
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- its inverse: update
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- no key: delete, --names exact, --where-columns key
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- its inverse: insert
INSERT INTO `SHOP`.`ORDER#LOG` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (1, 'o\'neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
INSERT INTO `SHOP`.`ORDER#LOG` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (2, NULL, NULL, NULL, NULL);
INSERT INTO `SHOP`.`ORDER#LOG` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (3, 'a', 'OLD', 0.00, CAST('Infinity' AS DOUBLE));
-- no key: delete, --names exact, --where-columns guard
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- its inverse: insert
INSERT INTO `SHOP`.`ORDER#LOG` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (1, 'o\'neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
INSERT INTO `SHOP`.`ORDER#LOG` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (2, NULL, NULL, NULL, NULL);
INSERT INTO `SHOP`.`ORDER#LOG` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (3, 'a', 'OLD', 0.00, CAST('Infinity' AS DOUBLE));
-- no key: delete, --names exact, --where-columns all
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- LR3003: found a row of SHOP.ORDER#LOG, which has no key; expected a key: spark has no way to change one of several equal rows
-- its inverse: insert
INSERT INTO `SHOP`.`ORDER#LOG` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (1, 'o\'neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
INSERT INTO `SHOP`.`ORDER#LOG` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (2, NULL, NULL, NULL, NULL);
INSERT INTO `SHOP`.`ORDER#LOG` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (3, 'a', 'OLD', 0.00, CAST('Infinity' AS DOUBLE));
-- key of a time and a float: insert, --names lower
INSERT INTO measure (`at`, span, `day`, clock, zoned, `raw`, `small-1`, big) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.00001' AS FLOAT), CAST('9999-12-31' AS DATE), NULL, NULL, X'00ff', NULL, 0);
-- its inverse: delete
DELETE FROM measure WHERE `at` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND span = CAST('0.00001' AS FLOAT);
-- key of a time and a float: update, --names lower, --where-columns key
UPDATE measure SET span = CAST('0.00001' AS FLOAT), `day` = CAST('9999-12-31' AS DATE), clock = NULL, zoned = NULL, `raw` = X'00ff', `small-1` = NULL, big = 0 WHERE `at` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND span = CAST('0.1' AS FLOAT);
-- its inverse: update
UPDATE measure SET span = CAST('0.1' AS FLOAT), `day` = CAST('0001-01-01' AS DATE), clock = '24:00:00', zoned = CAST('2024-02-29 10:00:00.500000+05:30' AS TIMESTAMP), `raw` = X'', `small-1` = -1, big = 9223372036854775807 WHERE `at` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND span = CAST('0.00001' AS FLOAT);
-- key of a time and a float: update, --names lower, --where-columns guard
UPDATE measure SET span = CAST('0.00001' AS FLOAT), `day` = CAST('9999-12-31' AS DATE), clock = NULL, zoned = NULL, `raw` = X'00ff', `small-1` = NULL, big = 0 WHERE `at` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND span = CAST('0.1' AS FLOAT) AND `day` = CAST('0001-01-01' AS DATE) AND clock = '24:00:00' AND zoned = CAST('2024-02-29 10:00:00.500000+05:30' AS TIMESTAMP) AND `raw` = X'' AND `small-1` = -1 AND big = 9223372036854775807;
-- its inverse: update
UPDATE measure SET span = CAST('0.1' AS FLOAT), `day` = CAST('0001-01-01' AS DATE), clock = '24:00:00', zoned = CAST('2024-02-29 10:00:00.500000+05:30' AS TIMESTAMP), `raw` = X'', `small-1` = -1, big = 9223372036854775807 WHERE `at` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND span = CAST('0.00001' AS FLOAT) AND `day` = CAST('9999-12-31' AS DATE) AND clock IS NULL AND zoned IS NULL AND `raw` = X'00ff' AND `small-1` IS NULL AND big = 0;
-- key of a time and a float: update, --names lower, --where-columns all
UPDATE measure SET span = CAST('0.00001' AS FLOAT), `day` = CAST('9999-12-31' AS DATE), clock = NULL, zoned = NULL, `raw` = X'00ff', `small-1` = NULL, big = 0 WHERE `at` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND span = CAST('0.1' AS FLOAT) AND `day` = CAST('0001-01-01' AS DATE) AND clock = '24:00:00' AND zoned = CAST('2024-02-29 10:00:00.500000+05:30' AS TIMESTAMP) AND `raw` = X'' AND `small-1` = -1 AND big = 9223372036854775807;
-- its inverse: update
UPDATE measure SET span = CAST('0.1' AS FLOAT), `day` = CAST('0001-01-01' AS DATE), clock = '24:00:00', zoned = CAST('2024-02-29 10:00:00.500000+05:30' AS TIMESTAMP), `raw` = X'', `small-1` = -1, big = 9223372036854775807 WHERE `at` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND span = CAST('0.00001' AS FLOAT) AND `day` = CAST('9999-12-31' AS DATE) AND clock IS NULL AND zoned IS NULL AND `raw` = X'00ff' AND `small-1` IS NULL AND big = 0;
-- key of a time and a float: delete, --names lower, --where-columns key
DELETE FROM measure WHERE `at` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND span = CAST('0.1' AS FLOAT);
-- its inverse: insert
INSERT INTO measure (`at`, span, `day`, clock, zoned, `raw`, `small-1`, big) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.1' AS FLOAT), CAST('0001-01-01' AS DATE), '24:00:00', CAST('2024-02-29 10:00:00.500000+05:30' AS TIMESTAMP), X'', -1, 9223372036854775807);
-- key of a time and a float: delete, --names lower, --where-columns guard
DELETE FROM measure WHERE `at` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND span = CAST('0.1' AS FLOAT) AND `day` = CAST('0001-01-01' AS DATE) AND clock = '24:00:00' AND zoned = CAST('2024-02-29 10:00:00.500000+05:30' AS TIMESTAMP) AND `raw` = X'' AND `small-1` = -1 AND big = 9223372036854775807;
-- its inverse: insert
INSERT INTO measure (`at`, span, `day`, clock, zoned, `raw`, `small-1`, big) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.1' AS FLOAT), CAST('0001-01-01' AS DATE), '24:00:00', CAST('2024-02-29 10:00:00.500000+05:30' AS TIMESTAMP), X'', -1, 9223372036854775807);
-- key of a time and a float: delete, --names lower, --where-columns all
DELETE FROM measure WHERE `at` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND span = CAST('0.1' AS FLOAT) AND `day` = CAST('0001-01-01' AS DATE) AND clock = '24:00:00' AND zoned = CAST('2024-02-29 10:00:00.500000+05:30' AS TIMESTAMP) AND `raw` = X'' AND `small-1` = -1 AND big = 9223372036854775807;
-- its inverse: insert
INSERT INTO measure (`at`, span, `day`, clock, zoned, `raw`, `small-1`, big) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.1' AS FLOAT), CAST('0001-01-01' AS DATE), '24:00:00', CAST('2024-02-29 10:00:00.500000+05:30' AS TIMESTAMP), X'', -1, 9223372036854775807);
-- key of a time and a float: insert, --names exact
INSERT INTO `MEASURE` (`AT`, `SPAN`, `DAY`, `CLOCK`, `ZONED`, `RAW`, `SMALL-1`, `BIG`) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.00001' AS FLOAT), CAST('9999-12-31' AS DATE), NULL, NULL, X'00ff', NULL, 0);
-- its inverse: delete
DELETE FROM `MEASURE` WHERE `AT` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND `SPAN` = CAST('0.00001' AS FLOAT);
-- key of a time and a float: update, --names exact, --where-columns key
UPDATE `MEASURE` SET `SPAN` = CAST('0.00001' AS FLOAT), `DAY` = CAST('9999-12-31' AS DATE), `CLOCK` = NULL, `ZONED` = NULL, `RAW` = X'00ff', `SMALL-1` = NULL, `BIG` = 0 WHERE `AT` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND `SPAN` = CAST('0.1' AS FLOAT);
-- its inverse: update
UPDATE `MEASURE` SET `SPAN` = CAST('0.1' AS FLOAT), `DAY` = CAST('0001-01-01' AS DATE), `CLOCK` = '24:00:00', `ZONED` = CAST('2024-02-29 10:00:00.500000+05:30' AS TIMESTAMP), `RAW` = X'', `SMALL-1` = -1, `BIG` = 9223372036854775807 WHERE `AT` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND `SPAN` = CAST('0.00001' AS FLOAT);
-- key of a time and a float: update, --names exact, --where-columns guard
UPDATE `MEASURE` SET `SPAN` = CAST('0.00001' AS FLOAT), `DAY` = CAST('9999-12-31' AS DATE), `CLOCK` = NULL, `ZONED` = NULL, `RAW` = X'00ff', `SMALL-1` = NULL, `BIG` = 0 WHERE `AT` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND `SPAN` = CAST('0.1' AS FLOAT) AND `DAY` = CAST('0001-01-01' AS DATE) AND `CLOCK` = '24:00:00' AND `ZONED` = CAST('2024-02-29 10:00:00.500000+05:30' AS TIMESTAMP) AND `RAW` = X'' AND `SMALL-1` = -1 AND `BIG` = 9223372036854775807;
-- its inverse: update
UPDATE `MEASURE` SET `SPAN` = CAST('0.1' AS FLOAT), `DAY` = CAST('0001-01-01' AS DATE), `CLOCK` = '24:00:00', `ZONED` = CAST('2024-02-29 10:00:00.500000+05:30' AS TIMESTAMP), `RAW` = X'', `SMALL-1` = -1, `BIG` = 9223372036854775807 WHERE `AT` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND `SPAN` = CAST('0.00001' AS FLOAT) AND `DAY` = CAST('9999-12-31' AS DATE) AND `CLOCK` IS NULL AND `ZONED` IS NULL AND `RAW` = X'00ff' AND `SMALL-1` IS NULL AND `BIG` = 0;
-- key of a time and a float: update, --names exact, --where-columns all
UPDATE `MEASURE` SET `SPAN` = CAST('0.00001' AS FLOAT), `DAY` = CAST('9999-12-31' AS DATE), `CLOCK` = NULL, `ZONED` = NULL, `RAW` = X'00ff', `SMALL-1` = NULL, `BIG` = 0 WHERE `AT` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND `SPAN` = CAST('0.1' AS FLOAT) AND `DAY` = CAST('0001-01-01' AS DATE) AND `CLOCK` = '24:00:00' AND `ZONED` = CAST('2024-02-29 10:00:00.500000+05:30' AS TIMESTAMP) AND `RAW` = X'' AND `SMALL-1` = -1 AND `BIG` = 9223372036854775807;
-- its inverse: update
UPDATE `MEASURE` SET `SPAN` = CAST('0.1' AS FLOAT), `DAY` = CAST('0001-01-01' AS DATE), `CLOCK` = '24:00:00', `ZONED` = CAST('2024-02-29 10:00:00.500000+05:30' AS TIMESTAMP), `RAW` = X'', `SMALL-1` = -1, `BIG` = 9223372036854775807 WHERE `AT` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND `SPAN` = CAST('0.00001' AS FLOAT) AND `DAY` = CAST('9999-12-31' AS DATE) AND `CLOCK` IS NULL AND `ZONED` IS NULL AND `RAW` = X'00ff' AND `SMALL-1` IS NULL AND `BIG` = 0;
-- key of a time and a float: delete, --names exact, --where-columns key
DELETE FROM `MEASURE` WHERE `AT` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND `SPAN` = CAST('0.1' AS FLOAT);
-- its inverse: insert
INSERT INTO `MEASURE` (`AT`, `SPAN`, `DAY`, `CLOCK`, `ZONED`, `RAW`, `SMALL-1`, `BIG`) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.1' AS FLOAT), CAST('0001-01-01' AS DATE), '24:00:00', CAST('2024-02-29 10:00:00.500000+05:30' AS TIMESTAMP), X'', -1, 9223372036854775807);
-- key of a time and a float: delete, --names exact, --where-columns guard
DELETE FROM `MEASURE` WHERE `AT` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND `SPAN` = CAST('0.1' AS FLOAT) AND `DAY` = CAST('0001-01-01' AS DATE) AND `CLOCK` = '24:00:00' AND `ZONED` = CAST('2024-02-29 10:00:00.500000+05:30' AS TIMESTAMP) AND `RAW` = X'' AND `SMALL-1` = -1 AND `BIG` = 9223372036854775807;
-- its inverse: insert
INSERT INTO `MEASURE` (`AT`, `SPAN`, `DAY`, `CLOCK`, `ZONED`, `RAW`, `SMALL-1`, `BIG`) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.1' AS FLOAT), CAST('0001-01-01' AS DATE), '24:00:00', CAST('2024-02-29 10:00:00.500000+05:30' AS TIMESTAMP), X'', -1, 9223372036854775807);
-- key of a time and a float: delete, --names exact, --where-columns all
DELETE FROM `MEASURE` WHERE `AT` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND `SPAN` = CAST('0.1' AS FLOAT) AND `DAY` = CAST('0001-01-01' AS DATE) AND `CLOCK` = '24:00:00' AND `ZONED` = CAST('2024-02-29 10:00:00.500000+05:30' AS TIMESTAMP) AND `RAW` = X'' AND `SMALL-1` = -1 AND `BIG` = 9223372036854775807;
-- its inverse: insert
INSERT INTO `MEASURE` (`AT`, `SPAN`, `DAY`, `CLOCK`, `ZONED`, `RAW`, `SMALL-1`, `BIG`) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.1' AS FLOAT), CAST('0001-01-01' AS DATE), '24:00:00', CAST('2024-02-29 10:00:00.500000+05:30' AS TIMESTAMP), X'', -1, 9223372036854775807);
-- excluded columns, blanks of CHAR kept
INSERT INTO shop.`order` (id, state, rate) VALUES (1, 'NEW ', CAST('0.1' AS DOUBLE));
INSERT INTO shop.`order` (id, state, rate) VALUES (9, '', CAST('NaN' AS DOUBLE));
INSERT INTO shop.`order` (id, state, rate) VALUES (3, 'OLD ', CAST('Infinity' AS DOUBLE));
-- (nothing)
UPDATE shop.`order` SET id = 9, state = '', rate = CAST('NaN' AS DOUBLE) WHERE id = 2;
-- (nothing)
DELETE FROM shop.`order` WHERE id = 1;
DELETE FROM shop.`order` WHERE id = 2;
DELETE FROM shop.`order` WHERE id = 3;
-- whole tables
DELETE FROM shop.`order`;
DELETE FROM shop.`order`;
DELETE FROM `SHOP`.`ORDER`;
DELETE FROM `SHOP`.`ORDER`;
-- upsert, key: insert, --names lower
MERGE INTO shop.`order` AS t USING (SELECT 1 AS one) AS s ON (t.id = 1) WHEN MATCHED THEN UPDATE SET `user` = 'tab\tback\\', state = 'NEW', amount = -2.50, rate = CAST('0.1' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (id, `user`, state, amount, rate) VALUES (1, 'tab\tback\\', 'NEW', -2.50, CAST('0.1' AS DOUBLE));
MERGE INTO shop.`order` AS t USING (SELECT 1 AS one) AS s ON (t.id = 9) WHEN MATCHED THEN UPDATE SET `user` = '', state = '', amount = 0.01, rate = CAST('NaN' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (id, `user`, state, amount, rate) VALUES (9, '', '', 0.01, CAST('NaN' AS DOUBLE));
MERGE INTO shop.`order` AS t USING (SELECT 1 AS one) AS s ON (t.id = 3) WHEN MATCHED THEN UPDATE SET `user` = 'a', state = 'OLD', amount = 0.00, rate = CAST('Infinity' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (id, `user`, state, amount, rate) VALUES (3, 'a', 'OLD', 0.00, CAST('Infinity' AS DOUBLE));
-- its inverse: delete
DELETE FROM shop.`order` WHERE id = 1;
DELETE FROM shop.`order` WHERE id = 9;
DELETE FROM shop.`order` WHERE id = 3;
-- upsert, key: update, --names lower
MERGE INTO shop.`order` AS t USING (SELECT 1 AS one) AS s ON (t.id = 1) WHEN MATCHED THEN UPDATE SET `user` = 'tab\tback\\', state = 'NEW', amount = -2.50, rate = CAST('0.1' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (id, `user`, state, amount, rate) VALUES (1, 'tab\tback\\', 'NEW', -2.50, CAST('0.1' AS DOUBLE));
DELETE FROM shop.`order` WHERE id = 2;
MERGE INTO shop.`order` AS t USING (SELECT 1 AS one) AS s ON (t.id = 9) WHEN MATCHED THEN UPDATE SET `user` = '', state = '', amount = 0.01, rate = CAST('NaN' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (id, `user`, state, amount, rate) VALUES (9, '', '', 0.01, CAST('NaN' AS DOUBLE));
-- (nothing)
-- its inverse: update
MERGE INTO shop.`order` AS t USING (SELECT 1 AS one) AS s ON (t.id = 1) WHEN MATCHED THEN UPDATE SET `user` = 'o\'neil', state = 'NEW', amount = 1.50, rate = CAST('0.1' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (id, `user`, state, amount, rate) VALUES (1, 'o\'neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
DELETE FROM shop.`order` WHERE id = 9;
MERGE INTO shop.`order` AS t USING (SELECT 1 AS one) AS s ON (t.id = 2) WHEN MATCHED THEN UPDATE SET `user` = NULL, state = NULL, amount = NULL, rate = NULL WHEN NOT MATCHED THEN INSERT (id, `user`, state, amount, rate) VALUES (2, NULL, NULL, NULL, NULL);
-- (nothing)
-- upsert, key: delete, --names lower
DELETE FROM shop.`order` WHERE id = 1;
DELETE FROM shop.`order` WHERE id = 2;
DELETE FROM shop.`order` WHERE id = 3;
-- its inverse: insert
MERGE INTO shop.`order` AS t USING (SELECT 1 AS one) AS s ON (t.id = 1) WHEN MATCHED THEN UPDATE SET `user` = 'o\'neil', state = 'NEW', amount = 1.50, rate = CAST('0.1' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (id, `user`, state, amount, rate) VALUES (1, 'o\'neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
MERGE INTO shop.`order` AS t USING (SELECT 1 AS one) AS s ON (t.id = 2) WHEN MATCHED THEN UPDATE SET `user` = NULL, state = NULL, amount = NULL, rate = NULL WHEN NOT MATCHED THEN INSERT (id, `user`, state, amount, rate) VALUES (2, NULL, NULL, NULL, NULL);
MERGE INTO shop.`order` AS t USING (SELECT 1 AS one) AS s ON (t.id = 3) WHEN MATCHED THEN UPDATE SET `user` = 'a', state = 'OLD', amount = 0.00, rate = CAST('Infinity' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (id, `user`, state, amount, rate) VALUES (3, 'a', 'OLD', 0.00, CAST('Infinity' AS DOUBLE));
-- upsert, key: insert, --names exact
MERGE INTO `SHOP`.`ORDER` AS t USING (SELECT 1 AS one) AS s ON (t.`ID` = 1) WHEN MATCHED THEN UPDATE SET `User` = 'tab\tback\\', `STATE` = 'NEW', `AMOUNT` = -2.50, `RATE` = CAST('0.1' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (1, 'tab\tback\\', 'NEW', -2.50, CAST('0.1' AS DOUBLE));
MERGE INTO `SHOP`.`ORDER` AS t USING (SELECT 1 AS one) AS s ON (t.`ID` = 9) WHEN MATCHED THEN UPDATE SET `User` = '', `STATE` = '', `AMOUNT` = 0.01, `RATE` = CAST('NaN' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (9, '', '', 0.01, CAST('NaN' AS DOUBLE));
MERGE INTO `SHOP`.`ORDER` AS t USING (SELECT 1 AS one) AS s ON (t.`ID` = 3) WHEN MATCHED THEN UPDATE SET `User` = 'a', `STATE` = 'OLD', `AMOUNT` = 0.00, `RATE` = CAST('Infinity' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (3, 'a', 'OLD', 0.00, CAST('Infinity' AS DOUBLE));
-- its inverse: delete
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 1;
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 9;
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 3;
-- upsert, key: update, --names exact
MERGE INTO `SHOP`.`ORDER` AS t USING (SELECT 1 AS one) AS s ON (t.`ID` = 1) WHEN MATCHED THEN UPDATE SET `User` = 'tab\tback\\', `STATE` = 'NEW', `AMOUNT` = -2.50, `RATE` = CAST('0.1' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (1, 'tab\tback\\', 'NEW', -2.50, CAST('0.1' AS DOUBLE));
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 2;
MERGE INTO `SHOP`.`ORDER` AS t USING (SELECT 1 AS one) AS s ON (t.`ID` = 9) WHEN MATCHED THEN UPDATE SET `User` = '', `STATE` = '', `AMOUNT` = 0.01, `RATE` = CAST('NaN' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (9, '', '', 0.01, CAST('NaN' AS DOUBLE));
-- (nothing)
-- its inverse: update
MERGE INTO `SHOP`.`ORDER` AS t USING (SELECT 1 AS one) AS s ON (t.`ID` = 1) WHEN MATCHED THEN UPDATE SET `User` = 'o\'neil', `STATE` = 'NEW', `AMOUNT` = 1.50, `RATE` = CAST('0.1' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (1, 'o\'neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 9;
MERGE INTO `SHOP`.`ORDER` AS t USING (SELECT 1 AS one) AS s ON (t.`ID` = 2) WHEN MATCHED THEN UPDATE SET `User` = NULL, `STATE` = NULL, `AMOUNT` = NULL, `RATE` = NULL WHEN NOT MATCHED THEN INSERT (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (2, NULL, NULL, NULL, NULL);
-- (nothing)
-- upsert, key: delete, --names exact
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 1;
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 2;
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 3;
-- its inverse: insert
MERGE INTO `SHOP`.`ORDER` AS t USING (SELECT 1 AS one) AS s ON (t.`ID` = 1) WHEN MATCHED THEN UPDATE SET `User` = 'o\'neil', `STATE` = 'NEW', `AMOUNT` = 1.50, `RATE` = CAST('0.1' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (1, 'o\'neil', 'NEW', 1.50, CAST('0.1' AS DOUBLE));
MERGE INTO `SHOP`.`ORDER` AS t USING (SELECT 1 AS one) AS s ON (t.`ID` = 2) WHEN MATCHED THEN UPDATE SET `User` = NULL, `STATE` = NULL, `AMOUNT` = NULL, `RATE` = NULL WHEN NOT MATCHED THEN INSERT (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (2, NULL, NULL, NULL, NULL);
MERGE INTO `SHOP`.`ORDER` AS t USING (SELECT 1 AS one) AS s ON (t.`ID` = 3) WHEN MATCHED THEN UPDATE SET `User` = 'a', `STATE` = 'OLD', `AMOUNT` = 0.00, `RATE` = CAST('Infinity' AS DOUBLE) WHEN NOT MATCHED THEN INSERT (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (3, 'a', 'OLD', 0.00, CAST('Infinity' AS DOUBLE));
-- upsert, key of a time and a float: insert, --names lower
MERGE INTO measure AS t USING (SELECT 1 AS one) AS s ON (t.`at` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND t.span = CAST('0.00001' AS FLOAT)) WHEN MATCHED THEN UPDATE SET `day` = CAST('9999-12-31' AS DATE), clock = NULL, zoned = NULL, `raw` = X'00ff', `small-1` = NULL, big = 0 WHEN NOT MATCHED THEN INSERT (`at`, span, `day`, clock, zoned, `raw`, `small-1`, big) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.00001' AS FLOAT), CAST('9999-12-31' AS DATE), NULL, NULL, X'00ff', NULL, 0);
-- its inverse: delete
DELETE FROM measure WHERE `at` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND span = CAST('0.00001' AS FLOAT);
-- upsert, key of a time and a float: update, --names lower
DELETE FROM measure WHERE `at` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND span = CAST('0.1' AS FLOAT);
MERGE INTO measure AS t USING (SELECT 1 AS one) AS s ON (t.`at` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND t.span = CAST('0.00001' AS FLOAT)) WHEN MATCHED THEN UPDATE SET `day` = CAST('9999-12-31' AS DATE), clock = NULL, zoned = NULL, `raw` = X'00ff', `small-1` = NULL, big = 0 WHEN NOT MATCHED THEN INSERT (`at`, span, `day`, clock, zoned, `raw`, `small-1`, big) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.00001' AS FLOAT), CAST('9999-12-31' AS DATE), NULL, NULL, X'00ff', NULL, 0);
-- its inverse: update
DELETE FROM measure WHERE `at` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND span = CAST('0.00001' AS FLOAT);
MERGE INTO measure AS t USING (SELECT 1 AS one) AS s ON (t.`at` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND t.span = CAST('0.1' AS FLOAT)) WHEN MATCHED THEN UPDATE SET `day` = CAST('0001-01-01' AS DATE), clock = '24:00:00', zoned = CAST('2024-02-29 10:00:00.500000+05:30' AS TIMESTAMP), `raw` = X'', `small-1` = -1, big = 9223372036854775807 WHEN NOT MATCHED THEN INSERT (`at`, span, `day`, clock, zoned, `raw`, `small-1`, big) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.1' AS FLOAT), CAST('0001-01-01' AS DATE), '24:00:00', CAST('2024-02-29 10:00:00.500000+05:30' AS TIMESTAMP), X'', -1, 9223372036854775807);
-- upsert, key of a time and a float: delete, --names lower
DELETE FROM measure WHERE `at` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND span = CAST('0.1' AS FLOAT);
-- its inverse: insert
MERGE INTO measure AS t USING (SELECT 1 AS one) AS s ON (t.`at` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND t.span = CAST('0.1' AS FLOAT)) WHEN MATCHED THEN UPDATE SET `day` = CAST('0001-01-01' AS DATE), clock = '24:00:00', zoned = CAST('2024-02-29 10:00:00.500000+05:30' AS TIMESTAMP), `raw` = X'', `small-1` = -1, big = 9223372036854775807 WHEN NOT MATCHED THEN INSERT (`at`, span, `day`, clock, zoned, `raw`, `small-1`, big) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.1' AS FLOAT), CAST('0001-01-01' AS DATE), '24:00:00', CAST('2024-02-29 10:00:00.500000+05:30' AS TIMESTAMP), X'', -1, 9223372036854775807);
-- upsert, key of a time and a float: insert, --names exact
MERGE INTO `MEASURE` AS t USING (SELECT 1 AS one) AS s ON (t.`AT` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND t.`SPAN` = CAST('0.00001' AS FLOAT)) WHEN MATCHED THEN UPDATE SET `DAY` = CAST('9999-12-31' AS DATE), `CLOCK` = NULL, `ZONED` = NULL, `RAW` = X'00ff', `SMALL-1` = NULL, `BIG` = 0 WHEN NOT MATCHED THEN INSERT (`AT`, `SPAN`, `DAY`, `CLOCK`, `ZONED`, `RAW`, `SMALL-1`, `BIG`) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.00001' AS FLOAT), CAST('9999-12-31' AS DATE), NULL, NULL, X'00ff', NULL, 0);
-- its inverse: delete
DELETE FROM `MEASURE` WHERE `AT` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND `SPAN` = CAST('0.00001' AS FLOAT);
-- upsert, key of a time and a float: update, --names exact
DELETE FROM `MEASURE` WHERE `AT` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND `SPAN` = CAST('0.1' AS FLOAT);
MERGE INTO `MEASURE` AS t USING (SELECT 1 AS one) AS s ON (t.`AT` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND t.`SPAN` = CAST('0.00001' AS FLOAT)) WHEN MATCHED THEN UPDATE SET `DAY` = CAST('9999-12-31' AS DATE), `CLOCK` = NULL, `ZONED` = NULL, `RAW` = X'00ff', `SMALL-1` = NULL, `BIG` = 0 WHEN NOT MATCHED THEN INSERT (`AT`, `SPAN`, `DAY`, `CLOCK`, `ZONED`, `RAW`, `SMALL-1`, `BIG`) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.00001' AS FLOAT), CAST('9999-12-31' AS DATE), NULL, NULL, X'00ff', NULL, 0);
-- its inverse: update
DELETE FROM `MEASURE` WHERE `AT` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND `SPAN` = CAST('0.00001' AS FLOAT);
MERGE INTO `MEASURE` AS t USING (SELECT 1 AS one) AS s ON (t.`AT` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND t.`SPAN` = CAST('0.1' AS FLOAT)) WHEN MATCHED THEN UPDATE SET `DAY` = CAST('0001-01-01' AS DATE), `CLOCK` = '24:00:00', `ZONED` = CAST('2024-02-29 10:00:00.500000+05:30' AS TIMESTAMP), `RAW` = X'', `SMALL-1` = -1, `BIG` = 9223372036854775807 WHEN NOT MATCHED THEN INSERT (`AT`, `SPAN`, `DAY`, `CLOCK`, `ZONED`, `RAW`, `SMALL-1`, `BIG`) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.1' AS FLOAT), CAST('0001-01-01' AS DATE), '24:00:00', CAST('2024-02-29 10:00:00.500000+05:30' AS TIMESTAMP), X'', -1, 9223372036854775807);
-- upsert, key of a time and a float: delete, --names exact
DELETE FROM `MEASURE` WHERE `AT` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND `SPAN` = CAST('0.1' AS FLOAT);
-- its inverse: insert
MERGE INTO `MEASURE` AS t USING (SELECT 1 AS one) AS s ON (t.`AT` = CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ) AND t.`SPAN` = CAST('0.1' AS FLOAT)) WHEN MATCHED THEN UPDATE SET `DAY` = CAST('0001-01-01' AS DATE), `CLOCK` = '24:00:00', `ZONED` = CAST('2024-02-29 10:00:00.500000+05:30' AS TIMESTAMP), `RAW` = X'', `SMALL-1` = -1, `BIG` = 9223372036854775807 WHEN NOT MATCHED THEN INSERT (`AT`, `SPAN`, `DAY`, `CLOCK`, `ZONED`, `RAW`, `SMALL-1`, `BIG`) VALUES (CAST('0001-01-01 00:00:00.000000' AS TIMESTAMP_NTZ), CAST('0.1' AS FLOAT), CAST('0001-01-01' AS DATE), '24:00:00', CAST('2024-02-29 10:00:00.500000+05:30' AS TIMESTAMP), X'', -1, 9223372036854775807);
-- upsert, nothing but key: insert, --names lower
MERGE INTO shop.pair AS t USING (SELECT 1 AS one) AS s ON (t.id = 1 AND t.amount = 2.50) WHEN NOT MATCHED THEN INSERT (id, amount) VALUES (1, 2.50);
-- LR3013 AMOUNT: found NULL in the key; expected a value in every column of the key: NULL is equal to nothing
-- its inverse: delete
DELETE FROM shop.pair WHERE id = 1 AND amount = 2.50;
DELETE FROM shop.pair WHERE id = 2 AND amount IS NULL;
-- upsert, nothing but key: update, --names lower
DELETE FROM shop.pair WHERE id = 1 AND amount = 1.50;
MERGE INTO shop.pair AS t USING (SELECT 1 AS one) AS s ON (t.id = 1 AND t.amount = 2.50) WHEN NOT MATCHED THEN INSERT (id, amount) VALUES (1, 2.50);
-- LR3013 AMOUNT: found NULL in the key; expected a value in every column of the key: NULL is equal to nothing
-- its inverse: update
DELETE FROM shop.pair WHERE id = 1 AND amount = 2.50;
MERGE INTO shop.pair AS t USING (SELECT 1 AS one) AS s ON (t.id = 1 AND t.amount = 1.50) WHEN NOT MATCHED THEN INSERT (id, amount) VALUES (1, 1.50);
DELETE FROM shop.pair WHERE id = 2 AND amount IS NULL;
MERGE INTO shop.pair AS t USING (SELECT 1 AS one) AS s ON (t.id = 2 AND t.amount = 2.00) WHEN NOT MATCHED THEN INSERT (id, amount) VALUES (2, 2.00);
-- upsert, nothing but key: delete, --names lower
DELETE FROM shop.pair WHERE id = 1 AND amount = 1.50;
DELETE FROM shop.pair WHERE id = 2 AND amount = 2.00;
-- its inverse: insert
MERGE INTO shop.pair AS t USING (SELECT 1 AS one) AS s ON (t.id = 1 AND t.amount = 1.50) WHEN NOT MATCHED THEN INSERT (id, amount) VALUES (1, 1.50);
MERGE INTO shop.pair AS t USING (SELECT 1 AS one) AS s ON (t.id = 2 AND t.amount = 2.00) WHEN NOT MATCHED THEN INSERT (id, amount) VALUES (2, 2.00);
-- upsert, nothing but key: insert, --names exact
MERGE INTO `SHOP`.`PAIR` AS t USING (SELECT 1 AS one) AS s ON (t.`ID` = 1 AND t.`AMOUNT` = 2.50) WHEN NOT MATCHED THEN INSERT (`ID`, `AMOUNT`) VALUES (1, 2.50);
-- LR3013 AMOUNT: found NULL in the key; expected a value in every column of the key: NULL is equal to nothing
-- its inverse: delete
DELETE FROM `SHOP`.`PAIR` WHERE `ID` = 1 AND `AMOUNT` = 2.50;
DELETE FROM `SHOP`.`PAIR` WHERE `ID` = 2 AND `AMOUNT` IS NULL;
-- upsert, nothing but key: update, --names exact
DELETE FROM `SHOP`.`PAIR` WHERE `ID` = 1 AND `AMOUNT` = 1.50;
MERGE INTO `SHOP`.`PAIR` AS t USING (SELECT 1 AS one) AS s ON (t.`ID` = 1 AND t.`AMOUNT` = 2.50) WHEN NOT MATCHED THEN INSERT (`ID`, `AMOUNT`) VALUES (1, 2.50);
-- LR3013 AMOUNT: found NULL in the key; expected a value in every column of the key: NULL is equal to nothing
-- its inverse: update
DELETE FROM `SHOP`.`PAIR` WHERE `ID` = 1 AND `AMOUNT` = 2.50;
MERGE INTO `SHOP`.`PAIR` AS t USING (SELECT 1 AS one) AS s ON (t.`ID` = 1 AND t.`AMOUNT` = 1.50) WHEN NOT MATCHED THEN INSERT (`ID`, `AMOUNT`) VALUES (1, 1.50);
DELETE FROM `SHOP`.`PAIR` WHERE `ID` = 2 AND `AMOUNT` IS NULL;
MERGE INTO `SHOP`.`PAIR` AS t USING (SELECT 1 AS one) AS s ON (t.`ID` = 2 AND t.`AMOUNT` = 2.00) WHEN NOT MATCHED THEN INSERT (`ID`, `AMOUNT`) VALUES (2, 2.00);
-- upsert, nothing but key: delete, --names exact
DELETE FROM `SHOP`.`PAIR` WHERE `ID` = 1 AND `AMOUNT` = 1.50;
DELETE FROM `SHOP`.`PAIR` WHERE `ID` = 2 AND `AMOUNT` = 2.00;
-- its inverse: insert
MERGE INTO `SHOP`.`PAIR` AS t USING (SELECT 1 AS one) AS s ON (t.`ID` = 1 AND t.`AMOUNT` = 1.50) WHEN NOT MATCHED THEN INSERT (`ID`, `AMOUNT`) VALUES (1, 1.50);
MERGE INTO `SHOP`.`PAIR` AS t USING (SELECT 1 AS one) AS s ON (t.`ID` = 2 AND t.`AMOUNT` = 2.00) WHEN NOT MATCHED THEN INSERT (`ID`, `AMOUNT`) VALUES (2, 2.00);
-- upsert: updates of which a part is known, and with excluded columns
UPDATE shop.`order` SET `user` = 'tab\tback\\', amount = -2.50 WHERE id = 1;
-- LR3013: found a change of the key of a row of SHOP.ORDER that cannot be written whole: values are not in the log, or columns or changes are left out; expected the whole row: --upsert puts it in place under its new key
-- (nothing)
UPDATE shop.`order` SET `user` = 'tab\tback\\' WHERE id = 1;
-- LR3013: found a change of the key of a row of SHOP.ORDER that cannot be written whole: values are not in the log, or columns or changes are left out; expected the whole row: --upsert puts it in place under its new key
-- (nothing)
