-- logreplay redo script for tsql. Stop at the first error, for example: sqlcmd -b -x -f 65001 -i this-file
SET XACT_ABORT ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
-- unit URID=00AB authid=A\u000A\u202EB plan=
-- key: insert, --names lower
INSERT INTO shop.[order] (id, [user], state, amount, rate) VALUES (1, CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\', N'NEW', -2.50, 0.1e0);
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- its inverse: delete
DELETE FROM shop.[order] WHERE id = 1;
DELETE FROM shop.[order] WHERE id = 9;
DELETE FROM shop.[order] WHERE id = 3;
-- key: update, --names lower, --where-columns key
UPDATE shop.[order] SET [user] = CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\', amount = -2.50 WHERE id = 1;
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- (nothing)
-- its inverse: update
UPDATE shop.[order] SET [user] = N'o''neil', amount = 1.50 WHERE id = 1;
UPDATE shop.[order] SET id = 2, [user] = NULL, state = NULL, amount = NULL, rate = NULL WHERE id = 9;
-- (nothing)
-- key: update, --names lower, --where-columns guard
UPDATE shop.[order] SET [user] = CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\', amount = -2.50 WHERE id = 1 AND [user] + N'.' = N'o''neil' + N'.' COLLATE Latin1_General_100_BIN2 AND amount = 1.50;
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- (nothing)
-- its inverse: update
UPDATE shop.[order] SET [user] = N'o''neil', amount = 1.50 WHERE id = 1 AND [user] + N'.' = CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\' + N'.' COLLATE Latin1_General_100_BIN2 AND amount = -2.50;
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- (nothing)
-- key: update, --names lower, --where-columns all
UPDATE shop.[order] SET [user] = CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\', amount = -2.50 WHERE id = 1 AND [user] + N'.' = N'o''neil' + N'.' COLLATE Latin1_General_100_BIN2 AND state = N'NEW' COLLATE Latin1_General_100_BIN2 AND amount = 1.50 AND rate BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- its inverse: update
UPDATE shop.[order] SET [user] = N'o''neil', amount = 1.50 WHERE id = 1 AND [user] + N'.' = CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\' + N'.' COLLATE Latin1_General_100_BIN2 AND state = N'NEW' COLLATE Latin1_General_100_BIN2 AND amount = -2.50 AND rate BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- key: delete, --names lower, --where-columns key
DELETE FROM shop.[order] WHERE id = 1;
DELETE FROM shop.[order] WHERE id = 2;
DELETE FROM shop.[order] WHERE id = 3;
-- its inverse: insert
INSERT INTO shop.[order] (id, [user], state, amount, rate) VALUES (1, N'o''neil', N'NEW', 1.50, 0.1e0);
INSERT INTO shop.[order] (id, [user], state, amount, rate) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- key: delete, --names lower, --where-columns guard
DELETE FROM shop.[order] WHERE id = 1 AND [user] + N'.' = N'o''neil' + N'.' COLLATE Latin1_General_100_BIN2 AND state = N'NEW' COLLATE Latin1_General_100_BIN2 AND amount = 1.50 AND rate BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
DELETE FROM shop.[order] WHERE id = 2 AND [user] IS NULL AND state IS NULL AND amount IS NULL AND rate IS NULL;
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- its inverse: insert
INSERT INTO shop.[order] (id, [user], state, amount, rate) VALUES (1, N'o''neil', N'NEW', 1.50, 0.1e0);
INSERT INTO shop.[order] (id, [user], state, amount, rate) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- key: delete, --names lower, --where-columns all
DELETE FROM shop.[order] WHERE id = 1 AND [user] + N'.' = N'o''neil' + N'.' COLLATE Latin1_General_100_BIN2 AND state = N'NEW' COLLATE Latin1_General_100_BIN2 AND amount = 1.50 AND rate BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
DELETE FROM shop.[order] WHERE id = 2 AND [user] IS NULL AND state IS NULL AND amount IS NULL AND rate IS NULL;
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- its inverse: insert
INSERT INTO shop.[order] (id, [user], state, amount, rate) VALUES (1, N'o''neil', N'NEW', 1.50, 0.1e0);
INSERT INTO shop.[order] (id, [user], state, amount, rate) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- key: insert, --names exact
INSERT INTO [SHOP].[ORDER] ([ID], [User], [STATE], [AMOUNT], [RATE]) VALUES (1, CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\', N'NEW', -2.50, 0.1e0);
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- its inverse: delete
DELETE FROM [SHOP].[ORDER] WHERE [ID] = 1;
DELETE FROM [SHOP].[ORDER] WHERE [ID] = 9;
DELETE FROM [SHOP].[ORDER] WHERE [ID] = 3;
-- key: update, --names exact, --where-columns key
UPDATE [SHOP].[ORDER] SET [User] = CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\', [AMOUNT] = -2.50 WHERE [ID] = 1;
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- (nothing)
-- its inverse: update
UPDATE [SHOP].[ORDER] SET [User] = N'o''neil', [AMOUNT] = 1.50 WHERE [ID] = 1;
UPDATE [SHOP].[ORDER] SET [ID] = 2, [User] = NULL, [STATE] = NULL, [AMOUNT] = NULL, [RATE] = NULL WHERE [ID] = 9;
-- (nothing)
-- key: update, --names exact, --where-columns guard
UPDATE [SHOP].[ORDER] SET [User] = CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\', [AMOUNT] = -2.50 WHERE [ID] = 1 AND [User] + N'.' = N'o''neil' + N'.' COLLATE Latin1_General_100_BIN2 AND [AMOUNT] = 1.50;
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- (nothing)
-- its inverse: update
UPDATE [SHOP].[ORDER] SET [User] = N'o''neil', [AMOUNT] = 1.50 WHERE [ID] = 1 AND [User] + N'.' = CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\' + N'.' COLLATE Latin1_General_100_BIN2 AND [AMOUNT] = -2.50;
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- (nothing)
-- key: update, --names exact, --where-columns all
UPDATE [SHOP].[ORDER] SET [User] = CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\', [AMOUNT] = -2.50 WHERE [ID] = 1 AND [User] + N'.' = N'o''neil' + N'.' COLLATE Latin1_General_100_BIN2 AND [STATE] = N'NEW' COLLATE Latin1_General_100_BIN2 AND [AMOUNT] = 1.50 AND [RATE] BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- its inverse: update
UPDATE [SHOP].[ORDER] SET [User] = N'o''neil', [AMOUNT] = 1.50 WHERE [ID] = 1 AND [User] + N'.' = CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\' + N'.' COLLATE Latin1_General_100_BIN2 AND [STATE] = N'NEW' COLLATE Latin1_General_100_BIN2 AND [AMOUNT] = -2.50 AND [RATE] BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- key: delete, --names exact, --where-columns key
DELETE FROM [SHOP].[ORDER] WHERE [ID] = 1;
DELETE FROM [SHOP].[ORDER] WHERE [ID] = 2;
DELETE FROM [SHOP].[ORDER] WHERE [ID] = 3;
-- its inverse: insert
INSERT INTO [SHOP].[ORDER] ([ID], [User], [STATE], [AMOUNT], [RATE]) VALUES (1, N'o''neil', N'NEW', 1.50, 0.1e0);
INSERT INTO [SHOP].[ORDER] ([ID], [User], [STATE], [AMOUNT], [RATE]) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- key: delete, --names exact, --where-columns guard
DELETE FROM [SHOP].[ORDER] WHERE [ID] = 1 AND [User] + N'.' = N'o''neil' + N'.' COLLATE Latin1_General_100_BIN2 AND [STATE] = N'NEW' COLLATE Latin1_General_100_BIN2 AND [AMOUNT] = 1.50 AND [RATE] BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
DELETE FROM [SHOP].[ORDER] WHERE [ID] = 2 AND [User] IS NULL AND [STATE] IS NULL AND [AMOUNT] IS NULL AND [RATE] IS NULL;
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- its inverse: insert
INSERT INTO [SHOP].[ORDER] ([ID], [User], [STATE], [AMOUNT], [RATE]) VALUES (1, N'o''neil', N'NEW', 1.50, 0.1e0);
INSERT INTO [SHOP].[ORDER] ([ID], [User], [STATE], [AMOUNT], [RATE]) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- key: delete, --names exact, --where-columns all
DELETE FROM [SHOP].[ORDER] WHERE [ID] = 1 AND [User] + N'.' = N'o''neil' + N'.' COLLATE Latin1_General_100_BIN2 AND [STATE] = N'NEW' COLLATE Latin1_General_100_BIN2 AND [AMOUNT] = 1.50 AND [RATE] BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
DELETE FROM [SHOP].[ORDER] WHERE [ID] = 2 AND [User] IS NULL AND [STATE] IS NULL AND [AMOUNT] IS NULL AND [RATE] IS NULL;
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- its inverse: insert
INSERT INTO [SHOP].[ORDER] ([ID], [User], [STATE], [AMOUNT], [RATE]) VALUES (1, N'o''neil', N'NEW', 1.50, 0.1e0);
INSERT INTO [SHOP].[ORDER] ([ID], [User], [STATE], [AMOUNT], [RATE]) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- no key: insert, --names lower
INSERT INTO shop.[order#log] (id, [user], state, amount, rate) VALUES (1, CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\', N'NEW', -2.50, 0.1e0);
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- its inverse: delete
DELETE TOP (1) FROM shop.[order#log] WHERE id = 1 AND [user] + N'.' = CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\' + N'.' COLLATE Latin1_General_100_BIN2 AND state = N'NEW' COLLATE Latin1_General_100_BIN2 AND amount = -2.50 AND rate BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- no key: update, --names lower, --where-columns key
UPDATE TOP (1) shop.[order#log] SET [user] = CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\', amount = -2.50 WHERE id = 1 AND [user] + N'.' = N'o''neil' + N'.' COLLATE Latin1_General_100_BIN2 AND state = N'NEW' COLLATE Latin1_General_100_BIN2 AND amount = 1.50 AND rate BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- its inverse: update
UPDATE TOP (1) shop.[order#log] SET [user] = N'o''neil', amount = 1.50 WHERE id = 1 AND [user] + N'.' = CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\' + N'.' COLLATE Latin1_General_100_BIN2 AND state = N'NEW' COLLATE Latin1_General_100_BIN2 AND amount = -2.50 AND rate BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- no key: update, --names lower, --where-columns guard
UPDATE TOP (1) shop.[order#log] SET [user] = CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\', amount = -2.50 WHERE id = 1 AND [user] + N'.' = N'o''neil' + N'.' COLLATE Latin1_General_100_BIN2 AND state = N'NEW' COLLATE Latin1_General_100_BIN2 AND amount = 1.50 AND rate BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- its inverse: update
UPDATE TOP (1) shop.[order#log] SET [user] = N'o''neil', amount = 1.50 WHERE id = 1 AND [user] + N'.' = CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\' + N'.' COLLATE Latin1_General_100_BIN2 AND state = N'NEW' COLLATE Latin1_General_100_BIN2 AND amount = -2.50 AND rate BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- no key: update, --names lower, --where-columns all
UPDATE TOP (1) shop.[order#log] SET [user] = CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\', amount = -2.50 WHERE id = 1 AND [user] + N'.' = N'o''neil' + N'.' COLLATE Latin1_General_100_BIN2 AND state = N'NEW' COLLATE Latin1_General_100_BIN2 AND amount = 1.50 AND rate BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- its inverse: update
UPDATE TOP (1) shop.[order#log] SET [user] = N'o''neil', amount = 1.50 WHERE id = 1 AND [user] + N'.' = CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\' + N'.' COLLATE Latin1_General_100_BIN2 AND state = N'NEW' COLLATE Latin1_General_100_BIN2 AND amount = -2.50 AND rate BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- no key: delete, --names lower, --where-columns key
DELETE TOP (1) FROM shop.[order#log] WHERE id = 1 AND [user] + N'.' = N'o''neil' + N'.' COLLATE Latin1_General_100_BIN2 AND state = N'NEW' COLLATE Latin1_General_100_BIN2 AND amount = 1.50 AND rate BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
DELETE TOP (1) FROM shop.[order#log] WHERE id = 2 AND [user] IS NULL AND state IS NULL AND amount IS NULL AND rate IS NULL;
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- its inverse: insert
INSERT INTO shop.[order#log] (id, [user], state, amount, rate) VALUES (1, N'o''neil', N'NEW', 1.50, 0.1e0);
INSERT INTO shop.[order#log] (id, [user], state, amount, rate) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- no key: delete, --names lower, --where-columns guard
DELETE TOP (1) FROM shop.[order#log] WHERE id = 1 AND [user] + N'.' = N'o''neil' + N'.' COLLATE Latin1_General_100_BIN2 AND state = N'NEW' COLLATE Latin1_General_100_BIN2 AND amount = 1.50 AND rate BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
DELETE TOP (1) FROM shop.[order#log] WHERE id = 2 AND [user] IS NULL AND state IS NULL AND amount IS NULL AND rate IS NULL;
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- its inverse: insert
INSERT INTO shop.[order#log] (id, [user], state, amount, rate) VALUES (1, N'o''neil', N'NEW', 1.50, 0.1e0);
INSERT INTO shop.[order#log] (id, [user], state, amount, rate) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- no key: delete, --names lower, --where-columns all
DELETE TOP (1) FROM shop.[order#log] WHERE id = 1 AND [user] + N'.' = N'o''neil' + N'.' COLLATE Latin1_General_100_BIN2 AND state = N'NEW' COLLATE Latin1_General_100_BIN2 AND amount = 1.50 AND rate BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
DELETE TOP (1) FROM shop.[order#log] WHERE id = 2 AND [user] IS NULL AND state IS NULL AND amount IS NULL AND rate IS NULL;
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- its inverse: insert
INSERT INTO shop.[order#log] (id, [user], state, amount, rate) VALUES (1, N'o''neil', N'NEW', 1.50, 0.1e0);
INSERT INTO shop.[order#log] (id, [user], state, amount, rate) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- no key: insert, --names exact
INSERT INTO [SHOP].[ORDER#LOG] ([ID], [User], [STATE], [AMOUNT], [RATE]) VALUES (1, CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\', N'NEW', -2.50, 0.1e0);
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- its inverse: delete
DELETE TOP (1) FROM [SHOP].[ORDER#LOG] WHERE [ID] = 1 AND [User] + N'.' = CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\' + N'.' COLLATE Latin1_General_100_BIN2 AND [STATE] = N'NEW' COLLATE Latin1_General_100_BIN2 AND [AMOUNT] = -2.50 AND [RATE] BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- no key: update, --names exact, --where-columns key
UPDATE TOP (1) [SHOP].[ORDER#LOG] SET [User] = CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\', [AMOUNT] = -2.50 WHERE [ID] = 1 AND [User] + N'.' = N'o''neil' + N'.' COLLATE Latin1_General_100_BIN2 AND [STATE] = N'NEW' COLLATE Latin1_General_100_BIN2 AND [AMOUNT] = 1.50 AND [RATE] BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- its inverse: update
UPDATE TOP (1) [SHOP].[ORDER#LOG] SET [User] = N'o''neil', [AMOUNT] = 1.50 WHERE [ID] = 1 AND [User] + N'.' = CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\' + N'.' COLLATE Latin1_General_100_BIN2 AND [STATE] = N'NEW' COLLATE Latin1_General_100_BIN2 AND [AMOUNT] = -2.50 AND [RATE] BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- no key: update, --names exact, --where-columns guard
UPDATE TOP (1) [SHOP].[ORDER#LOG] SET [User] = CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\', [AMOUNT] = -2.50 WHERE [ID] = 1 AND [User] + N'.' = N'o''neil' + N'.' COLLATE Latin1_General_100_BIN2 AND [STATE] = N'NEW' COLLATE Latin1_General_100_BIN2 AND [AMOUNT] = 1.50 AND [RATE] BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- its inverse: update
UPDATE TOP (1) [SHOP].[ORDER#LOG] SET [User] = N'o''neil', [AMOUNT] = 1.50 WHERE [ID] = 1 AND [User] + N'.' = CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\' + N'.' COLLATE Latin1_General_100_BIN2 AND [STATE] = N'NEW' COLLATE Latin1_General_100_BIN2 AND [AMOUNT] = -2.50 AND [RATE] BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- no key: update, --names exact, --where-columns all
UPDATE TOP (1) [SHOP].[ORDER#LOG] SET [User] = CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\', [AMOUNT] = -2.50 WHERE [ID] = 1 AND [User] + N'.' = N'o''neil' + N'.' COLLATE Latin1_General_100_BIN2 AND [STATE] = N'NEW' COLLATE Latin1_General_100_BIN2 AND [AMOUNT] = 1.50 AND [RATE] BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- its inverse: update
UPDATE TOP (1) [SHOP].[ORDER#LOG] SET [User] = N'o''neil', [AMOUNT] = 1.50 WHERE [ID] = 1 AND [User] + N'.' = CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\' + N'.' COLLATE Latin1_General_100_BIN2 AND [STATE] = N'NEW' COLLATE Latin1_General_100_BIN2 AND [AMOUNT] = -2.50 AND [RATE] BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- no key: delete, --names exact, --where-columns key
DELETE TOP (1) FROM [SHOP].[ORDER#LOG] WHERE [ID] = 1 AND [User] + N'.' = N'o''neil' + N'.' COLLATE Latin1_General_100_BIN2 AND [STATE] = N'NEW' COLLATE Latin1_General_100_BIN2 AND [AMOUNT] = 1.50 AND [RATE] BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
DELETE TOP (1) FROM [SHOP].[ORDER#LOG] WHERE [ID] = 2 AND [User] IS NULL AND [STATE] IS NULL AND [AMOUNT] IS NULL AND [RATE] IS NULL;
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- its inverse: insert
INSERT INTO [SHOP].[ORDER#LOG] ([ID], [User], [STATE], [AMOUNT], [RATE]) VALUES (1, N'o''neil', N'NEW', 1.50, 0.1e0);
INSERT INTO [SHOP].[ORDER#LOG] ([ID], [User], [STATE], [AMOUNT], [RATE]) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- no key: delete, --names exact, --where-columns guard
DELETE TOP (1) FROM [SHOP].[ORDER#LOG] WHERE [ID] = 1 AND [User] + N'.' = N'o''neil' + N'.' COLLATE Latin1_General_100_BIN2 AND [STATE] = N'NEW' COLLATE Latin1_General_100_BIN2 AND [AMOUNT] = 1.50 AND [RATE] BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
DELETE TOP (1) FROM [SHOP].[ORDER#LOG] WHERE [ID] = 2 AND [User] IS NULL AND [STATE] IS NULL AND [AMOUNT] IS NULL AND [RATE] IS NULL;
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- its inverse: insert
INSERT INTO [SHOP].[ORDER#LOG] ([ID], [User], [STATE], [AMOUNT], [RATE]) VALUES (1, N'o''neil', N'NEW', 1.50, 0.1e0);
INSERT INTO [SHOP].[ORDER#LOG] ([ID], [User], [STATE], [AMOUNT], [RATE]) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- no key: delete, --names exact, --where-columns all
DELETE TOP (1) FROM [SHOP].[ORDER#LOG] WHERE [ID] = 1 AND [User] + N'.' = N'o''neil' + N'.' COLLATE Latin1_General_100_BIN2 AND [STATE] = N'NEW' COLLATE Latin1_General_100_BIN2 AND [AMOUNT] = 1.50 AND [RATE] BETWEEN 0.09999999999999995e0 AND 0.10000000000000006e0;
DELETE TOP (1) FROM [SHOP].[ORDER#LOG] WHERE [ID] = 2 AND [User] IS NULL AND [STATE] IS NULL AND [AMOUNT] IS NULL AND [RATE] IS NULL;
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- its inverse: insert
INSERT INTO [SHOP].[ORDER#LOG] ([ID], [User], [STATE], [AMOUNT], [RATE]) VALUES (1, N'o''neil', N'NEW', 1.50, 0.1e0);
INSERT INTO [SHOP].[ORDER#LOG] ([ID], [User], [STATE], [AMOUNT], [RATE]) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- key of a time and a float: insert, --names lower
INSERT INTO measure ([at], span, [day], clock, zoned, [raw], [small-1], big) VALUES ('0001-01-01 00:00:00.000000', 0.000009999999747378752e0, '9999-12-31', NULL, NULL, 0x00ff, NULL, 0);
-- its inverse: delete
DELETE FROM measure WHERE [at] = '0001-01-01 00:00:00.000000' AND span = 0.000009999999747378752e0;
-- key of a time and a float: update, --names lower, --where-columns key
UPDATE measure SET span = 0.000009999999747378752e0, [day] = '9999-12-31', clock = NULL, zoned = NULL, [raw] = 0x00ff, [small-1] = NULL, big = 0 WHERE [at] = '0001-01-01 00:00:00.000000' AND span = 0.10000000149011612e0;
-- its inverse: update
UPDATE measure SET span = 0.10000000149011612e0, [day] = '0001-01-01', clock = '00:00:00', zoned = '2024-02-29 10:00:00.500000 +05:30', [raw] = 0x, [small-1] = -1, big = 9223372036854775807 WHERE [at] = '0001-01-01 00:00:00.000000' AND span = 0.000009999999747378752e0;
-- key of a time and a float: update, --names lower, --where-columns guard
UPDATE measure SET span = 0.000009999999747378752e0, [day] = '9999-12-31', clock = NULL, zoned = NULL, [raw] = 0x00ff, [small-1] = NULL, big = 0 WHERE [at] = '0001-01-01 00:00:00.000000' AND span = 0.10000000149011612e0 AND [day] = '0001-01-01' AND clock = '00:00:00' AND zoned = '2024-02-29 10:00:00.500000 +05:30' AND [raw] + 0x01 = 0x + 0x01 AND [small-1] = -1 AND big = 9223372036854775807;
-- its inverse: update
UPDATE measure SET span = 0.10000000149011612e0, [day] = '0001-01-01', clock = '00:00:00', zoned = '2024-02-29 10:00:00.500000 +05:30', [raw] = 0x, [small-1] = -1, big = 9223372036854775807 WHERE [at] = '0001-01-01 00:00:00.000000' AND span = 0.000009999999747378752e0 AND [day] = '9999-12-31' AND clock IS NULL AND zoned IS NULL AND [raw] + 0x01 = 0x00ff + 0x01 AND [small-1] IS NULL AND big = 0;
-- key of a time and a float: update, --names lower, --where-columns all
UPDATE measure SET span = 0.000009999999747378752e0, [day] = '9999-12-31', clock = NULL, zoned = NULL, [raw] = 0x00ff, [small-1] = NULL, big = 0 WHERE [at] = '0001-01-01 00:00:00.000000' AND span = 0.10000000149011612e0 AND [day] = '0001-01-01' AND clock = '00:00:00' AND zoned = '2024-02-29 10:00:00.500000 +05:30' AND [raw] + 0x01 = 0x + 0x01 AND [small-1] = -1 AND big = 9223372036854775807;
-- its inverse: update
UPDATE measure SET span = 0.10000000149011612e0, [day] = '0001-01-01', clock = '00:00:00', zoned = '2024-02-29 10:00:00.500000 +05:30', [raw] = 0x, [small-1] = -1, big = 9223372036854775807 WHERE [at] = '0001-01-01 00:00:00.000000' AND span = 0.000009999999747378752e0 AND [day] = '9999-12-31' AND clock IS NULL AND zoned IS NULL AND [raw] + 0x01 = 0x00ff + 0x01 AND [small-1] IS NULL AND big = 0;
-- key of a time and a float: delete, --names lower, --where-columns key
DELETE FROM measure WHERE [at] = '0001-01-01 00:00:00.000000' AND span = 0.10000000149011612e0;
-- its inverse: insert
INSERT INTO measure ([at], span, [day], clock, zoned, [raw], [small-1], big) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '00:00:00', '2024-02-29 10:00:00.500000 +05:30', 0x, -1, 9223372036854775807);
-- key of a time and a float: delete, --names lower, --where-columns guard
DELETE FROM measure WHERE [at] = '0001-01-01 00:00:00.000000' AND span = 0.10000000149011612e0 AND [day] = '0001-01-01' AND clock = '00:00:00' AND zoned = '2024-02-29 10:00:00.500000 +05:30' AND [raw] + 0x01 = 0x + 0x01 AND [small-1] = -1 AND big = 9223372036854775807;
-- its inverse: insert
INSERT INTO measure ([at], span, [day], clock, zoned, [raw], [small-1], big) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '00:00:00', '2024-02-29 10:00:00.500000 +05:30', 0x, -1, 9223372036854775807);
-- key of a time and a float: delete, --names lower, --where-columns all
DELETE FROM measure WHERE [at] = '0001-01-01 00:00:00.000000' AND span = 0.10000000149011612e0 AND [day] = '0001-01-01' AND clock = '00:00:00' AND zoned = '2024-02-29 10:00:00.500000 +05:30' AND [raw] + 0x01 = 0x + 0x01 AND [small-1] = -1 AND big = 9223372036854775807;
-- its inverse: insert
INSERT INTO measure ([at], span, [day], clock, zoned, [raw], [small-1], big) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '00:00:00', '2024-02-29 10:00:00.500000 +05:30', 0x, -1, 9223372036854775807);
-- key of a time and a float: insert, --names exact
INSERT INTO [MEASURE] ([AT], [SPAN], [DAY], [CLOCK], [ZONED], [RAW], [SMALL-1], [BIG]) VALUES ('0001-01-01 00:00:00.000000', 0.000009999999747378752e0, '9999-12-31', NULL, NULL, 0x00ff, NULL, 0);
-- its inverse: delete
DELETE FROM [MEASURE] WHERE [AT] = '0001-01-01 00:00:00.000000' AND [SPAN] = 0.000009999999747378752e0;
-- key of a time and a float: update, --names exact, --where-columns key
UPDATE [MEASURE] SET [SPAN] = 0.000009999999747378752e0, [DAY] = '9999-12-31', [CLOCK] = NULL, [ZONED] = NULL, [RAW] = 0x00ff, [SMALL-1] = NULL, [BIG] = 0 WHERE [AT] = '0001-01-01 00:00:00.000000' AND [SPAN] = 0.10000000149011612e0;
-- its inverse: update
UPDATE [MEASURE] SET [SPAN] = 0.10000000149011612e0, [DAY] = '0001-01-01', [CLOCK] = '00:00:00', [ZONED] = '2024-02-29 10:00:00.500000 +05:30', [RAW] = 0x, [SMALL-1] = -1, [BIG] = 9223372036854775807 WHERE [AT] = '0001-01-01 00:00:00.000000' AND [SPAN] = 0.000009999999747378752e0;
-- key of a time and a float: update, --names exact, --where-columns guard
UPDATE [MEASURE] SET [SPAN] = 0.000009999999747378752e0, [DAY] = '9999-12-31', [CLOCK] = NULL, [ZONED] = NULL, [RAW] = 0x00ff, [SMALL-1] = NULL, [BIG] = 0 WHERE [AT] = '0001-01-01 00:00:00.000000' AND [SPAN] = 0.10000000149011612e0 AND [DAY] = '0001-01-01' AND [CLOCK] = '00:00:00' AND [ZONED] = '2024-02-29 10:00:00.500000 +05:30' AND [RAW] + 0x01 = 0x + 0x01 AND [SMALL-1] = -1 AND [BIG] = 9223372036854775807;
-- its inverse: update
UPDATE [MEASURE] SET [SPAN] = 0.10000000149011612e0, [DAY] = '0001-01-01', [CLOCK] = '00:00:00', [ZONED] = '2024-02-29 10:00:00.500000 +05:30', [RAW] = 0x, [SMALL-1] = -1, [BIG] = 9223372036854775807 WHERE [AT] = '0001-01-01 00:00:00.000000' AND [SPAN] = 0.000009999999747378752e0 AND [DAY] = '9999-12-31' AND [CLOCK] IS NULL AND [ZONED] IS NULL AND [RAW] + 0x01 = 0x00ff + 0x01 AND [SMALL-1] IS NULL AND [BIG] = 0;
-- key of a time and a float: update, --names exact, --where-columns all
UPDATE [MEASURE] SET [SPAN] = 0.000009999999747378752e0, [DAY] = '9999-12-31', [CLOCK] = NULL, [ZONED] = NULL, [RAW] = 0x00ff, [SMALL-1] = NULL, [BIG] = 0 WHERE [AT] = '0001-01-01 00:00:00.000000' AND [SPAN] = 0.10000000149011612e0 AND [DAY] = '0001-01-01' AND [CLOCK] = '00:00:00' AND [ZONED] = '2024-02-29 10:00:00.500000 +05:30' AND [RAW] + 0x01 = 0x + 0x01 AND [SMALL-1] = -1 AND [BIG] = 9223372036854775807;
-- its inverse: update
UPDATE [MEASURE] SET [SPAN] = 0.10000000149011612e0, [DAY] = '0001-01-01', [CLOCK] = '00:00:00', [ZONED] = '2024-02-29 10:00:00.500000 +05:30', [RAW] = 0x, [SMALL-1] = -1, [BIG] = 9223372036854775807 WHERE [AT] = '0001-01-01 00:00:00.000000' AND [SPAN] = 0.000009999999747378752e0 AND [DAY] = '9999-12-31' AND [CLOCK] IS NULL AND [ZONED] IS NULL AND [RAW] + 0x01 = 0x00ff + 0x01 AND [SMALL-1] IS NULL AND [BIG] = 0;
-- key of a time and a float: delete, --names exact, --where-columns key
DELETE FROM [MEASURE] WHERE [AT] = '0001-01-01 00:00:00.000000' AND [SPAN] = 0.10000000149011612e0;
-- its inverse: insert
INSERT INTO [MEASURE] ([AT], [SPAN], [DAY], [CLOCK], [ZONED], [RAW], [SMALL-1], [BIG]) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '00:00:00', '2024-02-29 10:00:00.500000 +05:30', 0x, -1, 9223372036854775807);
-- key of a time and a float: delete, --names exact, --where-columns guard
DELETE FROM [MEASURE] WHERE [AT] = '0001-01-01 00:00:00.000000' AND [SPAN] = 0.10000000149011612e0 AND [DAY] = '0001-01-01' AND [CLOCK] = '00:00:00' AND [ZONED] = '2024-02-29 10:00:00.500000 +05:30' AND [RAW] + 0x01 = 0x + 0x01 AND [SMALL-1] = -1 AND [BIG] = 9223372036854775807;
-- its inverse: insert
INSERT INTO [MEASURE] ([AT], [SPAN], [DAY], [CLOCK], [ZONED], [RAW], [SMALL-1], [BIG]) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '00:00:00', '2024-02-29 10:00:00.500000 +05:30', 0x, -1, 9223372036854775807);
-- key of a time and a float: delete, --names exact, --where-columns all
DELETE FROM [MEASURE] WHERE [AT] = '0001-01-01 00:00:00.000000' AND [SPAN] = 0.10000000149011612e0 AND [DAY] = '0001-01-01' AND [CLOCK] = '00:00:00' AND [ZONED] = '2024-02-29 10:00:00.500000 +05:30' AND [RAW] + 0x01 = 0x + 0x01 AND [SMALL-1] = -1 AND [BIG] = 9223372036854775807;
-- its inverse: insert
INSERT INTO [MEASURE] ([AT], [SPAN], [DAY], [CLOCK], [ZONED], [RAW], [SMALL-1], [BIG]) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '00:00:00', '2024-02-29 10:00:00.500000 +05:30', 0x, -1, 9223372036854775807);
-- excluded columns, blanks of CHAR kept
INSERT INTO shop.[order] (id, state, rate) VALUES (1, N'NEW ', 0.1e0);
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- (nothing)
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- (nothing)
DELETE FROM shop.[order] WHERE id = 1;
DELETE FROM shop.[order] WHERE id = 2;
DELETE FROM shop.[order] WHERE id = 3;
-- whole tables
TRUNCATE TABLE shop.[order];
DELETE FROM shop.[order];
TRUNCATE TABLE [SHOP].[ORDER];
DELETE FROM [SHOP].[ORDER];
-- upsert, key: insert, --names lower
MERGE INTO shop.[order] AS t USING (SELECT 1 AS one) AS s ON (t.id = 1) WHEN MATCHED THEN UPDATE SET [user] = CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\', state = N'NEW', amount = -2.50, rate = 0.1e0 WHEN NOT MATCHED THEN INSERT (id, [user], state, amount, rate) VALUES (1, CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\', N'NEW', -2.50, 0.1e0);
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- its inverse: delete
DELETE FROM shop.[order] WHERE id = 1;
DELETE FROM shop.[order] WHERE id = 9;
DELETE FROM shop.[order] WHERE id = 3;
-- upsert, key: update, --names lower
MERGE INTO shop.[order] AS t USING (SELECT 1 AS one) AS s ON (t.id = 1) WHEN MATCHED THEN UPDATE SET [user] = CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\', state = N'NEW', amount = -2.50, rate = 0.1e0 WHEN NOT MATCHED THEN INSERT (id, [user], state, amount, rate) VALUES (1, CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\', N'NEW', -2.50, 0.1e0);
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- (nothing)
-- its inverse: update
MERGE INTO shop.[order] AS t USING (SELECT 1 AS one) AS s ON (t.id = 1) WHEN MATCHED THEN UPDATE SET [user] = N'o''neil', state = N'NEW', amount = 1.50, rate = 0.1e0 WHEN NOT MATCHED THEN INSERT (id, [user], state, amount, rate) VALUES (1, N'o''neil', N'NEW', 1.50, 0.1e0);
DELETE FROM shop.[order] WHERE id = 9;
MERGE INTO shop.[order] AS t USING (SELECT 1 AS one) AS s ON (t.id = 2) WHEN MATCHED THEN UPDATE SET [user] = NULL, state = NULL, amount = NULL, rate = NULL WHEN NOT MATCHED THEN INSERT (id, [user], state, amount, rate) VALUES (2, NULL, NULL, NULL, NULL);
-- (nothing)
-- upsert, key: delete, --names lower
DELETE FROM shop.[order] WHERE id = 1;
DELETE FROM shop.[order] WHERE id = 2;
DELETE FROM shop.[order] WHERE id = 3;
-- its inverse: insert
MERGE INTO shop.[order] AS t USING (SELECT 1 AS one) AS s ON (t.id = 1) WHEN MATCHED THEN UPDATE SET [user] = N'o''neil', state = N'NEW', amount = 1.50, rate = 0.1e0 WHEN NOT MATCHED THEN INSERT (id, [user], state, amount, rate) VALUES (1, N'o''neil', N'NEW', 1.50, 0.1e0);
MERGE INTO shop.[order] AS t USING (SELECT 1 AS one) AS s ON (t.id = 2) WHEN MATCHED THEN UPDATE SET [user] = NULL, state = NULL, amount = NULL, rate = NULL WHEN NOT MATCHED THEN INSERT (id, [user], state, amount, rate) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- upsert, key: insert, --names exact
MERGE INTO [SHOP].[ORDER] AS t USING (SELECT 1 AS one) AS s ON (t.[ID] = 1) WHEN MATCHED THEN UPDATE SET [User] = CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\', [STATE] = N'NEW', [AMOUNT] = -2.50, [RATE] = 0.1e0 WHEN NOT MATCHED THEN INSERT ([ID], [User], [STATE], [AMOUNT], [RATE]) VALUES (1, CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\', N'NEW', -2.50, 0.1e0);
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- its inverse: delete
DELETE FROM [SHOP].[ORDER] WHERE [ID] = 1;
DELETE FROM [SHOP].[ORDER] WHERE [ID] = 9;
DELETE FROM [SHOP].[ORDER] WHERE [ID] = 3;
-- upsert, key: update, --names exact
MERGE INTO [SHOP].[ORDER] AS t USING (SELECT 1 AS one) AS s ON (t.[ID] = 1) WHEN MATCHED THEN UPDATE SET [User] = CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\', [STATE] = N'NEW', [AMOUNT] = -2.50, [RATE] = 0.1e0 WHEN NOT MATCHED THEN INSERT ([ID], [User], [STATE], [AMOUNT], [RATE]) VALUES (1, CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\', N'NEW', -2.50, 0.1e0);
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- (nothing)
-- its inverse: update
MERGE INTO [SHOP].[ORDER] AS t USING (SELECT 1 AS one) AS s ON (t.[ID] = 1) WHEN MATCHED THEN UPDATE SET [User] = N'o''neil', [STATE] = N'NEW', [AMOUNT] = 1.50, [RATE] = 0.1e0 WHEN NOT MATCHED THEN INSERT ([ID], [User], [STATE], [AMOUNT], [RATE]) VALUES (1, N'o''neil', N'NEW', 1.50, 0.1e0);
DELETE FROM [SHOP].[ORDER] WHERE [ID] = 9;
MERGE INTO [SHOP].[ORDER] AS t USING (SELECT 1 AS one) AS s ON (t.[ID] = 2) WHEN MATCHED THEN UPDATE SET [User] = NULL, [STATE] = NULL, [AMOUNT] = NULL, [RATE] = NULL WHEN NOT MATCHED THEN INSERT ([ID], [User], [STATE], [AMOUNT], [RATE]) VALUES (2, NULL, NULL, NULL, NULL);
-- (nothing)
-- upsert, key: delete, --names exact
DELETE FROM [SHOP].[ORDER] WHERE [ID] = 1;
DELETE FROM [SHOP].[ORDER] WHERE [ID] = 2;
DELETE FROM [SHOP].[ORDER] WHERE [ID] = 3;
-- its inverse: insert
MERGE INTO [SHOP].[ORDER] AS t USING (SELECT 1 AS one) AS s ON (t.[ID] = 1) WHEN MATCHED THEN UPDATE SET [User] = N'o''neil', [STATE] = N'NEW', [AMOUNT] = 1.50, [RATE] = 0.1e0 WHEN NOT MATCHED THEN INSERT ([ID], [User], [STATE], [AMOUNT], [RATE]) VALUES (1, N'o''neil', N'NEW', 1.50, 0.1e0);
MERGE INTO [SHOP].[ORDER] AS t USING (SELECT 1 AS one) AS s ON (t.[ID] = 2) WHEN MATCHED THEN UPDATE SET [User] = NULL, [STATE] = NULL, [AMOUNT] = NULL, [RATE] = NULL WHEN NOT MATCHED THEN INSERT ([ID], [User], [STATE], [AMOUNT], [RATE]) VALUES (2, NULL, NULL, NULL, NULL);
-- LR3001 RATE: found inf; expected a number that tsql can hold
-- upsert, key of a time and a float: insert, --names lower
MERGE INTO measure AS t USING (SELECT 1 AS one) AS s ON (t.[at] = '0001-01-01 00:00:00.000000' AND t.span = 0.000009999999747378752e0) WHEN MATCHED THEN UPDATE SET [day] = '9999-12-31', clock = NULL, zoned = NULL, [raw] = 0x00ff, [small-1] = NULL, big = 0 WHEN NOT MATCHED THEN INSERT ([at], span, [day], clock, zoned, [raw], [small-1], big) VALUES ('0001-01-01 00:00:00.000000', 0.000009999999747378752e0, '9999-12-31', NULL, NULL, 0x00ff, NULL, 0);
-- its inverse: delete
DELETE FROM measure WHERE [at] = '0001-01-01 00:00:00.000000' AND span = 0.000009999999747378752e0;
-- upsert, key of a time and a float: update, --names lower
DELETE FROM measure WHERE [at] = '0001-01-01 00:00:00.000000' AND span = 0.10000000149011612e0;
MERGE INTO measure AS t USING (SELECT 1 AS one) AS s ON (t.[at] = '0001-01-01 00:00:00.000000' AND t.span = 0.000009999999747378752e0) WHEN MATCHED THEN UPDATE SET [day] = '9999-12-31', clock = NULL, zoned = NULL, [raw] = 0x00ff, [small-1] = NULL, big = 0 WHEN NOT MATCHED THEN INSERT ([at], span, [day], clock, zoned, [raw], [small-1], big) VALUES ('0001-01-01 00:00:00.000000', 0.000009999999747378752e0, '9999-12-31', NULL, NULL, 0x00ff, NULL, 0);
-- its inverse: update
DELETE FROM measure WHERE [at] = '0001-01-01 00:00:00.000000' AND span = 0.000009999999747378752e0;
MERGE INTO measure AS t USING (SELECT 1 AS one) AS s ON (t.[at] = '0001-01-01 00:00:00.000000' AND t.span = 0.10000000149011612e0) WHEN MATCHED THEN UPDATE SET [day] = '0001-01-01', clock = '00:00:00', zoned = '2024-02-29 10:00:00.500000 +05:30', [raw] = 0x, [small-1] = -1, big = 9223372036854775807 WHEN NOT MATCHED THEN INSERT ([at], span, [day], clock, zoned, [raw], [small-1], big) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '00:00:00', '2024-02-29 10:00:00.500000 +05:30', 0x, -1, 9223372036854775807);
-- upsert, key of a time and a float: delete, --names lower
DELETE FROM measure WHERE [at] = '0001-01-01 00:00:00.000000' AND span = 0.10000000149011612e0;
-- its inverse: insert
MERGE INTO measure AS t USING (SELECT 1 AS one) AS s ON (t.[at] = '0001-01-01 00:00:00.000000' AND t.span = 0.10000000149011612e0) WHEN MATCHED THEN UPDATE SET [day] = '0001-01-01', clock = '00:00:00', zoned = '2024-02-29 10:00:00.500000 +05:30', [raw] = 0x, [small-1] = -1, big = 9223372036854775807 WHEN NOT MATCHED THEN INSERT ([at], span, [day], clock, zoned, [raw], [small-1], big) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '00:00:00', '2024-02-29 10:00:00.500000 +05:30', 0x, -1, 9223372036854775807);
-- upsert, key of a time and a float: insert, --names exact
MERGE INTO [MEASURE] AS t USING (SELECT 1 AS one) AS s ON (t.[AT] = '0001-01-01 00:00:00.000000' AND t.[SPAN] = 0.000009999999747378752e0) WHEN MATCHED THEN UPDATE SET [DAY] = '9999-12-31', [CLOCK] = NULL, [ZONED] = NULL, [RAW] = 0x00ff, [SMALL-1] = NULL, [BIG] = 0 WHEN NOT MATCHED THEN INSERT ([AT], [SPAN], [DAY], [CLOCK], [ZONED], [RAW], [SMALL-1], [BIG]) VALUES ('0001-01-01 00:00:00.000000', 0.000009999999747378752e0, '9999-12-31', NULL, NULL, 0x00ff, NULL, 0);
-- its inverse: delete
DELETE FROM [MEASURE] WHERE [AT] = '0001-01-01 00:00:00.000000' AND [SPAN] = 0.000009999999747378752e0;
-- upsert, key of a time and a float: update, --names exact
DELETE FROM [MEASURE] WHERE [AT] = '0001-01-01 00:00:00.000000' AND [SPAN] = 0.10000000149011612e0;
MERGE INTO [MEASURE] AS t USING (SELECT 1 AS one) AS s ON (t.[AT] = '0001-01-01 00:00:00.000000' AND t.[SPAN] = 0.000009999999747378752e0) WHEN MATCHED THEN UPDATE SET [DAY] = '9999-12-31', [CLOCK] = NULL, [ZONED] = NULL, [RAW] = 0x00ff, [SMALL-1] = NULL, [BIG] = 0 WHEN NOT MATCHED THEN INSERT ([AT], [SPAN], [DAY], [CLOCK], [ZONED], [RAW], [SMALL-1], [BIG]) VALUES ('0001-01-01 00:00:00.000000', 0.000009999999747378752e0, '9999-12-31', NULL, NULL, 0x00ff, NULL, 0);
-- its inverse: update
DELETE FROM [MEASURE] WHERE [AT] = '0001-01-01 00:00:00.000000' AND [SPAN] = 0.000009999999747378752e0;
MERGE INTO [MEASURE] AS t USING (SELECT 1 AS one) AS s ON (t.[AT] = '0001-01-01 00:00:00.000000' AND t.[SPAN] = 0.10000000149011612e0) WHEN MATCHED THEN UPDATE SET [DAY] = '0001-01-01', [CLOCK] = '00:00:00', [ZONED] = '2024-02-29 10:00:00.500000 +05:30', [RAW] = 0x, [SMALL-1] = -1, [BIG] = 9223372036854775807 WHEN NOT MATCHED THEN INSERT ([AT], [SPAN], [DAY], [CLOCK], [ZONED], [RAW], [SMALL-1], [BIG]) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '00:00:00', '2024-02-29 10:00:00.500000 +05:30', 0x, -1, 9223372036854775807);
-- upsert, key of a time and a float: delete, --names exact
DELETE FROM [MEASURE] WHERE [AT] = '0001-01-01 00:00:00.000000' AND [SPAN] = 0.10000000149011612e0;
-- its inverse: insert
MERGE INTO [MEASURE] AS t USING (SELECT 1 AS one) AS s ON (t.[AT] = '0001-01-01 00:00:00.000000' AND t.[SPAN] = 0.10000000149011612e0) WHEN MATCHED THEN UPDATE SET [DAY] = '0001-01-01', [CLOCK] = '00:00:00', [ZONED] = '2024-02-29 10:00:00.500000 +05:30', [RAW] = 0x, [SMALL-1] = -1, [BIG] = 9223372036854775807 WHEN NOT MATCHED THEN INSERT ([AT], [SPAN], [DAY], [CLOCK], [ZONED], [RAW], [SMALL-1], [BIG]) VALUES ('0001-01-01 00:00:00.000000', 0.10000000149011612e0, '0001-01-01', '00:00:00', '2024-02-29 10:00:00.500000 +05:30', 0x, -1, 9223372036854775807);
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
MERGE INTO [SHOP].[PAIR] AS t USING (SELECT 1 AS one) AS s ON (t.[ID] = 1 AND t.[AMOUNT] = 2.50) WHEN NOT MATCHED THEN INSERT ([ID], [AMOUNT]) VALUES (1, 2.50);
-- LR3013 AMOUNT: found NULL in the key; expected a value in every column of the key: NULL is equal to nothing
-- its inverse: delete
DELETE FROM [SHOP].[PAIR] WHERE [ID] = 1 AND [AMOUNT] = 2.50;
DELETE FROM [SHOP].[PAIR] WHERE [ID] = 2 AND [AMOUNT] IS NULL;
-- upsert, nothing but key: update, --names exact
DELETE FROM [SHOP].[PAIR] WHERE [ID] = 1 AND [AMOUNT] = 1.50;
MERGE INTO [SHOP].[PAIR] AS t USING (SELECT 1 AS one) AS s ON (t.[ID] = 1 AND t.[AMOUNT] = 2.50) WHEN NOT MATCHED THEN INSERT ([ID], [AMOUNT]) VALUES (1, 2.50);
-- LR3013 AMOUNT: found NULL in the key; expected a value in every column of the key: NULL is equal to nothing
-- its inverse: update
DELETE FROM [SHOP].[PAIR] WHERE [ID] = 1 AND [AMOUNT] = 2.50;
MERGE INTO [SHOP].[PAIR] AS t USING (SELECT 1 AS one) AS s ON (t.[ID] = 1 AND t.[AMOUNT] = 1.50) WHEN NOT MATCHED THEN INSERT ([ID], [AMOUNT]) VALUES (1, 1.50);
DELETE FROM [SHOP].[PAIR] WHERE [ID] = 2 AND [AMOUNT] IS NULL;
MERGE INTO [SHOP].[PAIR] AS t USING (SELECT 1 AS one) AS s ON (t.[ID] = 2 AND t.[AMOUNT] = 2.00) WHEN NOT MATCHED THEN INSERT ([ID], [AMOUNT]) VALUES (2, 2.00);
-- upsert, nothing but key: delete, --names exact
DELETE FROM [SHOP].[PAIR] WHERE [ID] = 1 AND [AMOUNT] = 1.50;
DELETE FROM [SHOP].[PAIR] WHERE [ID] = 2 AND [AMOUNT] = 2.00;
-- its inverse: insert
MERGE INTO [SHOP].[PAIR] AS t USING (SELECT 1 AS one) AS s ON (t.[ID] = 1 AND t.[AMOUNT] = 1.50) WHEN NOT MATCHED THEN INSERT ([ID], [AMOUNT]) VALUES (1, 1.50);
MERGE INTO [SHOP].[PAIR] AS t USING (SELECT 1 AS one) AS s ON (t.[ID] = 2 AND t.[AMOUNT] = 2.00) WHEN NOT MATCHED THEN INSERT ([ID], [AMOUNT]) VALUES (2, 2.00);
-- upsert: updates of which a part is known, and with excluded columns
UPDATE shop.[order] SET [user] = CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\', amount = -2.50 WHERE id = 1;
-- LR3013: found a change of the key of a row of SHOP.ORDER that cannot be written whole: values are not in the log, or columns or changes are left out; expected the whole row: --upsert puts it in place under its new key
-- (nothing)
UPDATE shop.[order] SET [user] = CAST(N'' AS NVARCHAR(MAX)) + N'tab' + NCHAR(9) + N'back\' WHERE id = 1;
-- LR3001 RATE: found nan; expected a number that tsql can hold
-- (nothing)
