// Every job of the C ABI gives what the C++ API gives, bit for bit.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <sstream>

#include "capi/capi.hpp"
#include "fault/job.hpp"
#include "forking.hpp"
#include "stope/stope.hpp"

namespace capi_test {
namespace {

using stope::Column;
using stope::every_job::for_regression;
using stope::every_job::good_table;

Table handle_of(const stope::Table& table) {
  ArrowSchema arrow_schema;
  ArrowArray batch;
  stope::export_arrow(table, &arrow_schema, &batch);
  Table made;
  Failure failure;
  EXPECT_OK(stope_table_from_arrow_array(&arrow_schema, &batch, nullptr, nullptr, made.out(), &failure));
  return made;
}

void expect_same(double found, double wanted) {
  if (std::isnan(wanted)) {
    EXPECT_TRUE(std::isnan(found));
  } else {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(found), std::bit_cast<std::uint64_t>(wanted)) << found << " " << wanted;
  }
}

void expect_column(const stope_table* table, const std::string& name, const std::vector<double>& wanted) {
  SCOPED_TRACE(name);
  const std::vector<double> found = column(table, find(table, name));
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) expect_same(found[i], wanted[i]);
}

void expect_codes(const stope_table* table, const std::string& name, const std::vector<std::int32_t>& wanted) {
  std::vector<double> codes;
  for (const std::int32_t code : wanted) codes.push_back(code < 0 ? std::nan("") : code);
  expect_column(table, name, codes);
}

// A table of the C ABI has the columns of one of the C++ API.
void expect_table(const stope_table* found, const stope::Table& wanted) {
  ASSERT_EQ(stope_table_columns(found), std::ssize(wanted.columns));
  for (std::int64_t c = 0; c < std::ssize(wanted.columns); ++c) {
    const Column& of = wanted.columns[static_cast<std::size_t>(c)];
    SCOPED_TRACE(of.name);
    EXPECT_EQ(schema(found)[static_cast<std::size_t>(c)]["name"], of.name);
    EXPECT_EQ(schema(found)[static_cast<std::size_t>(c)]["type"], std::string(to_string(of.type)));
    const std::vector<double> values = column(found, c);
    ASSERT_EQ(std::ssize(values), wanted.n_rows);
    for (std::int64_t row = 0; row < wanted.n_rows; ++row)
      expect_same(values[static_cast<std::size_t>(row)], of.at(row));
  }
}

Table compute(const char* job, const stope_table* table,
              const std::vector<std::pair<const char*, const char*>>& set = {}) {
  Table out;
  Failure failure;
  const Options given = options(set);
  EXPECT_OK(stope_compute(job, table, nullptr, given, nullptr, out.out(), &failure));
  return out;
}

Model fit(const char* kind, const stope_table* table,
          const std::vector<std::pair<const char*, const char*>>& set = {}) {
  Model out;
  Failure failure;
  const Options given = options(set);
  EXPECT_OK(stope_fit(kind, table, given, nullptr, out.out(), &failure));
  return out;
}

Table apply(const stope_model* model, const stope_table* rows,
            const std::vector<std::pair<const char*, const char*>>& set = {}) {
  Table out;
  Failure failure;
  const Options given = options(set);
  EXPECT_OK(stope_apply(model, rows, given, nullptr, out.out(), &failure));
  return out;
}

