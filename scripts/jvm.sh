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

# docs/JVM.md says so: no library but glibc's own, and no glibc newer than 2.35. Where another machine builds it, its own
# glibc is the limit, and the page's row must say so.
library=build/release/jvm/libstope_jni.so
foreign=$(readelf -d $library | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(lib(c|m|dl|pthread)\.so|ld-linux)' || true)
newest=$(readelf -V $library | grep -oE 'GLIBC_2\.[0-9]+' | sort -V | tail -n 1)
if [ -n "$foreign" ]; then
  echo "FAIL $library needs" $foreign
  exit 1
fi
if [ "$(printf '%s\nGLIBC_2.35\n' "$newest" | sort -V | tail -n 1)" != GLIBC_2.35 ]; then
  echo "FAIL $library needs $newest, and docs/JVM.md says 2.35"
  exit 1
fi
[[ " $* " == *" -DskipTests "* ]] || rm -rf build/jvm/surefire-reports
code=0
mvn --batch-mode --no-transfer-progress -Dstyle.color=never -f $pom install "$@" || code=$?
[[ " $* " == *" -DskipTests "* ]] || python3 scripts/maven_skips.py build/jvm/surefire-reports
exit $code
