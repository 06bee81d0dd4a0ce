"""tantivy: the best 20 notes that have all the words of a query, or any of them."""

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

    wanted = "+" if options["all"] else ""

    def search(number):
        words = (f'{wanted}"{word}"' for word in asked[number % len(asked)].split())
        query = index.parse_query(" ".join(words), ["text"])
        return [searcher.doc(place)["text"] for _, place in searcher.search(query, 20).hits]

    return search


serve(start)