TEST(Jobs, Statistics) {
  const stope::Table data = good_table();
  const Table table = handle_of(data);
  const stope::Statistics wanted = stope::describe(data, {.distinct = stope::StatsOptions::Distinct::count, .by = "y"});
  const Table found = compute("stats", table, {{"distinct", "true"}, {"by", "y"}});
  std::vector<double> means, distinct;
  const auto add = [&](const std::vector<stope::ColumnStatistics>& columns) {
    for (const stope::ColumnStatistics& one : columns) {
      means.push_back(one.mean);
      distinct.push_back(one.distinct ? static_cast<double>(*one.distinct) : std::nan(""));
    }
  };
  add(wanted.columns);
  for (const stope::ClassStatistics& one : wanted.classes) add(one.columns);
  expect_column(found, "mean", means);
  expect_column(found, "distinct", distinct);
  EXPECT_EQ(column(found, find(found, "class")).back(), 1.0);

  const Table histogram = compute("histogram", table, {{"bins", "4"}});
  EXPECT_EQ(stope_table_rows(histogram), 12) << "three numeric columns of four bins";
  const Table counts = compute("value_counts", table);
  EXPECT_EQ(column(counts, 2), (std::vector<double>{4, 4, 4, 6, 6, 5, 7, 3, 3, 3, 3}));
  expect_column(compute("feature_ranges", table), "high", {11.0, 9.0});
}

TEST(Jobs, CutsAndTheirModels) {
  const stope::Table data = good_table();
  const Table table = handle_of(data);
  const stope::BestCuts ranking = stope::best_cuts(data, {.n_permutations = 50, .seed = 3});
  const Table found = compute("best_cuts", table, {{"n_permutations", "50"}, {"seed", "3"}});
  std::vector<double> scores, p;
  for (const stope::BestCut& one : ranking.cuts) {
    scores.push_back(one.score);
    p.push_back(one.p_value.value());
  }
  expect_column(found, "score", scores);
  expect_column(found, "p_value", p);

  for (const char* method : {"md-global", "md-local", "mdlp", "chimerge", "equal-width", "equal-frequency"}) {
    SCOPED_TRACE(method);
    const stope::CutSet cuts = stope::find_cuts(data, {.method = stope::discretize_method(method)});
    std::int64_t n = 0;
    for (const stope::AttributeCuts& one : cuts) n += one.size();
    EXPECT_EQ(stope_table_rows(compute("find_cuts", table, {{"method", method}})), n);
    const Model model = fit("cuts", table, {{"method", method}, {"style", "labels"}});
    expect_table(apply(model, table), stope::apply_cuts(data, cuts, {.style = stope::CodeStyle::labels}));
  }
}

TEST(Jobs, Evaluation) {
  const stope::Table data = good_table();
  stope::EvaluateOptions wanted;
  wanted.ks = {1, 3};
  wanted.n_folds = 3;
  wanted.seed = 5;
  const stope::Evaluation scores = stope::evaluate(data, wanted);
  const Table found = compute("evaluate", handle_of(data), {{"n_neighbors", "1,3"}, {"n_folds", "3"}, {"seed", "5"}});
  expect_column(found, "accuracy", {scores.of_k[0].classification.accuracy, scores.of_k[1].classification.accuracy});
  const stope::Evaluation errors = stope::evaluate(for_regression(data), wanted);
  const Table numbers =
      compute("evaluate", handle_of(for_regression(data)), {{"n_neighbors", "1,3"}, {"n_folds", "3"}, {"seed", "5"}});
  expect_column(numbers, "rmse", {errors.of_k[0].regression.rmse, errors.of_k[1].regression.rmse});
}

