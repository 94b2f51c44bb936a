#!/usr/bin/env bash
# Builds and tests what runs on the JVM: the binding (bindings/jvm), then the extensions that use it. What is built is
# installed into Maven's local repository. scripts/jvm.sh [MAVEN ARGUMENT...]; the arguments go to each Maven, for
# instance -Dmaven.repo.local=FOLDER, or -DskipTests. All versions are pinned, so that a second run needs no network.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v mvn >/dev/null || ! command -v javac >/dev/null; then
  echo "SKIP the JVM binding: Maven or a JDK is missing (scripts/bootstrap.sh --test installs them)"
  exit 0
fi

version=$(sed -n 's/^#define STOPE_VERSION "\(.*\)"$/\1/p' include/stope/version.hpp)
for pom in bindings/jvm/pom.xml extensions/*/pom.xml; do
  [ -f "$pom" ] || continue
  if ! grep -qF "<version>$version</version>" "$pom"; then
    echo "FAIL $pom does not name version $version of include/stope/version.hpp"
    exit 1
  fi
done

STOPE_JVM=ON scripts/build.sh release stope_jni
for pom in bindings/jvm/pom.xml extensions/*/pom.xml; do
  [ -f "$pom" ] || continue
  mvn --batch-mode --no-transfer-progress -Dstyle.color=never -f "$pom" install "$@"
done
