"""Facts about changes, whatever log they come from: envelope, catalog of table versions, selection,
order, balance sheet."""