TEST(Jobs, Pairs) {
  const stope::Table data = stope::features_only(good_table());
  const Table table = handle_of(data);
  const std::vector<stope::CrossDistance> pairs =
      stope::cross_distances(data, data, {.knn = {.metric = {"gower"}}, .n_neighbors = 3});
  std::vector<double> documents, distances;
  for (const stope::CrossDistance& one : pairs) {
    documents.push_back(static_cast<double>(one.document));
    distances.push_back(one.distance);
  }
  const Table found = compute("pairwise", table, {{"metric", "gower"}, {"n_neighbors", "3"}});
  expect_column(found, "document", documents);
  expect_column(found, "distance", distances);

  // The matrix, transposed in place by its strides.
  std::vector<double> matrix(144), wanted(144);
  stope::pairwise_distances(data, data, {.knn = {.metric = {"gower"}}}, {}, [&](const stope::PairwiseBlock& block) {
    std::copy_n(block.values, block.n_requests * 12, wanted.begin() + block.first_request * 12);
  });
  const stope_array transposed = {matrix.data(), 12, 12, 8, 96, STOPE_FLOAT64, -1, nullptr, nullptr};
  Failure failure;
  const Options gower = options({{"metric", "gower"}});
  EXPECT_OK(stope_pairwise_distances(table, nullptr, gower, nullptr, &transposed, &failure));
  for (std::size_t i = 0; i < 12; ++i) {
    for (std::size_t j = 0; j < 12; ++j) expect_same(matrix[j * 12 + i], wanted[i * 12 + j]);
  }
  const stope_array small = {matrix.data(), 12, 11, 96, 8, STOPE_FLOAT64, -1, nullptr, nullptr};
  EXPECT_REFUSED(stope_pairwise_distances(table, nullptr, gower, nullptr, &small, &failure), STOPE_INVALID_ARGUMENT,
                 "12 x 11 elements, not 12 x 12");
  const stope_array flat = {matrix.data(), 11, 12, 96, 8, STOPE_FLOAT64, -1, nullptr, nullptr};
  EXPECT_REFUSED(stope_pairwise_distances(table, nullptr, gower, nullptr, &flat, &failure), STOPE_INVALID_ARGUMENT,
                 "11 x 12 elements, not 12 x 12");
  const stope_array floats = {matrix.data(), 12, 12, 96, 8, STOPE_FLOAT32, -1, nullptr, nullptr};
  const stope_array on_gpu = {matrix.data(), 12, 12, 96, 8, STOPE_FLOAT64, 0, nullptr, nullptr};
  for (const stope_array* out : {&floats, &on_gpu}) {
    EXPECT_REFUSED(stope_pairwise_distances(table, nullptr, gower, nullptr, out, &failure), STOPE_INVALID_ARGUMENT,
                   "distances are float64, in the host's memory");
  }
  const Table none = handle_of(data.take({}));
  const stope_array nothing = {nullptr, 12, 0, 8, 8, STOPE_FLOAT64, -1, nullptr, nullptr};
  EXPECT_REFUSED(stope_pairwise_distances(table, none, gower, nullptr, &nothing, &failure), STOPE_INVALID_DATA,
                 "the training table has no rows");
}

TEST(Jobs, NeighborsVotesAndMeans) {
  const stope::Table data = good_table();
  const Table table = handle_of(data);
  const stope::Predictor wanted(
      {outline(data), stope::make_neighbors_model(data, {.metric = {"heom"}}, {.method = stope::Normalization::range},
                                                  {.n_neighbors = 3, .weights = stope::VoteWeights::distance})});
  const Model model = fit("classify", table,
                          {{"metric", "heom"}, {"normalize", "range"}, {"n_neighbors", "3"}, {"weights", "distance"}});
  const stope::Classification classes = wanted.classify(data);
  const Table found = apply(model, table, {{"proba", "true"}});
  expect_codes(found, "prediction", classes.codes);
  std::vector<double> of_b;
  for (std::size_t i = 0; i < 12; ++i) of_b.push_back(classes.confidences[i * 2 + 1]);
  expect_column(found, "confidence(b)", of_b);
  EXPECT_EQ(stope_table_columns(apply(model, table)), 1);
  expect_codes(apply(model, table, {{"n_neighbors", "1"}, {"weights", "uniform"}}), "prediction",
               wanted.with_vote(1, stope::VoteWeights::uniform).classify(data).codes);
  // One of the two alone leaves the other as the model has it.
  const stope::Classification four = wanted.with_vote(4, stope::VoteWeights::distance).classify(data);
  of_b.clear();
  for (std::size_t i = 0; i < 12; ++i) of_b.push_back(four.confidences[i * 2 + 1]);
  expect_column(apply(model, table, {{"n_neighbors", "4"}, {"proba", "true"}}), "confidence(b)", of_b);

  stope::Table numbers = for_regression(data);
  for (const char* nominal : {"c", "d"}) numbers.leave_out(nominal);
  const Model regressor =
      fit("regress", handle_of(numbers), {{"n_neighbors", "4"}, {"metric", "minkowski"}, {"metric.p", "3"}});
  const stope::KnnOptions cubes{.metric = {"minkowski", {{"p", "3"}}}};
  const stope::Predictor means({outline(numbers), stope::make_neighbors_model(numbers, cubes, {}, {.n_neighbors = 4})});
  expect_column(apply(regressor, handle_of(numbers)), "prediction", means.regress(numbers));
}

