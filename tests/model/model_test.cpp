// A saved model predicts the same bits when it is read again, and no damaged file is read.
#include "stope/model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include "effort.hpp"
#include "expect_error.hpp"
#include "io/temporary_folder.hpp"
#include "model/checksum.hpp"
#include "model/container.hpp"
#include "model/kinds.hpp"
#include "model/model_cases.hpp"
#include "same_table.hpp"
#include "stope/error.hpp"
#include "stope/tree_format.hpp"

namespace stope {
namespace {

using namespace testing_models;

class ModelTest : public TemporaryFolder {
 protected:
  std::string save(const Model& model, const std::string& name) const {
    OutputFile file(at(name));
    write_model(file, model);
    file.commit();
    return at(name);
  }
};

TEST(Container, EveryKindOfColumnComesBack) {
  Table table = mixed_table(13, true);
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  Buffer<float> singles(13);
  for (std::int64_t i = 0; i < 13; ++i) singles[i] = static_cast<float>(i) / 3.0F;
  table.columns.push_back({"singles", ValueType::integer, Role::ignore, singles, {}});
  table.columns.push_back(make_numeric(
      "odd", {nan, -nan, inf, -inf, 0.0, -0.0, 5e-324, 1.7976931348623157e308, 1, 2, 3, 4, 5}, ValueType::date));
  model::Content content;
  content.kind = "test";
  content.set("empty", "");
  content.set("real", 0.1);
  content.set("integer", std::int64_t{-5});
  content.tables = {{"one", table}, {"none", Table{}}, {"without rows", outline(table)}};
  const std::string bytes = bytes_of(content);
  const model::Content read = content_of(bytes);
  EXPECT_EQ(read.kind, "test");
  EXPECT_EQ(read.options, content.options);
  EXPECT_EQ(read.text("empty"), "");
  EXPECT_EQ(read.real("real"), 0.1);
  EXPECT_EQ(read.integer("integer", -5, -5), -5);
  expect_error(ErrorCode::invalid_data, "option 'integer': '-5' is not a whole number from 0 to 9",
               [&] { read.integer("integer", 0, 9); });
  expect_error(ErrorCode::invalid_data, "option 'empty': '' is not a number", [&] { read.real("empty"); });
  expect_error(ErrorCode::invalid_data, "lacks the option 'other'", [&] { read.text("other"); });
  expect_error(ErrorCode::invalid_data, "lacks the table 'other'", [&] { read.table("other"); });
  expect_equal(read.table("one"), table);
  expect_equal(read.table("none"), Table{});
  expect_equal(read.table("without rows"), outline(table));
}

TEST_F(ModelTest, NeighborsPredictTheSame) {
  for (const bool nominal_label : {true, false}) {
    const Model model = neighbors_model(40, nominal_label);
    const Model read = read_model(save(model, "a.stope"));
    expect_equal(read.columns, model.columns);
    EXPECT_EQ(read.kind(), nominal_label ? "k-NN classifier" : "k-NN regressor");
    const auto& before = std::get<NeighborsModel>(model.fitted);
    const auto& after = std::get<NeighborsModel>(read.fitted);
    EXPECT_EQ(after.options.metric.name, before.options.metric.name);
    EXPECT_EQ(after.options.feature_weights, before.options.feature_weights);
    EXPECT_EQ(after.n_neighbors, 3);
    EXPECT_EQ(after.weights, VoteWeights::distance);
    EXPECT_EQ(after.train.find(Role::id), -1);  // an id takes no part in the model
    const Table test = mixed_table(17, nominal_label);
    expect_equal(after.normalizer.apply(test), before.normalizer.apply(test));
    const VoteOptions vote{.n_neighbors = 3, .weights = VoteWeights::distance};
    const auto predict = [&](const NeighborsModel& m) {
      return KnnIndex::fit(m.train, m.options).kneighbors(m.normalizer.apply(test), {.n_neighbors = 3});
    };
    EXPECT_EQ(predict(after).indices, predict(before).indices);
    EXPECT_EQ(predict(after).distances, predict(before).distances);
  }
}

TEST_F(ModelTest, WeightsOfClassesAreSavedAsWeightsOfRows) {
  const Table test = mixed_table(23, true);
  for (const bool weighed : {true, false}) {  // with a column of weights, and without
    Model model = neighbors_model(40);
    auto& fitted = std::get<NeighborsModel>(model.fitted);
    if (!weighed) fitted.train.columns[static_cast<std::size_t>(fitted.train.find(Role::weight))].role = Role::ignore;
    const Classification plain = Predictor(model).classify(test);
    fitted.options.class_weights = {{"a", 7.0}, {"b", 0.25}};
    const Classification expected = Predictor(model).classify(test);
    EXPECT_NE(plain.confidences, expected.confidences);
    const Model read = read_model(save(model, "weighed.stope"));
    EXPECT_FALSE(std::get<NeighborsModel>(read.fitted).options.weighs_classes());  // else they would count twice
    EXPECT_EQ(Predictor(read).classify(test).confidences, expected.confidences);
    EXPECT_EQ(Predictor(read).with_vote(5, VoteWeights::uniform).classify(test).confidences,
              Predictor(model).with_vote(5, VoteWeights::uniform).classify(test).confidences);
  }
}

// A search refuses such a table, and a file would have its rows without any column, which no reader takes.
TEST_F(ModelTest, ATrainingTableWithoutFeaturesIsNeitherWrittenNorRead) {
  Model model = neighbors_model(8);
  model::Content content = model::content_of(model);
  const auto hide = [](Table& table) {
    for (Column& column : table.columns) column.role = Role::ignore;
  };
  hide(std::get<NeighborsModel>(model.fitted).train);
  expect_error(ErrorCode::invalid_data, "the training table has no features", [&] { save(model, "a.stope"); });
  EXPECT_FALSE(std::filesystem::exists(at("a.stope")));
  for (model::NamedTable& named : content.tables) {
    if (named.name == "train") hide(named.table);
  }
  expect_error(ErrorCode::invalid_data, "the training table has no features", [&] { model::model_of(content, {}); });
}

TEST_F(ModelTest, ComponentsAndCoefficientsGiveTheSameBits) {
  const Table test = numeric_table(30);
  for (const char* name : {"a.stope", "a.stope.gz", "a.stope.zst"}) {
    const Model pca = pca_model(), lsq = lsq_model();
    expect_equal(std::get<Pca>(read_model(save(pca, name)).fitted).transform(test),
                 std::get<Pca>(pca.fitted).transform(test));
    const LinearModel read = std::get<LinearModel>(read_model(save(lsq, name)).fitted);
    EXPECT_EQ(read.predict(test), std::get<LinearModel>(lsq.fitted).predict(test));
    EXPECT_EQ(read.missing(), MissingValues::mean);
    EXPECT_TRUE(is_model_file(at(name)));
  }
}

TEST_F(ModelTest, UncentredComponentsGiveTheSameBits) {
  const Model model = uncentred_model();
  const Pca& before = std::get<Pca>(model.fitted);
  const Model read = read_model(save(model, "a.stope"));
  const Pca& after = std::get<Pca>(read.fitted);
  EXPECT_EQ(after.centering(), Centering::none);
  EXPECT_EQ(after.missing(), MissingValues::mean);
  EXPECT_EQ(after.mean(), before.mean());
  EXPECT_EQ(after.explained_variance(), before.explained_variance());
  Table test = numeric_table(30);
  std::vector<double> x(30), zeros(30);
  for (std::size_t row = 0; row < x.size(); ++row)
    x[row] = row == 4 ? std::nan("") : 3.0 + static_cast<double>(row) / 7;
  test.columns[0] = make_numeric("x", x);
  const Table scores = before.transform(test);
  expect_equal(after.transform(test), scores);
  expect_equal(Predictor(read).transform(test), scores);
  for (Column& column : test.columns) column = make_numeric(column.name, zeros);
  EXPECT_EQ(after.transform(test).columns[0].at(0), 0.0) << "nothing is subtracted";
}

TEST_F(ModelTest, TreesAreTheSame) {
  for (const std::int64_t n : {1, 12, 300}) {
    const Model model = tree_model(n);
    const DecisionTree read = std::get<DecisionTree>(read_model(save(model, "a.stope")).fitted);
    const DecisionTree& before = std::get<DecisionTree>(model.fitted);
    for (const TreeFormat format : {TreeFormat::json, TreeFormat::rules, TreeFormat::svg}) {
      EXPECT_EQ(format_tree(read, format), format_tree(before, format));
    }
    const Table test = mixed_table(100, true);
    EXPECT_EQ(read.predict(test).codes, before.predict(test).codes);
    EXPECT_EQ(read.predict(test).confidences, before.predict(test).confidences);
  }
}

TEST_F(ModelTest, CutsCodeTheSame) {
  const Model model = cuts_model();
  const auto& before = std::get<CutsModel>(model.fitted);
  const auto read = std::get<CutsModel>(read_model(save(model, "a.stope")).fitted);
  EXPECT_GT(before.cuts.size(), 1U);
  const Table test = mixed_table(50, true);
  expect_equal(apply_cuts(test, read.cuts, read.coding), apply_cuts(test, before.cuts, before.coding));
  EXPECT_EQ(read.coding.style, CodeStyle::labels);
}

TEST_F(ModelTest, AnImputationFillsTheSameBits) {
  const Model model = imputer_model();
  const Model read = read_model(save(model, "a.stope"));
  EXPECT_EQ(read.kind(), "imputation");
  const auto& before = std::get<Imputer>(model.fitted);
  const auto& after = std::get<Imputer>(read.fitted);
  EXPECT_EQ(after.columns(), before.columns());
  EXPECT_EQ(after.options().strategy, ImputeStrategy::median);
  EXPECT_EQ(after.options().normalize.min, -1.0);
  EXPECT_EQ(after.options().feature_weights, before.options().feature_weights);
  const Table test = mixed_table(30, true);
  const Table filled = before.apply(test);
  EXPECT_FALSE(filled.columns[0].missing(3));
  expect_equal(after.apply(test), filled);
  expect_equal(Predictor(read).transform(test), filled);
}

TEST_F(ModelTest, AnImputationThatNoFitMadeIsRefused) {
  const auto changed = [](std::string_view name, const std::string& value) {
    model::Content content = model::content_of(imputer_model());
    for (auto& [key, text] : content.options) {
      if (key == name) text = value;
    }
    return content_of(bytes_of(content));
  };
  EXPECT_NO_THROW(model::model_of(changed("n_neighbors", "7"), {}));
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{{"metric", "mahalanobis"},
                                                                                    {"metric", "manhattan"},
                                                                                    {"n_neighbors", "0"},
                                                                                    {"strategy", "mode"},
                                                                                    {"normalize.min", "9"}}) {
    try {
      model::model_of(changed(name, value), {});
      ADD_FAILURE() << name << " = " << value;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_data) << error.what();
    }
  }
}

