#!/usr/bin/env bash
# Builds what the benches take from Rust, in .build, some ten minutes the first time: oha, which sends at a fixed rate, and
# the Rust peer, whose library of ONNX Runtime is onnxruntime-node's. `bench/setup.sh oha` builds oha alone.
set -euo pipefail

root="$(cd "$(dirname "$0")/.." && pwd)"
command -v cargo >/dev/null || { echo 'cargo is not installed: oha and the Rust peer are left out' >&2; exit 1; }

export CARGO_TARGET_DIR="$root/.build/rust"
if [ ! -x "$root/.build/tools/bin/oha" ]; then
  cargo install --quiet oha --version 1.16.0 --locked --no-default-features --features rustls --root "$root/.build/tools"
fi
echo "built $root/.build/tools/bin/oha"
[ "${1:-all}" != oha ] || exit 0

# Compiled for this machine only.
export RUSTFLAGS='-C target-cpu=native'
cargo build --quiet --release --manifest-path "$root/bench/peers/rust/Cargo.toml"
echo "built $CARGO_TARGET_DIR/release/acuity-peer"