TEST(Jobs, PcaLeastSquaresTreesAndNormalisation) {
  const stope::Table data = good_table();
  const Table table = handle_of(data);
  const stope::Pca pca = stope::Pca::fit(data, {.n_components = 2, .nominal = stope::NominalFeatures::skip});
  const Model components = fit("pca", table, {{"n_components", "2"}, {"nominal", "skip"}});
  expect_table(apply(components, table), pca.transform(data));
  Table part;
  Failure failure;
  EXPECT_OK(stope_model_table(components, "components", part.out(), &failure));
  expect_table(part, pca.to_table());
  EXPECT_REFUSED(stope_model_table(components, "component", part.out(), &failure), STOPE_INVALID_ARGUMENT,
                 "did you mean 'components'?");

  const stope::Table numbers = for_regression(data);
  const stope::LinearModel line =
      stope::LinearModel::fit(numbers, {.alpha = 0.5, .nominal = stope::NominalFeatures::skip});
  const Model linear = fit("lsq", handle_of(numbers), {{"alpha", "0.5"}, {"nominal", "skip"}});
  expect_column(apply(linear, handle_of(numbers)), "prediction", line.predict(numbers));

  stope::TreeFitOptions growth;
  growth.tree.max_depth = 3;
  growth.tree.class_weights = {{"b", 2.0}};
  const stope::DecisionTree tree = stope::fit_tree(data, growth);
  const Model grown = fit("tree", table, {{"max_depth", "3"}, {"class_weight.b", "2"}});
  for (const char* format : {"text", "json", "dot", "svg", "rules"}) {
    EXPECT_EQ(stope_model_text(grown, format), stope::format_tree(tree, stope::tree_format(format)));
  }
  EXPECT_EQ(stope_model_text(grown, "xml"), nullptr);
  EXPECT_EQ(stope_model_text(linear, "text"), nullptr);
  expect_codes(apply(grown, table, {{"proba", "true"}}), "prediction", tree.predict(data).codes);

  const stope::Normalizer scaling = stope::Normalizer::fit(data, {.method = stope::Normalization::range, .max = 2.0});
  expect_table(apply(fit("normalize", table, {{"method", "range"}, {"max", "2"}}), table), scaling.apply(data));

  stope::Table holes = data;
  holes.columns[0] = stope::make_numeric("x", {0, 1, 2, 3, 4, 5, 6, std::nan(""), 8, 9, 10, 11});
  const stope::Imputer imputer =
      stope::Imputer::fit(holes, {.n_neighbors = 2, .metric = {.name = "gower"}, .columns = {"x"}});
  const Model fills = fit("impute", handle_of(holes), {{"n_neighbors", "2"}, {"metric", "gower"}, {"columns", "x"}});
  expect_table(apply(fills, handle_of(holes)), imputer.apply(holes));
}

TEST(Models, TellWhatTheyAre) {
  const Model model = fit("classify", handle_of(good_table()), {{"metric", "gower"}});
  const Json info = Json::parse(stope_model_info(model));
  EXPECT_EQ(info["kind"], "neighbors");
  EXPECT_EQ(info["gives"], "classes");
  EXPECT_EQ(info["classes"], Json::parse(R"(["a", "b"])"));
  EXPECT_EQ(info["options"]["metric"], "gower");
  EXPECT_EQ(info["columns"].size(), 7U);
  EXPECT_EQ(stope_model_info(model), stope_model_info(model)) << "one text a handle";
}

