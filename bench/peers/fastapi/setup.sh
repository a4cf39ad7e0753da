#!/usr/bin/env bash
# Makes the virtual environment of the FastAPI peer in .build/fastapi (Python 3.11 or newer).
# Made under another name and moved there when complete, so that an interrupted run leaves nothing half done.
set -euo pipefail

root="$(cd "$(dirname "$0")/../../.." && pwd)"
here="$root/bench/peers/fastapi"
target="$root/.build/fastapi"

command -v python3 >/dev/null || { echo 'python3 is not installed: the FastAPI peer is left out' >&2; exit 1; }
if [ -x "$target/bin/python" ] && cmp -s "$here/requirements.txt" "$target/requirements.txt"; then
  echo "$target is current"
  exit 0
fi

rm -rf "$target" "$target.making"
mkdir -p "$root/.build"
python3 -m venv "$target.making"
"$target.making/bin/python" -m pip install --quiet --disable-pip-version-check -r "$here/requirements.txt"
cp "$here/requirements.txt" "$target.making/requirements.txt"
mv "$target.making" "$target"
echo "made $target"
