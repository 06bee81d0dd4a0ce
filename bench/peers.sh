#!/usr/bin/env bash
# Install the peers that bench/ measures beside Holdfast into a venv of their own (about 1 GB);
# AgentVM goes beside them where npm is present.
#
#   bash bench/peers.sh [FOLDER]           FOLDER: bench/results/peers unless told otherwise
#   PYTHON=python3.13 bash bench/peers.sh  basic-memory needs Python 3.12 or newer
set -euo pipefail
cd "$(dirname "$0")/.."
folder="${1:-bench/results/peers}"
"${PYTHON:-python3}" -m venv "$folder"
"$folder/bin/python" -m pip --quiet --disable-pip-version-check install --requirement bench/peers.txt
"$folder/bin/python" -m pip --disable-pip-version-check check
if command -v npm >/dev/null; then
    npm install --silent --no-fund --no-audit --prefix "$folder" "@llmhut/agentvm@0.2.3"
fi
