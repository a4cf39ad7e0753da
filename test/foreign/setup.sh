#!/usr/bin/env bash
# Installs, below .build/foreign, the generators of clients in Go and Java. Tests of what can't be installed here are skipped.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
folder=$PWD/.build/foreign
generated=$PWD/test/foreign/generated
copy=org.apache.maven.plugins:maven-dependency-plugin:3.3.0
# Modules below .build, and writable, so that the folder can be removed.
export GOBIN=$folder GOMODCACHE=$folder/go-modules GOFLAGS=-modcacherw
mkdir -p "$folder"

made() { if [ $? = 0 ]; then echo "$1: ready"; else echo "$1: can't be had here"; fi >&2; }

go install github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 && go -C "$generated" mod download
made oapi-codegen
mvn -q $copy:copy -Dartifact=org.openapitools:openapi-generator-cli:7.14.0 \
  -DoutputDirectory="$folder/openapi-generator" -Dmdep.stripVersion=true &&
  mvn -q -f "$generated/pom.xml" $copy:copy-dependencies -DoutputDirectory="$folder/jackson"
made openapi-generator
true