TEST_F(ModelTest, NormalisationsAreTheSame) {
  const Model model = normalizer_model();
  const Model read = read_model(save(model, "a.stope"));
  EXPECT_EQ(read.kind(), "normalisation");
  const auto& before = std::get<Normalizer>(model.fitted);
  const auto& after = std::get<Normalizer>(read.fitted);
  EXPECT_EQ(after.options().method, Normalization::range);
  EXPECT_EQ(after.options().min, -1.0);
  EXPECT_EQ(after.options().max, 3.0);
  const Table test = mixed_table(50, true);
  expect_equal(after.apply(test), before.apply(test));
}

// The two can differ: a normaliser that was fitted by itself may be part of any model.
TEST_F(ModelTest, KeepsTheRulesOfTheNormalisationApartFromThoseOfTheSearch) {
  Model model = neighbors_model(20);
  auto& before = std::get<NeighborsModel>(model.fitted);
  const Table table = mixed_table(20, true);
  for (const Compat search : {Compat::none, Compat::rapidminer}) {
    for (const Compat normalize : {Compat::none, Compat::rapidminer}) {
      before.options.compat = search;
      before.normalizer = Normalizer::fit(table, {.method = Normalization::z, .compat = normalize});
      const auto after = std::get<NeighborsModel>(read_model(save(model, "a.stope")).fitted);
      EXPECT_EQ(after.options.compat, search);
      EXPECT_EQ(after.normalizer.options().compat, normalize);
      expect_equal(after.normalizer.apply(table), before.normalizer.apply(table));
    }
  }
}

