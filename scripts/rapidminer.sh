#!/usr/bin/env bash
# Builds the RapidMiner extension: scripts/rapidminer.sh leaves build/rapidminer/plugin/stope-rapidminer-VERSION.jar.
# It builds the native library of the JVM binding first, and puts the binding into the local Maven repository, where the
# extension finds it. With RAPIDMINER_HOME set it compiles against that RapidMiner, otherwise against signatures.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset release -DSTOPE_BUILD_JVM=ON > /dev/null
cmake --build build/release --target stope_jni
mvn -q -B -f bindings/jvm/pom.xml install -DskipTests
mvn -q -B -f extensions/rapidminer/pom.xml package
ls build/rapidminer/plugin/stope-rapidminer-*.jar
