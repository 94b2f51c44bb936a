#!/usr/bin/env bash
# Builds and tests the WEKA package (extensions/weka) after the JVM binding that it contains: scripts/weka.sh [MAVEN
# ARGUMENT...] leaves build/weka/stope.zip. -Dweka.examples=FOLDER names WEKA's sample tables if they are not where
# Debian's package weka has them. scripts/weka_check.sh installs the zip.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v mvn >/dev/null || ! command -v javac >/dev/null; then
  echo "SKIP the WEKA package: Maven or a JDK is missing (scripts/bootstrap.sh --test installs them)"
  exit 0
fi

version=$(sed -n 's/^#define STOPE_VERSION "\(.*\)"$/\1/p' include/stope/version.hpp)
if ! grep -qxF "  <version>$version</version>" extensions/weka/pom.xml; then
  echo "FAIL extensions/weka/pom.xml does not have version $version of include/stope/version.hpp"
  exit 1
fi
shared=$(realpath -m "${STOPE_SHARED:-../shared}")
scripts/jvm.sh -q -DskipTests "$@"
rm -rf build/weka/surefire-reports
code=0
mvn --batch-mode --no-transfer-progress -Dstyle.color=never -f extensions/weka/pom.xml package "-Dstope.shared=$shared" "$@" || code=$?
python3 scripts/maven_skips.py build/weka/surefire-reports
[ $code -eq 0 ] || exit $code
echo "build/weka/stope.zip"
