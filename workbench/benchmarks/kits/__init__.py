"""One file per set of tools that come with questions; the file name is a question's ``kit``.

A kit exports ``missing(corpus) -> str | None``, what a local corpus lacks and what to give, and
``tools(corpus, cache) -> tuple[ToolDef, ...]``, new ones for each trial. Tools read the corpus and
nothing else, run no code of a model's, and answer within a bounded time and length.
"""
