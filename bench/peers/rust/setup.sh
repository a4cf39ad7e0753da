#!/usr/bin/env bash
# Builds the Rust peer in .build/rust: some minutes the first time. Its library of ONNX Runtime is onnxruntime-node's.
set -euo pipefail

root="$(cd "$(dirname "$0")/../../.." && pwd)"
export CARGO_TARGET_DIR="$root/.build/rust"
# Compiled for this machine only.
export RUSTFLAGS='-C target-cpu=native'

command -v cargo >/dev/null || { echo 'cargo is not installed: the Rust peer is left out' >&2; exit 1; }
cargo build --quiet --release --manifest-path "$root/bench/peers/rust/Cargo.toml"
echo "built $CARGO_TARGET_DIR/release/acuity-peer"
