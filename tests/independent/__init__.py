"""Logs of Db2 LUW, solidDB and Log Master as somebody wrote them who had no more than the notes.

The encoders, the tables and their rows, and the histories are made by the notes alone; nothing of
the program's decoders and layouts is used (``test_nothing_of_the_decoders_is_used``). So where the
notes were misread once, this reads them a second time.

``cascade`` is a model of what builds on what, and of the rows that an undo of some units leaves.
"""
