-- logreplay redo script for mariadb. Stop at the first error, for example: mariadb --default-character-set=utf8mb4 < this-file
SET NAMES utf8mb4;
SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO';
SET SESSION time_zone = '+00:00';
-- unit URID=00AB authid=A\u000A\u202EB plan=
-- key: insert, --names lower
INSERT INTO shop.`order` (id, `user`, state, amount, rate) VALUES (1, CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)), 'NEW', -2.50, 0.1e0);
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- its inverse: delete
DELETE FROM shop.`order` WHERE id = 1;
DELETE FROM shop.`order` WHERE id = 9;
DELETE FROM shop.`order` WHERE id = 3;
-- key: update, --names lower, --where-columns key
UPDATE shop.`order` SET `user` = CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)), amount = -2.50 WHERE id = 1;
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- (nothing)
-- its inverse: update
UPDATE shop.`order` SET `user` = 'o''neil', amount = 1.50 WHERE id = 1;
UPDATE shop.`order` SET id = 2, `user` = NULL, state = NULL, amount = NULL, rate = NULL WHERE id = 9;
-- (nothing)
-- key: update, --names lower, --where-columns guard
UPDATE shop.`order` SET `user` = CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)), amount = -2.50 WHERE id = 1 AND CONVERT(`user` USING utf8mb4) COLLATE utf8mb4_nopad_bin = 'o''neil' AND amount = 1.50;
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- (nothing)
-- its inverse: update
UPDATE shop.`order` SET `user` = 'o''neil', amount = 1.50 WHERE id = 1 AND CONVERT(`user` USING utf8mb4) COLLATE utf8mb4_nopad_bin = CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)) AND amount = -2.50;
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- (nothing)
-- key: update, --names lower, --where-columns all
UPDATE shop.`order` SET `user` = CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)), amount = -2.50 WHERE id = 1 AND CONVERT(`user` USING utf8mb4) COLLATE utf8mb4_nopad_bin = 'o''neil' AND CONVERT(state USING utf8mb4) COLLATE utf8mb4_bin = 'NEW' AND amount = 1.50 AND rate BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- its inverse: update
UPDATE shop.`order` SET `user` = 'o''neil', amount = 1.50 WHERE id = 1 AND CONVERT(`user` USING utf8mb4) COLLATE utf8mb4_nopad_bin = CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)) AND CONVERT(state USING utf8mb4) COLLATE utf8mb4_bin = 'NEW' AND amount = -2.50 AND rate BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- key: delete, --names lower, --where-columns key
DELETE FROM shop.`order` WHERE id = 1;
DELETE FROM shop.`order` WHERE id = 2;
DELETE FROM shop.`order` WHERE id = 3;
-- its inverse: insert
INSERT INTO shop.`order` (id, `user`, state, amount, rate) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO shop.`order` (id, `user`, state, amount, rate) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- key: delete, --names lower, --where-columns guard
DELETE FROM shop.`order` WHERE id = 1 AND CONVERT(`user` USING utf8mb4) COLLATE utf8mb4_nopad_bin = 'o''neil' AND CONVERT(state USING utf8mb4) COLLATE utf8mb4_bin = 'NEW' AND amount = 1.50 AND rate BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
DELETE FROM shop.`order` WHERE id = 2 AND `user` IS NULL AND state IS NULL AND amount IS NULL AND rate IS NULL;
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- its inverse: insert
INSERT INTO shop.`order` (id, `user`, state, amount, rate) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO shop.`order` (id, `user`, state, amount, rate) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- key: delete, --names lower, --where-columns all
DELETE FROM shop.`order` WHERE id = 1 AND CONVERT(`user` USING utf8mb4) COLLATE utf8mb4_nopad_bin = 'o''neil' AND CONVERT(state USING utf8mb4) COLLATE utf8mb4_bin = 'NEW' AND amount = 1.50 AND rate BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
DELETE FROM shop.`order` WHERE id = 2 AND `user` IS NULL AND state IS NULL AND amount IS NULL AND rate IS NULL;
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- its inverse: insert
INSERT INTO shop.`order` (id, `user`, state, amount, rate) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO shop.`order` (id, `user`, state, amount, rate) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- key: insert, --names exact
INSERT INTO `SHOP`.`ORDER` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (1, CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)), 'NEW', -2.50, 0.1e0);
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- its inverse: delete
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 1;
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 9;
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 3;
-- key: update, --names exact, --where-columns key
UPDATE `SHOP`.`ORDER` SET `User` = CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)), `AMOUNT` = -2.50 WHERE `ID` = 1;
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- (nothing)
-- its inverse: update
UPDATE `SHOP`.`ORDER` SET `User` = 'o''neil', `AMOUNT` = 1.50 WHERE `ID` = 1;
UPDATE `SHOP`.`ORDER` SET `ID` = 2, `User` = NULL, `STATE` = NULL, `AMOUNT` = NULL, `RATE` = NULL WHERE `ID` = 9;
-- (nothing)
-- key: update, --names exact, --where-columns guard
UPDATE `SHOP`.`ORDER` SET `User` = CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)), `AMOUNT` = -2.50 WHERE `ID` = 1 AND CONVERT(`User` USING utf8mb4) COLLATE utf8mb4_nopad_bin = 'o''neil' AND `AMOUNT` = 1.50;
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- (nothing)
-- its inverse: update
UPDATE `SHOP`.`ORDER` SET `User` = 'o''neil', `AMOUNT` = 1.50 WHERE `ID` = 1 AND CONVERT(`User` USING utf8mb4) COLLATE utf8mb4_nopad_bin = CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)) AND `AMOUNT` = -2.50;
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- (nothing)
-- key: update, --names exact, --where-columns all
UPDATE `SHOP`.`ORDER` SET `User` = CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)), `AMOUNT` = -2.50 WHERE `ID` = 1 AND CONVERT(`User` USING utf8mb4) COLLATE utf8mb4_nopad_bin = 'o''neil' AND CONVERT(`STATE` USING utf8mb4) COLLATE utf8mb4_bin = 'NEW' AND `AMOUNT` = 1.50 AND `RATE` BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- its inverse: update
UPDATE `SHOP`.`ORDER` SET `User` = 'o''neil', `AMOUNT` = 1.50 WHERE `ID` = 1 AND CONVERT(`User` USING utf8mb4) COLLATE utf8mb4_nopad_bin = CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)) AND CONVERT(`STATE` USING utf8mb4) COLLATE utf8mb4_bin = 'NEW' AND `AMOUNT` = -2.50 AND `RATE` BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- key: delete, --names exact, --where-columns key
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 1;
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 2;
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 3;
-- its inverse: insert
INSERT INTO `SHOP`.`ORDER` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO `SHOP`.`ORDER` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- key: delete, --names exact, --where-columns guard
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 1 AND CONVERT(`User` USING utf8mb4) COLLATE utf8mb4_nopad_bin = 'o''neil' AND CONVERT(`STATE` USING utf8mb4) COLLATE utf8mb4_bin = 'NEW' AND `AMOUNT` = 1.50 AND `RATE` BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 2 AND `User` IS NULL AND `STATE` IS NULL AND `AMOUNT` IS NULL AND `RATE` IS NULL;
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- its inverse: insert
INSERT INTO `SHOP`.`ORDER` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO `SHOP`.`ORDER` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- key: delete, --names exact, --where-columns all
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 1 AND CONVERT(`User` USING utf8mb4) COLLATE utf8mb4_nopad_bin = 'o''neil' AND CONVERT(`STATE` USING utf8mb4) COLLATE utf8mb4_bin = 'NEW' AND `AMOUNT` = 1.50 AND `RATE` BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 2 AND `User` IS NULL AND `STATE` IS NULL AND `AMOUNT` IS NULL AND `RATE` IS NULL;
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- its inverse: insert
INSERT INTO `SHOP`.`ORDER` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO `SHOP`.`ORDER` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- no key: insert, --names lower
INSERT INTO shop.`order#log` (id, `user`, state, amount, rate) VALUES (1, CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)), 'NEW', -2.50, 0.1e0);
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- its inverse: delete
DELETE FROM shop.`order#log` WHERE id = 1 AND CONVERT(`user` USING utf8mb4) COLLATE utf8mb4_nopad_bin = CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)) AND CONVERT(state USING utf8mb4) COLLATE utf8mb4_bin = 'NEW' AND amount = -2.50 AND rate BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 LIMIT 1;
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- no key: update, --names lower, --where-columns key
UPDATE shop.`order#log` SET `user` = CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)), amount = -2.50 WHERE id = 1 AND CONVERT(`user` USING utf8mb4) COLLATE utf8mb4_nopad_bin = 'o''neil' AND CONVERT(state USING utf8mb4) COLLATE utf8mb4_bin = 'NEW' AND amount = 1.50 AND rate BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 LIMIT 1;
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- its inverse: update
UPDATE shop.`order#log` SET `user` = 'o''neil', amount = 1.50 WHERE id = 1 AND CONVERT(`user` USING utf8mb4) COLLATE utf8mb4_nopad_bin = CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)) AND CONVERT(state USING utf8mb4) COLLATE utf8mb4_bin = 'NEW' AND amount = -2.50 AND rate BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 LIMIT 1;
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- no key: update, --names lower, --where-columns guard
UPDATE shop.`order#log` SET `user` = CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)), amount = -2.50 WHERE id = 1 AND CONVERT(`user` USING utf8mb4) COLLATE utf8mb4_nopad_bin = 'o''neil' AND CONVERT(state USING utf8mb4) COLLATE utf8mb4_bin = 'NEW' AND amount = 1.50 AND rate BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 LIMIT 1;
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- its inverse: update
UPDATE shop.`order#log` SET `user` = 'o''neil', amount = 1.50 WHERE id = 1 AND CONVERT(`user` USING utf8mb4) COLLATE utf8mb4_nopad_bin = CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)) AND CONVERT(state USING utf8mb4) COLLATE utf8mb4_bin = 'NEW' AND amount = -2.50 AND rate BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 LIMIT 1;
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- no key: update, --names lower, --where-columns all
UPDATE shop.`order#log` SET `user` = CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)), amount = -2.50 WHERE id = 1 AND CONVERT(`user` USING utf8mb4) COLLATE utf8mb4_nopad_bin = 'o''neil' AND CONVERT(state USING utf8mb4) COLLATE utf8mb4_bin = 'NEW' AND amount = 1.50 AND rate BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 LIMIT 1;
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- its inverse: update
UPDATE shop.`order#log` SET `user` = 'o''neil', amount = 1.50 WHERE id = 1 AND CONVERT(`user` USING utf8mb4) COLLATE utf8mb4_nopad_bin = CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)) AND CONVERT(state USING utf8mb4) COLLATE utf8mb4_bin = 'NEW' AND amount = -2.50 AND rate BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 LIMIT 1;
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- no key: delete, --names lower, --where-columns key
DELETE FROM shop.`order#log` WHERE id = 1 AND CONVERT(`user` USING utf8mb4) COLLATE utf8mb4_nopad_bin = 'o''neil' AND CONVERT(state USING utf8mb4) COLLATE utf8mb4_bin = 'NEW' AND amount = 1.50 AND rate BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 LIMIT 1;
DELETE FROM shop.`order#log` WHERE id = 2 AND `user` IS NULL AND state IS NULL AND amount IS NULL AND rate IS NULL LIMIT 1;
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- its inverse: insert
INSERT INTO shop.`order#log` (id, `user`, state, amount, rate) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO shop.`order#log` (id, `user`, state, amount, rate) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- no key: delete, --names lower, --where-columns guard
DELETE FROM shop.`order#log` WHERE id = 1 AND CONVERT(`user` USING utf8mb4) COLLATE utf8mb4_nopad_bin = 'o''neil' AND CONVERT(state USING utf8mb4) COLLATE utf8mb4_bin = 'NEW' AND amount = 1.50 AND rate BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 LIMIT 1;
DELETE FROM shop.`order#log` WHERE id = 2 AND `user` IS NULL AND state IS NULL AND amount IS NULL AND rate IS NULL LIMIT 1;
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- its inverse: insert
INSERT INTO shop.`order#log` (id, `user`, state, amount, rate) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO shop.`order#log` (id, `user`, state, amount, rate) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- no key: delete, --names lower, --where-columns all
DELETE FROM shop.`order#log` WHERE id = 1 AND CONVERT(`user` USING utf8mb4) COLLATE utf8mb4_nopad_bin = 'o''neil' AND CONVERT(state USING utf8mb4) COLLATE utf8mb4_bin = 'NEW' AND amount = 1.50 AND rate BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 LIMIT 1;
DELETE FROM shop.`order#log` WHERE id = 2 AND `user` IS NULL AND state IS NULL AND amount IS NULL AND rate IS NULL LIMIT 1;
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- its inverse: insert
INSERT INTO shop.`order#log` (id, `user`, state, amount, rate) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO shop.`order#log` (id, `user`, state, amount, rate) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- no key: insert, --names exact
INSERT INTO `SHOP`.`ORDER#LOG` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (1, CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)), 'NEW', -2.50, 0.1e0);
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- its inverse: delete
DELETE FROM `SHOP`.`ORDER#LOG` WHERE `ID` = 1 AND CONVERT(`User` USING utf8mb4) COLLATE utf8mb4_nopad_bin = CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)) AND CONVERT(`STATE` USING utf8mb4) COLLATE utf8mb4_bin = 'NEW' AND `AMOUNT` = -2.50 AND `RATE` BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 LIMIT 1;
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- no key: update, --names exact, --where-columns key
UPDATE `SHOP`.`ORDER#LOG` SET `User` = CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)), `AMOUNT` = -2.50 WHERE `ID` = 1 AND CONVERT(`User` USING utf8mb4) COLLATE utf8mb4_nopad_bin = 'o''neil' AND CONVERT(`STATE` USING utf8mb4) COLLATE utf8mb4_bin = 'NEW' AND `AMOUNT` = 1.50 AND `RATE` BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 LIMIT 1;
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- its inverse: update
UPDATE `SHOP`.`ORDER#LOG` SET `User` = 'o''neil', `AMOUNT` = 1.50 WHERE `ID` = 1 AND CONVERT(`User` USING utf8mb4) COLLATE utf8mb4_nopad_bin = CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)) AND CONVERT(`STATE` USING utf8mb4) COLLATE utf8mb4_bin = 'NEW' AND `AMOUNT` = -2.50 AND `RATE` BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 LIMIT 1;
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- no key: update, --names exact, --where-columns guard
UPDATE `SHOP`.`ORDER#LOG` SET `User` = CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)), `AMOUNT` = -2.50 WHERE `ID` = 1 AND CONVERT(`User` USING utf8mb4) COLLATE utf8mb4_nopad_bin = 'o''neil' AND CONVERT(`STATE` USING utf8mb4) COLLATE utf8mb4_bin = 'NEW' AND `AMOUNT` = 1.50 AND `RATE` BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 LIMIT 1;
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- its inverse: update
UPDATE `SHOP`.`ORDER#LOG` SET `User` = 'o''neil', `AMOUNT` = 1.50 WHERE `ID` = 1 AND CONVERT(`User` USING utf8mb4) COLLATE utf8mb4_nopad_bin = CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)) AND CONVERT(`STATE` USING utf8mb4) COLLATE utf8mb4_bin = 'NEW' AND `AMOUNT` = -2.50 AND `RATE` BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 LIMIT 1;
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- no key: update, --names exact, --where-columns all
UPDATE `SHOP`.`ORDER#LOG` SET `User` = CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)), `AMOUNT` = -2.50 WHERE `ID` = 1 AND CONVERT(`User` USING utf8mb4) COLLATE utf8mb4_nopad_bin = 'o''neil' AND CONVERT(`STATE` USING utf8mb4) COLLATE utf8mb4_bin = 'NEW' AND `AMOUNT` = 1.50 AND `RATE` BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 LIMIT 1;
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- its inverse: update
UPDATE `SHOP`.`ORDER#LOG` SET `User` = 'o''neil', `AMOUNT` = 1.50 WHERE `ID` = 1 AND CONVERT(`User` USING utf8mb4) COLLATE utf8mb4_nopad_bin = CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)) AND CONVERT(`STATE` USING utf8mb4) COLLATE utf8mb4_bin = 'NEW' AND `AMOUNT` = -2.50 AND `RATE` BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 LIMIT 1;
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- no key: delete, --names exact, --where-columns key
DELETE FROM `SHOP`.`ORDER#LOG` WHERE `ID` = 1 AND CONVERT(`User` USING utf8mb4) COLLATE utf8mb4_nopad_bin = 'o''neil' AND CONVERT(`STATE` USING utf8mb4) COLLATE utf8mb4_bin = 'NEW' AND `AMOUNT` = 1.50 AND `RATE` BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 LIMIT 1;
DELETE FROM `SHOP`.`ORDER#LOG` WHERE `ID` = 2 AND `User` IS NULL AND `STATE` IS NULL AND `AMOUNT` IS NULL AND `RATE` IS NULL LIMIT 1;
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- its inverse: insert
INSERT INTO `SHOP`.`ORDER#LOG` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO `SHOP`.`ORDER#LOG` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- no key: delete, --names exact, --where-columns guard
DELETE FROM `SHOP`.`ORDER#LOG` WHERE `ID` = 1 AND CONVERT(`User` USING utf8mb4) COLLATE utf8mb4_nopad_bin = 'o''neil' AND CONVERT(`STATE` USING utf8mb4) COLLATE utf8mb4_bin = 'NEW' AND `AMOUNT` = 1.50 AND `RATE` BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 LIMIT 1;
DELETE FROM `SHOP`.`ORDER#LOG` WHERE `ID` = 2 AND `User` IS NULL AND `STATE` IS NULL AND `AMOUNT` IS NULL AND `RATE` IS NULL LIMIT 1;
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- its inverse: insert
INSERT INTO `SHOP`.`ORDER#LOG` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO `SHOP`.`ORDER#LOG` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- no key: delete, --names exact, --where-columns all
DELETE FROM `SHOP`.`ORDER#LOG` WHERE `ID` = 1 AND CONVERT(`User` USING utf8mb4) COLLATE utf8mb4_nopad_bin = 'o''neil' AND CONVERT(`STATE` USING utf8mb4) COLLATE utf8mb4_bin = 'NEW' AND `AMOUNT` = 1.50 AND `RATE` BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0 LIMIT 1;
DELETE FROM `SHOP`.`ORDER#LOG` WHERE `ID` = 2 AND `User` IS NULL AND `STATE` IS NULL AND `AMOUNT` IS NULL AND `RATE` IS NULL LIMIT 1;
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- its inverse: insert
INSERT INTO `SHOP`.`ORDER#LOG` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (1, 'o''neil', 'NEW', 1.50, 0.1e0);
INSERT INTO `SHOP`.`ORDER#LOG` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- key of a time and a float: insert, --names lower
INSERT INTO measure (`at`, span, `day`, clock, zoned, `raw`, `small-1`, big) VALUES ('0001-01-01 00:00:00.000000', 0.000009999999747378752e0, '9999-12-31', NULL, NULL, X'00ff', NULL, 0);
-- its inverse: delete
DELETE FROM measure WHERE `at` = '0001-01-01 00:00:00.000000' AND span = 0.000009999999747378752e0;
-- key of a time and a float: update, --names lower, --where-columns key
UPDATE measure SET span = 0.000009999999747378752e0, `day` = '9999-12-31', clock = NULL, zoned = NULL, `raw` = X'00ff', `small-1` = NULL, big = 0 WHERE `at` = '0001-01-01 00:00:00.000000' AND span = 0.10000000149011612e0;
-- its inverse: update
UPDATE measure SET span = 0.10000000149011612e0, `day` = '0001-01-01', clock = '24:00:00', zoned = '2024-02-29 10:00:00.500000+05:30', `raw` = X'', `small-1` = -1, big = 9223372036854775807 WHERE `at` = '0001-01-01 00:00:00.000000' AND span = 0.000009999999747378752e0;
-- key of a time and a float: update, --names lower, --where-columns guard
UPDATE measure SET span = 0.000009999999747378752e0, `day` = '9999-12-31', clock = NULL, zoned = NULL, `raw` = X'00ff', `small-1` = NULL, big = 0 WHERE `at` = '0001-01-01 00:00:00.000000' AND span = 0.10000000149011612e0 AND `day` = '0001-01-01' AND clock = '24:00:00' AND zoned = '2024-02-29 10:00:00.500000+05:30' AND `raw` = X'' AND `small-1` = -1 AND big = 9223372036854775807;
-- its inverse: update
UPDATE measure SET span = 0.10000000149011612e0, `day` = '0001-01-01', clock = '24:00:00', zoned = '2024-02-29 10:00:00.500000+05:30', `raw` = X'', `small-1` = -1, big = 9223372036854775807 WHERE `at` = '0001-01-01 00:00:00.000000' AND span = 0.000009999999747378752e0 AND `day` = '9999-12-31' AND clock IS NULL AND zoned IS NULL AND `raw` = X'00ff' AND `small-1` IS NULL AND big = 0;
-- key of a time and a float: update, --names lower, --where-columns all
UPDATE measure SET span = 0.000009999999747378752e0, `day` = '9999-12-31', clock = NULL, zoned = NULL, `raw` = X'00ff', `small-1` = NULL, big = 0 WHERE `at` = '0001-01-01 00:00:00.000000' AND span = 0.10000000149011612e0 AND `day` = '0001-01-01' AND clock = '24:00:00' AND zoned = '2024-02-29 10:00:00.500000+05:30' AND `raw` = X'' AND `small-1` = -1 AND big = 9223372036854775807;
-- its inverse: update
UPDATE measure SET span = 0.10000000149011612e0, `day` = '0001-01-01', clock = '24:00:00', zoned = '2024-02-29 10:00:00.500000+05:30', `raw` = X'', `small-1` = -1, big = 9223372036854775807 WHERE `at` = '0001-01-01 00:00:00.000000' AND span = 0.000009999999747378752e0 AND `day` = '9999-12-31' AND clock IS NULL AND zoned IS NULL AND `raw` = X'00ff' AND `small-1` IS NULL AND big = 0;
-- key of a time and a float: delete, --names lower, --where-columns key
DELETE FROM measure WHERE `at` = '0001-01-01 00:00:00.000000' AND span = 0.10000000149011612e0;
-- its inverse: insert
INSERT INTO measure (`at`, span, `day`, clock, zoned, `raw`, `small-1`, big) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '24:00:00', '2024-02-29 10:00:00.500000+05:30', X'', -1, 9223372036854775807);
-- key of a time and a float: delete, --names lower, --where-columns guard
DELETE FROM measure WHERE `at` = '0001-01-01 00:00:00.000000' AND span = 0.10000000149011612e0 AND `day` = '0001-01-01' AND clock = '24:00:00' AND zoned = '2024-02-29 10:00:00.500000+05:30' AND `raw` = X'' AND `small-1` = -1 AND big = 9223372036854775807;
-- its inverse: insert
INSERT INTO measure (`at`, span, `day`, clock, zoned, `raw`, `small-1`, big) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '24:00:00', '2024-02-29 10:00:00.500000+05:30', X'', -1, 9223372036854775807);
-- key of a time and a float: delete, --names lower, --where-columns all
DELETE FROM measure WHERE `at` = '0001-01-01 00:00:00.000000' AND span = 0.10000000149011612e0 AND `day` = '0001-01-01' AND clock = '24:00:00' AND zoned = '2024-02-29 10:00:00.500000+05:30' AND `raw` = X'' AND `small-1` = -1 AND big = 9223372036854775807;
-- its inverse: insert
INSERT INTO measure (`at`, span, `day`, clock, zoned, `raw`, `small-1`, big) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '24:00:00', '2024-02-29 10:00:00.500000+05:30', X'', -1, 9223372036854775807);
-- key of a time and a float: insert, --names exact
INSERT INTO `MEASURE` (`AT`, `SPAN`, `DAY`, `CLOCK`, `ZONED`, `RAW`, `SMALL-1`, `BIG`) VALUES ('0001-01-01 00:00:00.000000', 0.000009999999747378752e0, '9999-12-31', NULL, NULL, X'00ff', NULL, 0);
-- its inverse: delete
DELETE FROM `MEASURE` WHERE `AT` = '0001-01-01 00:00:00.000000' AND `SPAN` = 0.000009999999747378752e0;
-- key of a time and a float: update, --names exact, --where-columns key
UPDATE `MEASURE` SET `SPAN` = 0.000009999999747378752e0, `DAY` = '9999-12-31', `CLOCK` = NULL, `ZONED` = NULL, `RAW` = X'00ff', `SMALL-1` = NULL, `BIG` = 0 WHERE `AT` = '0001-01-01 00:00:00.000000' AND `SPAN` = 0.10000000149011612e0;
-- its inverse: update
UPDATE `MEASURE` SET `SPAN` = 0.10000000149011612e0, `DAY` = '0001-01-01', `CLOCK` = '24:00:00', `ZONED` = '2024-02-29 10:00:00.500000+05:30', `RAW` = X'', `SMALL-1` = -1, `BIG` = 9223372036854775807 WHERE `AT` = '0001-01-01 00:00:00.000000' AND `SPAN` = 0.000009999999747378752e0;
-- key of a time and a float: update, --names exact, --where-columns guard
UPDATE `MEASURE` SET `SPAN` = 0.000009999999747378752e0, `DAY` = '9999-12-31', `CLOCK` = NULL, `ZONED` = NULL, `RAW` = X'00ff', `SMALL-1` = NULL, `BIG` = 0 WHERE `AT` = '0001-01-01 00:00:00.000000' AND `SPAN` = 0.10000000149011612e0 AND `DAY` = '0001-01-01' AND `CLOCK` = '24:00:00' AND `ZONED` = '2024-02-29 10:00:00.500000+05:30' AND `RAW` = X'' AND `SMALL-1` = -1 AND `BIG` = 9223372036854775807;
-- its inverse: update
UPDATE `MEASURE` SET `SPAN` = 0.10000000149011612e0, `DAY` = '0001-01-01', `CLOCK` = '24:00:00', `ZONED` = '2024-02-29 10:00:00.500000+05:30', `RAW` = X'', `SMALL-1` = -1, `BIG` = 9223372036854775807 WHERE `AT` = '0001-01-01 00:00:00.000000' AND `SPAN` = 0.000009999999747378752e0 AND `DAY` = '9999-12-31' AND `CLOCK` IS NULL AND `ZONED` IS NULL AND `RAW` = X'00ff' AND `SMALL-1` IS NULL AND `BIG` = 0;
-- key of a time and a float: update, --names exact, --where-columns all
UPDATE `MEASURE` SET `SPAN` = 0.000009999999747378752e0, `DAY` = '9999-12-31', `CLOCK` = NULL, `ZONED` = NULL, `RAW` = X'00ff', `SMALL-1` = NULL, `BIG` = 0 WHERE `AT` = '0001-01-01 00:00:00.000000' AND `SPAN` = 0.10000000149011612e0 AND `DAY` = '0001-01-01' AND `CLOCK` = '24:00:00' AND `ZONED` = '2024-02-29 10:00:00.500000+05:30' AND `RAW` = X'' AND `SMALL-1` = -1 AND `BIG` = 9223372036854775807;
-- its inverse: update
UPDATE `MEASURE` SET `SPAN` = 0.10000000149011612e0, `DAY` = '0001-01-01', `CLOCK` = '24:00:00', `ZONED` = '2024-02-29 10:00:00.500000+05:30', `RAW` = X'', `SMALL-1` = -1, `BIG` = 9223372036854775807 WHERE `AT` = '0001-01-01 00:00:00.000000' AND `SPAN` = 0.000009999999747378752e0 AND `DAY` = '9999-12-31' AND `CLOCK` IS NULL AND `ZONED` IS NULL AND `RAW` = X'00ff' AND `SMALL-1` IS NULL AND `BIG` = 0;
-- key of a time and a float: delete, --names exact, --where-columns key
DELETE FROM `MEASURE` WHERE `AT` = '0001-01-01 00:00:00.000000' AND `SPAN` = 0.10000000149011612e0;
-- its inverse: insert
INSERT INTO `MEASURE` (`AT`, `SPAN`, `DAY`, `CLOCK`, `ZONED`, `RAW`, `SMALL-1`, `BIG`) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '24:00:00', '2024-02-29 10:00:00.500000+05:30', X'', -1, 9223372036854775807);
-- key of a time and a float: delete, --names exact, --where-columns guard
DELETE FROM `MEASURE` WHERE `AT` = '0001-01-01 00:00:00.000000' AND `SPAN` = 0.10000000149011612e0 AND `DAY` = '0001-01-01' AND `CLOCK` = '24:00:00' AND `ZONED` = '2024-02-29 10:00:00.500000+05:30' AND `RAW` = X'' AND `SMALL-1` = -1 AND `BIG` = 9223372036854775807;
-- its inverse: insert
INSERT INTO `MEASURE` (`AT`, `SPAN`, `DAY`, `CLOCK`, `ZONED`, `RAW`, `SMALL-1`, `BIG`) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '24:00:00', '2024-02-29 10:00:00.500000+05:30', X'', -1, 9223372036854775807);
-- key of a time and a float: delete, --names exact, --where-columns all
DELETE FROM `MEASURE` WHERE `AT` = '0001-01-01 00:00:00.000000' AND `SPAN` = 0.10000000149011612e0 AND `DAY` = '0001-01-01' AND `CLOCK` = '24:00:00' AND `ZONED` = '2024-02-29 10:00:00.500000+05:30' AND `RAW` = X'' AND `SMALL-1` = -1 AND `BIG` = 9223372036854775807;
-- its inverse: insert
INSERT INTO `MEASURE` (`AT`, `SPAN`, `DAY`, `CLOCK`, `ZONED`, `RAW`, `SMALL-1`, `BIG`) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '24:00:00', '2024-02-29 10:00:00.500000+05:30', X'', -1, 9223372036854775807);
-- excluded columns, blanks of CHAR kept
INSERT INTO shop.`order` (id, state, rate) VALUES (1, 'NEW ', 0.1e0);
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- (nothing)
-- LR3001 RATE: found nan; expected a number that mariadb can hold
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
UPDATE shop.`order` SET `user` = CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)), state = 'NEW', amount = -2.50, rate = 0.1e0 WHERE id = 1;
INSERT INTO shop.`order` (id, `user`, state, amount, rate) SELECT 1, CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)), 'NEW', -2.50, 0.1e0 FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM shop.`order` WHERE id = 1);
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- its inverse: delete
DELETE FROM shop.`order` WHERE id = 1;
DELETE FROM shop.`order` WHERE id = 9;
DELETE FROM shop.`order` WHERE id = 3;
-- upsert, key: update, --names lower
UPDATE shop.`order` SET `user` = CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)), state = 'NEW', amount = -2.50, rate = 0.1e0 WHERE id = 1;
INSERT INTO shop.`order` (id, `user`, state, amount, rate) SELECT 1, CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)), 'NEW', -2.50, 0.1e0 FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM shop.`order` WHERE id = 1);
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- (nothing)
-- its inverse: update
UPDATE shop.`order` SET `user` = 'o''neil', state = 'NEW', amount = 1.50, rate = 0.1e0 WHERE id = 1;
INSERT INTO shop.`order` (id, `user`, state, amount, rate) SELECT 1, 'o''neil', 'NEW', 1.50, 0.1e0 FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM shop.`order` WHERE id = 1);
DELETE FROM shop.`order` WHERE id = 9;
UPDATE shop.`order` SET `user` = NULL, state = NULL, amount = NULL, rate = NULL WHERE id = 2;
INSERT INTO shop.`order` (id, `user`, state, amount, rate) SELECT 2, NULL, NULL, NULL, NULL FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM shop.`order` WHERE id = 2);
-- (nothing)
-- upsert, key: delete, --names lower
DELETE FROM shop.`order` WHERE id = 1;
DELETE FROM shop.`order` WHERE id = 2;
DELETE FROM shop.`order` WHERE id = 3;
-- its inverse: insert
UPDATE shop.`order` SET `user` = 'o''neil', state = 'NEW', amount = 1.50, rate = 0.1e0 WHERE id = 1;
INSERT INTO shop.`order` (id, `user`, state, amount, rate) SELECT 1, 'o''neil', 'NEW', 1.50, 0.1e0 FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM shop.`order` WHERE id = 1);
UPDATE shop.`order` SET `user` = NULL, state = NULL, amount = NULL, rate = NULL WHERE id = 2;
INSERT INTO shop.`order` (id, `user`, state, amount, rate) SELECT 2, NULL, NULL, NULL, NULL FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM shop.`order` WHERE id = 2);
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- upsert, key: insert, --names exact
UPDATE `SHOP`.`ORDER` SET `User` = CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)), `STATE` = 'NEW', `AMOUNT` = -2.50, `RATE` = 0.1e0 WHERE `ID` = 1;
INSERT INTO `SHOP`.`ORDER` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) SELECT 1, CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)), 'NEW', -2.50, 0.1e0 FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM `SHOP`.`ORDER` WHERE `ID` = 1);
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- its inverse: delete
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 1;
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 9;
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 3;
-- upsert, key: update, --names exact
UPDATE `SHOP`.`ORDER` SET `User` = CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)), `STATE` = 'NEW', `AMOUNT` = -2.50, `RATE` = 0.1e0 WHERE `ID` = 1;
INSERT INTO `SHOP`.`ORDER` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) SELECT 1, CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)), 'NEW', -2.50, 0.1e0 FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM `SHOP`.`ORDER` WHERE `ID` = 1);
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- (nothing)
-- its inverse: update
UPDATE `SHOP`.`ORDER` SET `User` = 'o''neil', `STATE` = 'NEW', `AMOUNT` = 1.50, `RATE` = 0.1e0 WHERE `ID` = 1;
INSERT INTO `SHOP`.`ORDER` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) SELECT 1, 'o''neil', 'NEW', 1.50, 0.1e0 FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM `SHOP`.`ORDER` WHERE `ID` = 1);
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 9;
UPDATE `SHOP`.`ORDER` SET `User` = NULL, `STATE` = NULL, `AMOUNT` = NULL, `RATE` = NULL WHERE `ID` = 2;
INSERT INTO `SHOP`.`ORDER` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) SELECT 2, NULL, NULL, NULL, NULL FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM `SHOP`.`ORDER` WHERE `ID` = 2);
-- (nothing)
-- upsert, key: delete, --names exact
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 1;
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 2;
DELETE FROM `SHOP`.`ORDER` WHERE `ID` = 3;
-- its inverse: insert
UPDATE `SHOP`.`ORDER` SET `User` = 'o''neil', `STATE` = 'NEW', `AMOUNT` = 1.50, `RATE` = 0.1e0 WHERE `ID` = 1;
INSERT INTO `SHOP`.`ORDER` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) SELECT 1, 'o''neil', 'NEW', 1.50, 0.1e0 FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM `SHOP`.`ORDER` WHERE `ID` = 1);
UPDATE `SHOP`.`ORDER` SET `User` = NULL, `STATE` = NULL, `AMOUNT` = NULL, `RATE` = NULL WHERE `ID` = 2;
INSERT INTO `SHOP`.`ORDER` (`ID`, `User`, `STATE`, `AMOUNT`, `RATE`) SELECT 2, NULL, NULL, NULL, NULL FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM `SHOP`.`ORDER` WHERE `ID` = 2);
-- LR3001 RATE: found inf; expected a number that mariadb can hold
-- upsert, key of a time and a float: insert, --names lower
UPDATE measure SET `day` = '9999-12-31', clock = NULL, zoned = NULL, `raw` = X'00ff', `small-1` = NULL, big = 0 WHERE `at` = '0001-01-01 00:00:00.000000' AND span = 0.000009999999747378752e0;
INSERT INTO measure (`at`, span, `day`, clock, zoned, `raw`, `small-1`, big) SELECT '0001-01-01 00:00:00.000000', 0.000009999999747378752e0, '9999-12-31', NULL, NULL, X'00ff', NULL, 0 FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM measure WHERE `at` = '0001-01-01 00:00:00.000000' AND span = 0.000009999999747378752e0);
-- its inverse: delete
DELETE FROM measure WHERE `at` = '0001-01-01 00:00:00.000000' AND span = 0.000009999999747378752e0;
-- upsert, key of a time and a float: update, --names lower
DELETE FROM measure WHERE `at` = '0001-01-01 00:00:00.000000' AND span = 0.10000000149011612e0;
UPDATE measure SET `day` = '9999-12-31', clock = NULL, zoned = NULL, `raw` = X'00ff', `small-1` = NULL, big = 0 WHERE `at` = '0001-01-01 00:00:00.000000' AND span = 0.000009999999747378752e0;
INSERT INTO measure (`at`, span, `day`, clock, zoned, `raw`, `small-1`, big) SELECT '0001-01-01 00:00:00.000000', 0.000009999999747378752e0, '9999-12-31', NULL, NULL, X'00ff', NULL, 0 FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM measure WHERE `at` = '0001-01-01 00:00:00.000000' AND span = 0.000009999999747378752e0);
-- its inverse: update
DELETE FROM measure WHERE `at` = '0001-01-01 00:00:00.000000' AND span = 0.000009999999747378752e0;
UPDATE measure SET `day` = '0001-01-01', clock = '24:00:00', zoned = '2024-02-29 10:00:00.500000+05:30', `raw` = X'', `small-1` = -1, big = 9223372036854775807 WHERE `at` = '0001-01-01 00:00:00.000000' AND span = 0.10000000149011612e0;
INSERT INTO measure (`at`, span, `day`, clock, zoned, `raw`, `small-1`, big) SELECT '0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '24:00:00', '2024-02-29 10:00:00.500000+05:30', X'', -1, 9223372036854775807 FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM measure WHERE `at` = '0001-01-01 00:00:00.000000' AND span = 0.10000000149011612e0);
-- upsert, key of a time and a float: delete, --names lower
DELETE FROM measure WHERE `at` = '0001-01-01 00:00:00.000000' AND span = 0.10000000149011612e0;
-- its inverse: insert
UPDATE measure SET `day` = '0001-01-01', clock = '24:00:00', zoned = '2024-02-29 10:00:00.500000+05:30', `raw` = X'', `small-1` = -1, big = 9223372036854775807 WHERE `at` = '0001-01-01 00:00:00.000000' AND span = 0.10000000149011612e0;
INSERT INTO measure (`at`, span, `day`, clock, zoned, `raw`, `small-1`, big) SELECT '0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '24:00:00', '2024-02-29 10:00:00.500000+05:30', X'', -1, 9223372036854775807 FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM measure WHERE `at` = '0001-01-01 00:00:00.000000' AND span = 0.10000000149011612e0);
-- upsert, key of a time and a float: insert, --names exact
UPDATE `MEASURE` SET `DAY` = '9999-12-31', `CLOCK` = NULL, `ZONED` = NULL, `RAW` = X'00ff', `SMALL-1` = NULL, `BIG` = 0 WHERE `AT` = '0001-01-01 00:00:00.000000' AND `SPAN` = 0.000009999999747378752e0;
INSERT INTO `MEASURE` (`AT`, `SPAN`, `DAY`, `CLOCK`, `ZONED`, `RAW`, `SMALL-1`, `BIG`) SELECT '0001-01-01 00:00:00.000000', 0.000009999999747378752e0, '9999-12-31', NULL, NULL, X'00ff', NULL, 0 FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM `MEASURE` WHERE `AT` = '0001-01-01 00:00:00.000000' AND `SPAN` = 0.000009999999747378752e0);
-- its inverse: delete
DELETE FROM `MEASURE` WHERE `AT` = '0001-01-01 00:00:00.000000' AND `SPAN` = 0.000009999999747378752e0;
-- upsert, key of a time and a float: update, --names exact
DELETE FROM `MEASURE` WHERE `AT` = '0001-01-01 00:00:00.000000' AND `SPAN` = 0.10000000149011612e0;
UPDATE `MEASURE` SET `DAY` = '9999-12-31', `CLOCK` = NULL, `ZONED` = NULL, `RAW` = X'00ff', `SMALL-1` = NULL, `BIG` = 0 WHERE `AT` = '0001-01-01 00:00:00.000000' AND `SPAN` = 0.000009999999747378752e0;
INSERT INTO `MEASURE` (`AT`, `SPAN`, `DAY`, `CLOCK`, `ZONED`, `RAW`, `SMALL-1`, `BIG`) SELECT '0001-01-01 00:00:00.000000', 0.000009999999747378752e0, '9999-12-31', NULL, NULL, X'00ff', NULL, 0 FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM `MEASURE` WHERE `AT` = '0001-01-01 00:00:00.000000' AND `SPAN` = 0.000009999999747378752e0);
-- its inverse: update
DELETE FROM `MEASURE` WHERE `AT` = '0001-01-01 00:00:00.000000' AND `SPAN` = 0.000009999999747378752e0;
UPDATE `MEASURE` SET `DAY` = '0001-01-01', `CLOCK` = '24:00:00', `ZONED` = '2024-02-29 10:00:00.500000+05:30', `RAW` = X'', `SMALL-1` = -1, `BIG` = 9223372036854775807 WHERE `AT` = '0001-01-01 00:00:00.000000' AND `SPAN` = 0.10000000149011612e0;
INSERT INTO `MEASURE` (`AT`, `SPAN`, `DAY`, `CLOCK`, `ZONED`, `RAW`, `SMALL-1`, `BIG`) SELECT '0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '24:00:00', '2024-02-29 10:00:00.500000+05:30', X'', -1, 9223372036854775807 FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM `MEASURE` WHERE `AT` = '0001-01-01 00:00:00.000000' AND `SPAN` = 0.10000000149011612e0);
-- upsert, key of a time and a float: delete, --names exact
DELETE FROM `MEASURE` WHERE `AT` = '0001-01-01 00:00:00.000000' AND `SPAN` = 0.10000000149011612e0;
-- its inverse: insert
UPDATE `MEASURE` SET `DAY` = '0001-01-01', `CLOCK` = '24:00:00', `ZONED` = '2024-02-29 10:00:00.500000+05:30', `RAW` = X'', `SMALL-1` = -1, `BIG` = 9223372036854775807 WHERE `AT` = '0001-01-01 00:00:00.000000' AND `SPAN` = 0.10000000149011612e0;
INSERT INTO `MEASURE` (`AT`, `SPAN`, `DAY`, `CLOCK`, `ZONED`, `RAW`, `SMALL-1`, `BIG`) SELECT '0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '24:00:00', '2024-02-29 10:00:00.500000+05:30', X'', -1, 9223372036854775807 FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM `MEASURE` WHERE `AT` = '0001-01-01 00:00:00.000000' AND `SPAN` = 0.10000000149011612e0);
-- upsert, nothing but key: insert, --names lower
INSERT INTO shop.pair (id, amount) SELECT 1, 2.50 FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM shop.pair WHERE id = 1 AND amount = 2.50);
-- LR3013 AMOUNT: found NULL in the key; expected a value in every column of the key: NULL is equal to nothing
-- its inverse: delete
DELETE FROM shop.pair WHERE id = 1 AND amount = 2.50;
DELETE FROM shop.pair WHERE id = 2 AND amount IS NULL;
-- upsert, nothing but key: update, --names lower
DELETE FROM shop.pair WHERE id = 1 AND amount = 1.50;
INSERT INTO shop.pair (id, amount) SELECT 1, 2.50 FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM shop.pair WHERE id = 1 AND amount = 2.50);
-- LR3013 AMOUNT: found NULL in the key; expected a value in every column of the key: NULL is equal to nothing
-- its inverse: update
DELETE FROM shop.pair WHERE id = 1 AND amount = 2.50;
INSERT INTO shop.pair (id, amount) SELECT 1, 1.50 FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM shop.pair WHERE id = 1 AND amount = 1.50);
DELETE FROM shop.pair WHERE id = 2 AND amount IS NULL;
INSERT INTO shop.pair (id, amount) SELECT 2, 2.00 FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM shop.pair WHERE id = 2 AND amount = 2.00);
-- upsert, nothing but key: delete, --names lower
DELETE FROM shop.pair WHERE id = 1 AND amount = 1.50;
DELETE FROM shop.pair WHERE id = 2 AND amount = 2.00;
-- its inverse: insert
INSERT INTO shop.pair (id, amount) SELECT 1, 1.50 FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM shop.pair WHERE id = 1 AND amount = 1.50);
INSERT INTO shop.pair (id, amount) SELECT 2, 2.00 FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM shop.pair WHERE id = 2 AND amount = 2.00);
-- upsert, nothing but key: insert, --names exact
INSERT INTO `SHOP`.`PAIR` (`ID`, `AMOUNT`) SELECT 1, 2.50 FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM `SHOP`.`PAIR` WHERE `ID` = 1 AND `AMOUNT` = 2.50);
-- LR3013 AMOUNT: found NULL in the key; expected a value in every column of the key: NULL is equal to nothing
-- its inverse: delete
DELETE FROM `SHOP`.`PAIR` WHERE `ID` = 1 AND `AMOUNT` = 2.50;
DELETE FROM `SHOP`.`PAIR` WHERE `ID` = 2 AND `AMOUNT` IS NULL;
-- upsert, nothing but key: update, --names exact
DELETE FROM `SHOP`.`PAIR` WHERE `ID` = 1 AND `AMOUNT` = 1.50;
INSERT INTO `SHOP`.`PAIR` (`ID`, `AMOUNT`) SELECT 1, 2.50 FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM `SHOP`.`PAIR` WHERE `ID` = 1 AND `AMOUNT` = 2.50);
-- LR3013 AMOUNT: found NULL in the key; expected a value in every column of the key: NULL is equal to nothing
-- its inverse: update
DELETE FROM `SHOP`.`PAIR` WHERE `ID` = 1 AND `AMOUNT` = 2.50;
INSERT INTO `SHOP`.`PAIR` (`ID`, `AMOUNT`) SELECT 1, 1.50 FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM `SHOP`.`PAIR` WHERE `ID` = 1 AND `AMOUNT` = 1.50);
DELETE FROM `SHOP`.`PAIR` WHERE `ID` = 2 AND `AMOUNT` IS NULL;
INSERT INTO `SHOP`.`PAIR` (`ID`, `AMOUNT`) SELECT 2, 2.00 FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM `SHOP`.`PAIR` WHERE `ID` = 2 AND `AMOUNT` = 2.00);
-- upsert, nothing but key: delete, --names exact
DELETE FROM `SHOP`.`PAIR` WHERE `ID` = 1 AND `AMOUNT` = 1.50;
DELETE FROM `SHOP`.`PAIR` WHERE `ID` = 2 AND `AMOUNT` = 2.00;
-- its inverse: insert
INSERT INTO `SHOP`.`PAIR` (`ID`, `AMOUNT`) SELECT 1, 1.50 FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM `SHOP`.`PAIR` WHERE `ID` = 1 AND `AMOUNT` = 1.50);
INSERT INTO `SHOP`.`PAIR` (`ID`, `AMOUNT`) SELECT 2, 2.00 FROM DUAL WHERE NOT EXISTS(SELECT 1 FROM `SHOP`.`PAIR` WHERE `ID` = 2 AND `AMOUNT` = 2.00);
-- upsert: updates of which a part is known, and with excluded columns
UPDATE shop.`order` SET `user` = CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)), amount = -2.50 WHERE id = 1;
-- LR3013: found a change of the key of a row of SHOP.ORDER that cannot be written whole: values are not in the log, or columns or changes are left out; expected the whole row: --upsert puts it in place under its new key
-- (nothing)
UPDATE shop.`order` SET `user` = CONCAT('tab', CHAR(9 USING utf8mb4), 'back', CHAR(92 USING utf8mb4)) WHERE id = 1;
-- LR3001 RATE: found nan; expected a number that mariadb can hold
-- (nothing)
