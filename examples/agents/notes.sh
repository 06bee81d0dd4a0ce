#!/bin/sh
# An agent that needs no model: it reads what it remembers, and writes down what it was asked.
#
#     sh notes.sh PROMPT MEMORY
set -eu
prompt=$1
memory=$2
if [ -f "$memory/journal.md" ]; then
    echo "I was asked before:"
    grep '^- ' "$memory/journal.md" || true
else
    echo "# What I was asked" >"$memory/journal.md"
fi
printf -- '- %s\n' "$prompt" >>"$memory/journal.md"
echo "Done: $prompt"