struct Lent {
  std::string bytes;
  int released = 0;
  static void release(void* lent) { ++static_cast<Lent*>(lent)->released; }
};

TEST(Models, AreTheSameAsBytesAndFiles) {
  const Table table = handle_of(good_table());
  for (const char* kind : {"neighbors", "classify", "pca", "tree", "cuts", "normalize", "impute"}) {
    SCOPED_TRACE(kind);
    const Model model =
        fit(kind, table,
            std::string(kind) == "pca" ? std::vector<std::pair<const char*, const char*>>{{"nominal", "skip"}}
                                       : std::vector<std::pair<const char*, const char*>>());
    Failure failure;
    std::int64_t n = 0;
    EXPECT_OK(stope_model_bytes(model, &n, &failure));
    Lent lent{std::string(static_cast<std::size_t>(n), '\0')};
    EXPECT_REFUSED(stope_model_store(model, lent.bytes.data(), n - 1, &failure), STOPE_INVALID_ARGUMENT, "more than");
    EXPECT_OK(stope_model_store(model, lent.bytes.data(), n, &failure));
    const std::string path = testing::TempDir() + kind + ".stope";
    EXPECT_OK(stope_model_write(model, path.c_str(), nullptr, &failure));
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    EXPECT_EQ(text.str(), lent.bytes);

    const Table wanted = apply(model, table);
    Model copied, shared, mapped;
    EXPECT_OK(stope_model_load(lent.bytes.data(), n, nullptr, nullptr, nullptr, copied.out(), &failure));
    EXPECT_OK(stope_model_load(lent.bytes.data(), n, Lent::release, &lent, nullptr, shared.out(), &failure));
    EXPECT_OK(stope_model_read(path.c_str(), 1, nullptr, mapped.out(), &failure));
    Model loaded;
    EXPECT_OK(stope_model_read(path.c_str(), 0, nullptr, loaded.out(), &failure));
    for (const Model* one : {&copied, &shared, &mapped, &loaded}) {
      const Table found = apply(*one, table);
      EXPECT_EQ(schema(found), schema(wanted));
      for (std::int64_t c = 0; c < stope_table_columns(wanted); ++c) {
        const std::vector<double> values = column(wanted, c);
        const std::vector<double> same = column(found, c);
        for (std::size_t i = 0; i < values.size(); ++i) expect_same(same[i], values[i]);
      }
    }
    shared = {};
    EXPECT_EQ(lent.released, 1);
    lent.bytes[lent.bytes.size() / 2] ^= 1;
    EXPECT_EQ(stope_model_load(lent.bytes.data(), n, Lent::release, &lent, nullptr, shared.out(), &failure),
              STOPE_INVALID_DATA);
    EXPECT_EQ(lent.released, 2) << "also where it fails";
    EXPECT_REFUSED(stope_model_load(lent.bytes.data(), -1, nullptr, nullptr, nullptr, shared.out(), &failure),
                   STOPE_INVALID_ARGUMENT, "n is -1");
  }
}