TEST_F(ModelTest, KeepsWhatTheFitKnew) {
  const Table table = numeric_table(9);
  const LinearModel line = LinearModel::fit(table, {.standard_errors = true});
  const auto read_line = std::get<LinearModel>(read_model(save({outline(table), line}, "a.stope")).fitted);
  EXPECT_GE(line.rank(), 1);
  EXPECT_EQ(read_line.rank(), line.rank());
  EXPECT_EQ(bits(read_line.r2()), bits(line.r2()));
  EXPECT_EQ(bits(read_line.residual_sum_of_squares()), bits(line.residual_sum_of_squares()));
  EXPECT_EQ(read_line.standard_errors(), line.standard_errors());
  EXPECT_EQ(read_line.intercept_standard_error(), line.intercept_standard_error());
  EXPECT_EQ(read_line.report().n_samples, 9);
  EXPECT_EQ(std::get<Pca>(read_model(save(pca_model(), "a.stope")).fitted).report().n_samples, 9);

  TreeOptions options;
  options.missing = MissingPolicy::value;
  options.max_depth = 3;
  options.min_samples_leaf = 2;
  options.min_score = 0.125;
  options.class_weights = {{"a", 1.5}, {"b", 0.1}};
  options.ccp_alpha = 1e-3;
  const Table mixed = mixed_table(60, true);
  const Model tree{outline(mixed), DecisionTree::fit(mixed, options)};
  const TreeOptions read = std::get<DecisionTree>(read_model(save(tree, "a.stope")).fitted).options();
  EXPECT_EQ(read.max_depth, options.max_depth);
  EXPECT_EQ(read.min_samples_leaf, options.min_samples_leaf);
  EXPECT_EQ(read.min_score, options.min_score);
  EXPECT_EQ(read.class_weights, options.class_weights);
  EXPECT_EQ(read.ccp_alpha, options.ccp_alpha);
  EXPECT_FALSE(read.balanced);
}

