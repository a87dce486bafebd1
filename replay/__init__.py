"""logreplay: reads database change logs and turns them into redo and undo SQL."""

__version__ = "0.1.0"