TEST(Neighbors, AreWrittenToTheCallersArrays) {
  const stope::Table data = good_table();
  const Table table = handle_of(data);
  const Model model = fit("neighbors", table, {{"n_neighbors", "3"}});
  const stope::Neighbors wanted =
      stope::KnnIndex::fit(stope::features_only(data)).kneighbors(data, {.n_neighbors = 3, .exclude_self = true});
  std::vector<std::int64_t> indices(36);
  std::vector<double> distances(36);
  Failure failure;
  const Options others = options({{"exclude_self", "true"}});
  EXPECT_OK(stope_neighbors(model, table, 3, others, nullptr, indices.data(), distances.data(), &failure));
  EXPECT_EQ(indices, wanted.indices);
  EXPECT_EQ(distances, wanted.distances);
  EXPECT_REFUSED(stope_neighbors(model, table, 13, nullptr, nullptr, indices.data(), distances.data(), &failure),
                 STOPE_INVALID_ARGUMENT, "k");
  const Table lists = apply(model, table);
  EXPECT_EQ(stope_table_rows(lists), 36);
  const Options wrong = options({{"radius", "3"}});
  EXPECT_REFUSED(stope_neighbors(model, table, 3, wrong, nullptr, indices.data(), distances.data(), &failure),
                 STOPE_INVALID_ARGUMENT, "a search has no option 'radius'");
  const Model tree = fit("tree", table);
  EXPECT_REFUSED(stope_neighbors(tree, table, 3, nullptr, nullptr, indices.data(), distances.data(), &failure),
                 STOPE_INVALID_ARGUMENT, "is no k-NN model");
  EXPECT_OK(stope_model_release_devices(tree, &failure));
  EXPECT_OK(stope_model_release_devices(model, &failure));
}

TEST(Neighbors, OfRowsInAnArrayAndWithinARadius) {
  stope::Table data;
  data.n_rows = 6;
  data.columns = {stope::make_numeric("x", {0, 1, 2, 3, 4, 10}), stope::make_numeric("y", {0, 0, 0, 1, 1, 1})};
  const Table table = handle_of(data);
  const Model model = fit("neighbors", table);
  const float rows[] = {0.5F, 0, 3, 1};
  const stope_array array = {rows, 2, 2, 8, 4, STOPE_FLOAT32, -1, nullptr, nullptr};
  std::vector<std::int64_t> indices(4);
  std::vector<double> distances(4);
  Failure failure;
  EXPECT_OK(stope_neighbors_of_array(model, &array, 2, nullptr, nullptr, indices.data(), distances.data(), &failure));
  EXPECT_EQ(indices, (std::vector<std::int64_t>{0, 1, 3, 4}));
  const Model scaled = fit("neighbors", table, {{"normalize", "z"}});
  EXPECT_REFUSED(
      stope_neighbors_of_array(scaled, &array, 2, nullptr, nullptr, indices.data(), distances.data(), &failure),
      STOPE_UNSUPPORTED, "normalises its rows");
  const stope_array no_rows = {rows, 0, 2, 8, 4, STOPE_FLOAT32, -1, nullptr, nullptr};
  EXPECT_OK(stope_neighbors_of_array(model, &no_rows, 2, nullptr, nullptr, nullptr, nullptr, &failure));

  Lists lists;
  EXPECT_OK(stope_radius_neighbors(model, table, 1.0, nullptr, nullptr, lists.out(), &failure));
  EXPECT_EQ(stope_lists_rows(lists), 6);
  std::vector<std::int64_t> offsets(7), found(static_cast<std::size_t>(stope_lists_entries(lists)));
  EXPECT_OK(stope_lists_copy(lists, offsets.data(), found.data(), nullptr, &failure));
  const stope::Neighbors wanted = stope::KnnIndex::fit(data).radius_neighbors(data, 1.0);
  EXPECT_EQ(offsets, wanted.offsets);
  EXPECT_EQ(found, wanted.indices);
}

