"""Chroma: one `add` of a note with a ready-made vector of 384 numbers, so that no model runs."""

from __future__ import annotations

import itertools

from serve import serve

BATCH = 1000


def start(options):
    import chromadb
    import numpy as np
    from bench import data
    from chromadb.config import Settings

    chance = np.random.default_rng(1)
    client = chromadb.PersistentClient(options["folder"], Settings(anonymized_telemetry=False))
    notes = client.get_or_create_collection("notes", embedding_function=None)
    texts = data.notes()
    for first in range(notes.count(), options["entries"], BATCH):
        batch = list(itertools.islice(texts, min(BATCH, options["entries"] - first)))
        notes.add(
            ids=[f"first-{first + place}" for place in range(len(batch))],
            documents=batch,
            embeddings=chance.normal(size=(len(batch), 384)).astype("float32"),
        )

    def add(number):
        vector = chance.normal(size=(1, 384)).astype("float32")
        notes.add(ids=[f"more-{number}"], documents=[next(texts)], embeddings=vector)

    return add


serve(start)
