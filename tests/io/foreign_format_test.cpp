// Formats that are not read are recognised by their bytes; tables are not taken for them.
#include "io/foreign_format.hpp"

#include <gtest/gtest.h>

#include <string>

#include "stope/error.hpp"

namespace stope::io {
namespace {

// What the error calls the bytes; empty where they are not refused.
std::string refusal(const std::string& bytes, const std::string& name = "f") {
  try {
    refuse_foreign(bytes, name, Foreign::any);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    return error.what();
  }
  return "";
}

TEST(ForeignFormat, PicklesOfProtocols2To5AreNamed) {
  for (char protocol = 2; protocol <= 5; ++protocol) {
    const std::string bytes = std::string("\x80") + protocol + "}q.";
    EXPECT_NE(refusal(bytes).find("pickle"), std::string::npos) << int{protocol};
    EXPECT_EQ(refusal(bytes + "\n"), "") << int{protocol};
  }
  for (const char protocol : {'\1', '\6'}) EXPECT_EQ(refusal(std::string("\x80") + protocol + "}q."), "");
}

TEST(ForeignFormat, ALabelAndAscendingIndicesAreLibsvm) {
  for (const char* const line : {"+1 3:0.5 17:-2\n", "2 qid:1 1:0.5 4:2\n", "0 1:1\n"}) {
    EXPECT_NE(refusal(line).find("libsvm"), std::string::npos) << line;
  }
  for (const char* const line : {"+1\n", "a 3:0.5\n", "+1 3:0.5 2:1\n", "+1 3:x\n", "1 2 3\n", "12:30 13:45\n", "\n"}) {
    EXPECT_EQ(refusal(line), "") << line;
  }
}

TEST(ForeignFormat, LinesThatAreNearlyLibsvmAreText) {
  for (const char* const line : {"1 qid:x\n", "1 2:1:3\n", "1 x:0.5\n", "1 2x:0.5\n", "1 99999999999999999999:1\n",
                                 "1 3:1 3:2\n", "1 0.5:2\n"}) {
    EXPECT_EQ(refusal(line), "") << line;
  }
}

TEST(ForeignFormat, OnlyTheBeginningsOfJsonAreJson) {
  for (const char* const text : {"{}", "{ \"x\": 1}", "[{\"x\": 1}]", "[ [1, 2], [3, 4] ]"}) {
    EXPECT_NE(refusal(text).find("is JSON"), std::string::npos) << text;
  }
  EXPECT_NE(refusal("{\"x\": 1}\n{\"x\": 2}\n").find("JSON, an object a line"), std::string::npos);
  EXPECT_EQ(refusal("{\"x\": 1}\n[2]\n").find("an object a line"), std::string::npos);
  for (const char* const text : {"{", "[", "[1,2]\n", "{a},{b}\n1,2\n"}) EXPECT_EQ(refusal(text), "") << text;
}

TEST(ForeignFormat, AColumnMayBeNamedLikeATag) {
  EXPECT_NE(refusal("<html>\n").find("web page"), std::string::npos);
  for (const char* const header : {"<html,b\n1,2\n", "<html;b\n1;2\n", "<html\tb\n1\t2\n", "<html|b\n1|2\n"}) {
    EXPECT_EQ(refusal(header), "") << header;
  }
}

TEST(ForeignFormat, WhatComesThroughAPipeIsToBeSavedFirst) {
  const std::string avro = "Obj\x01";
  EXPECT_NE(refusal(avro, "a.avro").find("FROM 'a.avro'"), std::string::npos) << refusal(avro, "a.avro");
  for (const char* const name : {"<stdin>", "/dev/fd/63", "/dev/stdin"}) {
    EXPECT_NE(refusal(avro, name).find("save it as FILE, then duckdb"), std::string::npos) << refusal(avro, name);
  }
  const std::string image = "\x89PNG\r\n\x1A\n";
  EXPECT_EQ(refusal(image, "<stdin>").find("save it as FILE"), std::string::npos) << "its way names no file";
}

TEST(ForeignFormat, FormatsThatNamesTellAreToBeNamed) {
  EXPECT_NE(refusal("PAR1 and so on PAR1").find("give it a name that ends in .parquet"), std::string::npos);
  EXPECT_EQ(refusal("PAR1,PAR2\n1,2\n"), "") << "a header of two columns";
  for (const std::string& bytes :
       {std::string("ARROW1\0\0", 8), std::string("\xFF\xFF\xFF\xFF"), std::string("FEA1 FEA1")}) {
    EXPECT_NE(refusal(bytes).find("is to be read as text: give it a name that ends in .arrow"), std::string::npos);
  }
}

TEST(ForeignFormat, EveryAddressHasItsWay) {
  EXPECT_EQ(way_to_read("file:///t.csv"), "name the file without file://");
  EXPECT_EQ(way_to_read("az://b/t.csv"), "az storage blob download fetches it");
  EXPECT_EQ(way_to_read("s3://b/t.csv"), "aws s3 cp 's3://b/t.csv' - | stope info -");
  EXPECT_EQ(way_to_read("gs://b/t.csv"), "gcloud storage cat 'gs://b/t.csv' | stope info -");
  EXPECT_EQ(way_to_read("hdfs://b/t.csv"), "hdfs dfs -cat 'hdfs://b/t.csv' | stope info -");
  EXPECT_EQ(way_to_read("ftp://b/t.csv"), "curl -sSL 'ftp://b/t.csv' | stope info -");
}

}  // namespace
}  // namespace stope::io
