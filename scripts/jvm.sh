#!/usr/bin/env bash
# Builds and tests the JVM binding (bindings/jvm) and installs it into Maven's local repository, where extensions find
# it. scripts/jvm.sh [MAVEN ARGUMENT...]; for instance -Dmaven.repo.local=FOLDER, or -DskipTests. All versions are
# pinned, so that a second run needs no network.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v mvn >/dev/null || ! command -v javac >/dev/null; then
  echo "SKIP the JVM binding: Maven or a JDK is missing (scripts/bootstrap.sh --test installs them)"
  exit 0
fi

pom=bindings/jvm/pom.xml
version=$(sed -n 's/^#define STOPE_VERSION "\(.*\)"$/\1/p' include/stope/version.hpp)
if ! grep -qxF "  <version>$version</version>" $pom; then
  echo "FAIL $pom does not have version $version of include/stope/version.hpp"
  exit 1
fi
STOPE_JVM=ON scripts/build.sh release stope_jni
exec mvn --batch-mode --no-transfer-progress -Dstyle.color=never -f $pom install "$@"
