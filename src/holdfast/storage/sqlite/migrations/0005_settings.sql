-- What a space's workspace.yml says beside its stores, as JSON by the names of the file's sections.
ALTER TABLE space ADD COLUMN settings TEXT NOT NULL DEFAULT '{}';
