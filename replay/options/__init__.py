"""Options and commands, each declared once: parser, help, files of options, the library's words and
the pages of reference are made from these tables."""