// The means are those of the table that is coded, before and after.
TEST_F(ModelTest, CutsThatFillAreSaved) {
  const Table table = mixed_table(40, true);
  const CutsModel before{find_cuts(table, {.missing = MissingPolicy::fill}), {.missing = MissingPolicy::fill}};
  const auto after = std::get<CutsModel>(read_model(save({outline(table), before}, "a.stope")).fitted);
  EXPECT_EQ(after.coding.missing, MissingPolicy::fill);
  expect_equal(apply_cuts(table, after.cuts, after.coding), apply_cuts(table, before.cuts, before.coding));
}

TEST_F(ModelTest, WhatCannotBeWrittenIsAnError) {
  Model model = normalizer_model();
  model.columns.columns.push_back(model.columns.columns.front());
  OutputFile file(at("a.stope"));
  expect_error(ErrorCode::invalid_argument, "two columns are named 'x'", [&] { write_model(file, model); });
}

TEST_F(ModelTest, SummaryNamesWhatIsInside) {
  const ModelSummary summary = summarize_model(save(neighbors_model(), "a.stope"));
  EXPECT_EQ(summary.kind, "neighbors");
  EXPECT_EQ(summary.version, 1U);
  EXPECT_EQ(summary.bytes, static_cast<std::int64_t>(content("a.stope").size()));
  EXPECT_EQ(summary.columns.columns.size(), 6U);
  ASSERT_EQ(summary.tables.size(), 3U);
  EXPECT_EQ(summary.tables[0].name, "train");
  EXPECT_EQ(summary.tables[0].n_rows, 8);
  EXPECT_EQ(summary.tables[0].n_columns, 5);
  EXPECT_FALSE(is_model_file(put("b.csv", "a,b\n1,2\n")));
  EXPECT_FALSE(is_model_file(put("empty", "")));
}

