#!/usr/bin/env bash
# Builds and tests the RapidMiner extension (extensions/rapidminer) after the JVM binding that it contains:
# scripts/rapidminer.sh [MAVEN ARGUMENT...] leaves build/rapidminer/plugin/stope-rapidminer-VERSION.jar. With
# RAPIDMINER_HOME set it compiles against that RapidMiner, otherwise against signatures; the classes are the same.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v mvn >/dev/null || ! command -v javac >/dev/null; then
  echo "SKIP the RapidMiner extension: Maven or a JDK is missing (scripts/bootstrap.sh --test installs them)"
  exit 0
fi

version=$(sed -n 's/^#define STOPE_VERSION "\(.*\)"$/\1/p' include/stope/version.hpp)
for pom in extensions/rapidminer/pom.xml extensions/rapidminer/*/pom.xml; do
  if ! grep -qE "^ +<version>$version</version>$" "$pom"; then
    echo "FAIL $pom does not have version $version of include/stope/version.hpp"
    exit 1
  fi
done
scripts/jvm.sh -q -DskipTests "$@"
# All files of a reproducible archive have the same date, and Maven unpacks none over a file of that date.
rm -rf build/rapidminer/plugin/classes/org
# A server of this build answers its tests. Without the packages of Python they say that they are left out.
if .venv/bin/python -c 'import nanobind' 2>/dev/null && [[ " $* " != *" -DskipTests "* ]]; then
  STOPE_PYTHON=ON scripts/build.sh release stope_python
fi
[[ " $* " == *" -DskipTests "* ]] || rm -rf build/rapidminer/plugin/surefire-reports
code=0
mvn --batch-mode --no-transfer-progress -Dstyle.color=never -f extensions/rapidminer/pom.xml package "$@" || code=$?
[[ " $* " == *" -DskipTests "* ]] || python3 scripts/maven_skips.py build/rapidminer/plugin/surefire-reports
[ $code -eq 0 ] || exit $code
echo "build/rapidminer/plugin/stope-rapidminer-$version.jar"
