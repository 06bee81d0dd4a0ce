# Makes the lock files again: versions and hashes, no addresses. Needs uv on the path.
set -eu
cd "$(dirname "$0")/.."
compile() {
    uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
        --no-emit-index-url --no-header --no-annotate pyproject.toml "$@"
}
compile --group build --output-file requirements/run.lock
compile --group dev --output-file requirements/dev.lock
uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-deps \
    --no-emit-index-url --no-header --no-annotate requirements/models.in \
    --output-file requirements/models.lock