TEST(Neighbors, OfPartsAreMergedToThoseOfTheWhole) {
  const stope::Table data = stope::features_only(good_table());
  std::vector<std::int64_t> first, second;
  for (std::int64_t row = 0; row < 12; ++row) (row < 7 ? first : second).push_back(row);
  const Table whole = handle_of(data);
  const Table ranges = compute("feature_ranges", whole);
  std::vector<double> low = column(ranges, find(ranges, "low")), high = column(ranges, find(ranges, "high"));
  const std::vector<double> both = {low[0], high[0], low[1], high[1]};
  std::vector<std::int64_t> parts(2 * 48), merged(48), wanted(48);
  std::vector<double> distances(2 * 48), merged_distances(48), wanted_distances(48);
  Failure failure;
  for (std::int64_t part = 0; part < 2; ++part) {
    const Table rows = handle_of(data.take(part == 0 ? first : second));
    Model model;
    Options gower = options({{"metric", "gower"}});
    EXPECT_OK(stope_options_set_doubles(gower, "ranges", both.data(), 4, &failure));
    EXPECT_OK(stope_fit("neighbors", rows, gower, nullptr, model.out(), &failure));
    EXPECT_OK(stope_neighbors(model, whole, 4, nullptr, nullptr, parts.data() + part * 48, distances.data() + part * 48,
                              &failure));
    for (std::int64_t i = 0; part == 1 && i < 48; ++i) parts[static_cast<std::size_t>(48 + i)] += 7;
  }
  EXPECT_OK(stope_merge_neighbors(2, 48, 12, 4, parts.data(), distances.data(), merged.data(), merged_distances.data(),
                                  &failure));
  const Model model = fit("neighbors", whole, {{"metric", "gower"}});
  EXPECT_OK(stope_neighbors(model, whole, 4, nullptr, nullptr, wanted.data(), wanted_distances.data(), &failure));
  EXPECT_EQ(merged, wanted);
  EXPECT_EQ(merged_distances, wanted_distances);
  // Parts that have fewer than k rows pad their lists, and so does what is merged of them.
  const std::int64_t lists[] = {0, -1, -1, 3, -1, -1};
  const double nan = std::nan(""), far[] = {2.0, nan, nan, 1.0, nan, nan};
  std::vector<std::int64_t> few(3, 7);
  std::vector<double> few_distances(3, 7.0);
  EXPECT_OK(stope_merge_neighbors(2, 3, 1, 3, lists, far, few.data(), few_distances.data(), &failure));
  EXPECT_EQ(few, (std::vector<std::int64_t>{3, 0, -1}));
  EXPECT_EQ(few_distances[1], 2.0);
  EXPECT_TRUE(std::isnan(few_distances[2]));
  EXPECT_OK(stope_merge_neighbors(2, 0, 0, 3, nullptr, nullptr, nullptr, nullptr, &failure)) << "no queries";
  EXPECT_REFUSED(stope_merge_neighbors(0, 3, 1, 3, lists, far, few.data(), few_distances.data(), &failure),
                 STOPE_INVALID_ARGUMENT, "n_parts is 0, not at least 1");
  EXPECT_REFUSED(stope_merge_neighbors(2, 2, 1, 3, lists, far, few.data(), few_distances.data(), &failure),
                 STOPE_INVALID_ARGUMENT, "stride is 2, not at least 3");
  const Options short_ranges = options({{"metric", "gower"}, {"ranges", "1,2"}});
  Model none;
  EXPECT_REFUSED(stope_fit("neighbors", whole, short_ranges, nullptr, none.out(), &failure), STOPE_INVALID_ARGUMENT,
                 "ranges has 2 numbers, and the numeric features need 4");
}

// Two million parts of one entry: copies of each would take 350 MB.
TEST(Neighbors, ManyPartsAreMergedWithoutMemory) {
  if (const std::string why = stope::why_no_fork(); !why.empty()) GTEST_SKIP() << why;
  constexpr std::int64_t kParts = 2000000;
  std::vector<std::int64_t> parts(kParts);
  std::vector<double> distances(kParts);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i] = static_cast<std::int64_t>(i);
    distances[i] = std::fabs(static_cast<double>(i) - 1234567.0);
  }
  const pid_t child = fork();
  if (child == 0) {
    std::int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t most = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE)) + (rlim_t{64} << 20);
    const rlimit limit{most, most};
    setrlimit(RLIMIT_AS, &limit);
    std::int64_t row = 0;
    double distance = 1.0;
    Failure failure;
    const stope_code code =
        stope_merge_neighbors(kParts, 1, 1, 1, parts.data(), distances.data(), &row, &distance, &failure);
    _exit(code == STOPE_OK && row == 1234567 && distance == 0.0 ? 0 : 1 + static_cast<int>(code));
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace capi_test
