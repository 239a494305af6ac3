"""Floor 2: (query, pool) -> ranking.

`router` is the protocol and its law; `recipe`, `pipeline` and `load` make a router from a file in
``routers/``; `stage` is what a method in ``methods/`` implements. `lexical` and `words` are under
bm25; `encoder`, `vectors`, `search`, `reranker`, `text` and `weights` under the methods that run
models; `cache` keeps what was built. `measure` and `runs` are for routing scored alone.
"""
