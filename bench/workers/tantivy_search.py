"""tantivy: the best 20 notes that have two words."""

from __future__ import annotations

import itertools

from serve import serve


def start(options):
    import tantivy
    from bench import data

    schema = tantivy.SchemaBuilder().add_text_field("text", stored=True).build()
    index = tantivy.Index(schema, path=options["folder"])
    writer = index.writer()
    for text in itertools.islice(data.notes(), options["entries"]):
        writer.add_document(tantivy.Document(text=text))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher, asked = index.searcher(), options["queries"]

    def search(number):
        words = asked[number % len(asked)].split()
        query = index.parse_query(f"+{words[0]} +{words[1]}", ["text"])
        return [searcher.doc(place)["text"] for _, place in searcher.search(query, 20).hits]

    return search


serve(start)
