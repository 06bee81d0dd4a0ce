"""mem0: one `add` without a model (`infer=False`), with vectors of 384 numbers made up on the spot.

Its own store (Qdrant, on the disk in this process) holds what was there before. fastembed, which it
would load to index words too, is kept away: that index would only make it slower.
"""

from __future__ import annotations

import itertools
import os
import sys
import uuid

from serve import serve

BATCH = 500


def start(options):
    sys.modules["fastembed"] = None
    os.environ |= {
        "MEM0_TELEMETRY": "False",
        "OPENAI_API_KEY": "unused",
        "MEM0_DIR": options["folder"],
    }
    import numpy as np
    from bench import data
    from mem0 import Memory

    chance = np.random.default_rng(1)

    def vectors(count):
        return chance.normal(size=(count, 384)).tolist()

    class Embedder:
        config = type("Config", (), {"embedding_dims": 384})()

        def embed(self, _text, _action=None):
            return vectors(1)[0]

        def embed_batch(self, texts, _action=None):
            return vectors(len(texts))

    store = {"path": f"{options['folder']}/qdrant", "collection_name": "notes", "on_disk": True}
    memory = Memory.from_config(
        {
            "vector_store": {
                "provider": "qdrant",
                "config": {**store, "embedding_model_dims": 384},
            },
            "history_db_path": f"{options['folder']}/history.db",
        }
    )
    memory.embedding_model = Embedder()
    texts = data.notes()
    there = memory.vector_store.client.count("notes").count
    for first in range(there, options["entries"], BATCH):
        batch = list(itertools.islice(texts, min(BATCH, options["entries"] - first)))
        memory.vector_store.insert(
            vectors=vectors(len(batch)),
            ids=[str(uuid.UUID(int=first + place + 1)) for place in range(len(batch))],
            payloads=[{"data": text, "user_id": "bench"} for text in batch],
        )

    class Adder:
        def __call__(self, _number):
            memory.add(next(texts), user_id="bench", infer=False)

        def close(self):
            memory.vector_store.client.close()

    return Adder()


serve(start)