// A plain build tries all flips and truncations: a checksum that skipped a byte anywhere would let one through.
TEST_F(ModelTest, EveryFlippedBitAndEveryTruncationIsRefused) {
  for (const Model& model : small_models()) {
    save(model, "a.stope");
    const std::string whole = content("a.stope");
    EXPECT_NO_THROW(content_of(whole));
    const auto refused = [](const std::string& bytes) {
      try {
        content_of(bytes);
      } catch (const Error& error) {
        return error.code() == ErrorCode::invalid_data && std::string(error.what()).starts_with("a.stope: ");
      }
      return false;
    };
    std::string damaged = whole;
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
      if (!chosen(static_cast<std::int64_t>(bit))) continue;
      const auto mask = static_cast<char>(1 << (bit % 8));
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ mask);
      ASSERT_TRUE(refused(damaged)) << "bit " << bit;
      damaged[bit / 8] = whole[bit / 8];
    }
    for (std::size_t size = 0; size < whole.size(); ++size) {
      if (chosen(static_cast<std::int64_t>(size))) ASSERT_TRUE(refused(whole.substr(0, size))) << size;
    }
    EXPECT_TRUE(refused(whole + '\0'));
  }
}

TEST_F(ModelTest, RefusalsSayWhy) {
  save(pca_model(), "a.stope");
  const std::string whole = content("a.stope");
  const auto message = [](const std::string& bytes) -> std::string {
    try {
      content_of(bytes);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const auto contains = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos ? "" : "'" + part + "' is not in: " + text;
  };
  EXPECT_EQ(contains(message(""), "not a model file"), "");
  EXPECT_EQ(contains(message("a,b\n1,2\n"), "not a model file"), "");
  EXPECT_EQ(contains(message(whole.substr(0, whole.size() - 1)), "cut off"), "");
  std::string newer = whole;
  newer[8] = 2;
  EXPECT_EQ(contains(message(resealed(newer)), "version 2"), "");
  EXPECT_EQ(contains(message(resealed(newer)), "newer stope"), "");
  std::string damaged = whole;
  damaged[40] = static_cast<char>(damaged[40] ^ 1);
  EXPECT_EQ(contains(message(damaged), "damaged"), "");
  for (const std::size_t at : {12U, 15U}) {
    std::string not_zero = whole;
    not_zero[at] = 1;
    EXPECT_EQ(contains(message(resealed(not_zero)), "bytes 12 to 15"), "");
  }
}

// Applies a model to rows of the table that the models are made of. Returns whether it gave an answer.
bool is_used(const Model& model) {
  static const Table mixed = mixed_table(20, true), numbers = numeric_table(20);
  RunOptions run;
  run.threads = 1;
  run.memory_limit = std::int64_t{1} << 28;
  try {
    const Predictor predictor(model, run);
    const Table& rows = model.columns.columns.size() == numbers.columns.size() ? numbers : mixed;
    switch (predictor.gives()) {
      case Predictor::Gives::classes: predictor.classify(rows, run); break;
      case Predictor::Gives::numbers: predictor.regress(rows, run); break;
      case Predictor::Gives::neighbors: predictor.neighbors(rows, run); break;
      case Predictor::Gives::table: predictor.transform(rows, run); break;
    }
  } catch (const Error& error) {
    EXPECT_NE(error.code(), ErrorCode::internal) << error.what();
    return false;
  }
  return true;
}

// Whatever a byte becomes under a checksum that fits, the result is an error or a model that predicts or says why not.
TEST_F(ModelTest, ChangesUnderAFittingChecksumAreErrorsOrModels) {
  const std::size_t step =
      effort() < 100 ? 13 : 1;  // an odd step changes each of the eight bytes of a number somewhere
  for (const Model& model : small_models()) {
    save(model, "a.stope");
    const std::string whole = content("a.stope");
    EXPECT_TRUE(is_used(model)) << model.kind();
    std::int64_t refused = 0, read = 0, used = 0;
    for (std::size_t at = 8; at + 8 < whole.size(); at += step) {
      for (const int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
        std::string changed = whole;
        changed[at] = static_cast<char>(value);
        try {
          const Model changed_model = model::model_of(content_of(resealed(changed)), {});
          if (const auto* tree = std::get_if<DecisionTree>(&changed_model.fitted)) format_tree(*tree, TreeFormat::json);
          ++read;
          used += is_used(changed_model) ? 1 : 0;
        } catch (const Error& error) {
          EXPECT_NE(error.code(), ErrorCode::internal) << error.what();
          EXPECT_TRUE(std::string_view(error.what()).starts_with("a.stope: ")) << error.what();
          ++refused;
        }
      }
    }
    EXPECT_GT(refused, 0);
    EXPECT_GT(read, 0);
    EXPECT_GT(used, 0) << model.kind();
  }
}

TEST(Container, AnOptionAndATableMayHaveOneName) {
  model::Content content;
  content.kind = "k";
  content.set("t", "1");
  content.tables = {{"t", numeric_table(2)}};
  expect_equal(content_of(bytes_of(content)).table("t"), numeric_table(2));
  content.tables.push_back(content.tables.front());
  expect_error(ErrorCode::invalid_data, "two tables are called 't'", [&] { content_of(bytes_of(content)); });
}

// A file of columns without rows is small, its table is not.
TEST(Container, ColumnsWithoutRowsCountAgainstTheLimit) {
  model::Content content;
  content.kind = "k";
  Table table;
  for (int c = 0; c < 1000; ++c) table.columns.push_back(make_numeric("c" + std::to_string(c), {}));
  content.tables = {{"t", table}};
  const std::string bytes = bytes_of(content);
  RunOptions run;
  run.memory_limit = 2'000'000;
  EXPECT_NO_THROW(model::read_content({bytes, nullptr, "a.stope", 0}, run));
  run.memory_limit = 100'000;
  expect_error(ErrorCode::out_of_memory, "the model's options, tables and columns need",
               [&] { model::read_content({bytes, nullptr, "a.stope", 0}, run); });
}

// A value takes four bytes at least, and so many do not fit into what is left.
TEST(Container, MoreValuesThanBytesForThemAreRefusedBeforeAnyIsRead) {
  model::Content content;
  content.kind = "k";
  const std::string value(240, 'v');
  Table table;
  table.columns = {make_nominal("c", {}, {value})};
  content.tables = {{"t", table}};
  std::string bytes = bytes_of(content);
  const std::uint64_t n_values = 70;
  std::memcpy(bytes.data() + bytes.find(value) - sizeof(std::uint32_t) - sizeof n_values, &n_values, sizeof n_values);
  expect_error(ErrorCode::invalid_data, "70 values do not fit into the ", [&] { content_of(resealed(bytes)); });
}

TEST(Container, LengthsAreNotBelieved) {
  model::Content content;
  content.kind = "k";
  content.tables = {{"t", numeric_table(2)}};
  const std::string whole = bytes_of(content);
  // From the header's end on, every eight bytes become a huge number, and every four as well.
  for (std::size_t at = 24; at + 16 < whole.size(); ++at) {
    for (const std::uint64_t lie : {~std::uint64_t{0}, std::uint64_t{1} << 62, std::uint64_t{1} << 31}) {
      std::string changed = whole;
      std::memcpy(changed.data() + at, &lie, sizeof lie);
      try {
        content_of(resealed(changed));
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::invalid_data) << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace stope
