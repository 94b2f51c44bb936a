// Chains in model files: what comes back, and the files of an enemy.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "expect_error.hpp"
#include "io/temporary_folder.hpp"
#include "model/container.hpp"
#include "model/kinds.hpp"
#include "model/model_cases.hpp"
#include "same_table.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

using namespace testing_models;

class ChainFiles : public TemporaryFolder {
 protected:
  std::string save(const Model& model) const {
    OutputFile file(at("a.stope"));
    write_model(file, model);
    file.commit();
    return at("a.stope");
  }
};

TEST_F(ChainFiles, APredictionIsTheSameWhenTheChainIsReadAgain) {
  const Model cuts = chain_of_cuts(100), neighbors = chain_of_neighbors(40);
  const Model read = read_model(save(cuts));
  expect_equal(read.columns, cuts.columns);
  EXPECT_EQ(read.kind(), "chain");
  EXPECT_EQ(std::get<ChainModel>(read.fitted).steps.size(), 3U);
  const Table test = mixed_table(70, true);
  EXPECT_EQ(Predictor(read).classify(test).codes, Predictor(cuts).classify(test).codes);
  EXPECT_EQ(Predictor(read).classify(test).confidences, Predictor(cuts).classify(test).confidences);
  EXPECT_EQ(Predictor(read_model(save(neighbors), {}, Tables::shared)).regress(numeric_table(30)),
            Predictor(neighbors).regress(numeric_table(30)));
}

TEST_F(ChainFiles, ASummaryShowsTheSteps) {
  const ModelSummary summary = summarize_model(save(chain_of_neighbors(9)));
  EXPECT_EQ(summary.kind, "chain");
  EXPECT_EQ(summary.options, (std::vector<std::pair<std::string, std::string>>{{"steps", "3"}}));
  EXPECT_TRUE(summary.tables.empty());
  ASSERT_EQ(summary.steps.size(), 3U);
  EXPECT_EQ(summary.steps[0].kind, "normalization");
  EXPECT_EQ(summary.steps[1].kind, "pca");
  EXPECT_EQ(summary.steps[2].kind, "neighbors");
  EXPECT_EQ(summary.steps[2].columns.columns[0].name, "pc1");
  EXPECT_EQ(summary.steps[2].tables[0].name, "train");
  EXPECT_EQ(summary.steps[2].tables[0].n_rows, 9);
}

// The content of a good chain, changed as an enemy would, with a checksum that fits.
std::string refusal(const Model& model, const std::function<void(model::Content&)>& change) {
  model::Content content = model::content_of(model);
  change(content);
  try {
    model::model_of(testing_models::content_of(bytes_of(content)), {});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_data) << error.what();
    return error.what();
  }
  return "";
}

void set(model::Content& content, const std::string& name, const std::string& value) {
  for (auto& option : content.options) {
    if (option.first == name) option.second = value;
  }
}

testing::AssertionResult says(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << part << "' is not in '" << text << "'";
}

TEST(HostileChains, AreRefusedInWords) {
  const Model model = chain_of_cuts(12);
  EXPECT_EQ(refusal(model, [](model::Content&) {}), "");
  for (const char* steps : {"0", "1", "65", "-3", "9999999999", "many", ""}) {
    EXPECT_TRUE(says(refusal(model, [&](auto& content) { set(content, "steps", steps); }), "option 'steps'")) << steps;
  }
  EXPECT_TRUE(says(refusal(model, [](auto& content) { set(content, "steps", "4"); }), "table 'columns'"));
  EXPECT_EQ(refusal(model, [](auto& content) { set(content, "steps", "2"); }), "");
  EXPECT_TRUE(says(refusal(model, [](auto& content) { set(content, "2.kind", "chain"); }), "is a chain itself"));
  EXPECT_TRUE(says(refusal(model, [](auto& content) { set(content, "1.kind", "banana"); }), "'banana'"));
  EXPECT_TRUE(says(refusal(model, [](auto& content) { set(content, "1.kind", "tree"); }), "the model lacks"));
  EXPECT_TRUE(says(refusal(model, [](auto& content) { set(content, "2.missing", "drop"); }), "leaves rows"));
  EXPECT_TRUE(says(refusal(model,
                           [](auto& content) {
                             for (auto& named : content.tables) {
                               if (named.name == "3.columns") named.table.columns[0].name = "elsewhere";
                             }
                           }),
                   "needs the column 'elsewhere'"));
  EXPECT_TRUE(says(
      refusal(model,
              [](auto& content) { std::erase_if(content.tables, [](auto& named) { return named.name == "2.cuts"; }); }),
      "table 'cuts'"));
  // The tree first: a step that gives no table.
  EXPECT_TRUE(says(refusal(model,
                           [](auto& content) {
                             const auto moved = [](std::string& name) {
                               if (name[0] == '1' || name[0] == '3') name[0] = name[0] == '1' ? '3' : '1';
                             };
                             for (auto& option : content.options) moved(option.first);
                             for (auto& named : content.tables) moved(named.name);
                           }),
                   "gives no table"));
}

TEST(HostileChains, NamesWithoutAStepAreNoPartOfIt) {
  const Model model = chain_of_cuts(12);
  for (const char* name :
       {"0.kind", "01.kind", "9.kind", "x.kind", "1", "1kind", ".kind", "18446744073709551616.kind"}) {
    EXPECT_EQ(refusal(model, [&](auto& content) { content.set(name, std::string("banana")); }), "") << name;
  }
}

TEST(HostileChains, AChainThatNobodyWouldMakeIsNotWritten) {
  const Model scale = normalizer_model();
  const Model nested{scale.columns, ChainModel{{scale, {scale.columns, ChainModel{{scale, scale}}}}}};
  expect_error(ErrorCode::invalid_argument, "step 2 is a chain itself", [&] { model::content_of(nested); });
}

}  // namespace
}  // namespace stope
