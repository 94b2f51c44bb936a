// Predictions of rows in an array by the C ABI, with the bits of the C++ API.
#include <vector>

#include "capi/capi.hpp"
#include "stope/stope.hpp"

namespace capi_test {
namespace {

Table handle_of(const stope::Table& table) {
  ArrowSchema arrow_schema;
  ArrowArray batch;
  stope::export_arrow(table, &arrow_schema, &batch);
  Table made;
  Failure failure;
  EXPECT_OK(stope_table_from_arrow_array(&arrow_schema, &batch, nullptr, nullptr, made.out(), &failure));
  return made;
}

Model fit(const char* kind, const stope_table* table,
          const std::vector<std::pair<const char*, const char*>>& set = {}) {
  Model out;
  Failure failure;
  const Options given = options(set);
  EXPECT_OK(stope_fit(kind, table, given, nullptr, out.out(), &failure));
  return out;
}

TEST(Neighbors, PredictionsOfRowsInAnArrayAreThoseOfATable) {
  stope::Table data;
  data.n_rows = 6;
  data.columns = {stope::make_numeric("x", {0, 1, 2, 3, 4, 10}), stope::make_numeric("y", {0, 0, 0, 1, 1, 1}),
                  stope::make_nominal("class", {0, 0, 1, 1, 2, 2}, {"a", "b", "c"})};
  data.columns[2].role = stope::Role::label;
  const Model classes = fit("classify", handle_of(data), {{"n_neighbors", "3"}});
  const float rows[] = {0.5F, 0, 3, 1, 9, 1};
  const stope_array array = {rows, 3, 2, 8, 4, STOPE_FLOAT32, -1, nullptr, nullptr};
  std::vector<std::int32_t> codes(3, -7);
  std::vector<double> values(9, -7.0);
  Failure failure;
  const stope::KnnClassifier same = stope::KnnClassifier::fit(data);
  const stope::Classification wanted =
      same.predict(stope::ArrayView{rows, stope::ElementType::float32, 3, 2}, {.n_neighbors = 3});
  EXPECT_OK(stope_predict_of_array(classes, &array, nullptr, nullptr, codes.data(), nullptr, &failure));
  EXPECT_EQ(codes, wanted.codes);
  codes.assign(3, -7);
  EXPECT_OK(stope_predict_of_array(classes, &array, nullptr, nullptr, codes.data(), values.data(), &failure));
  EXPECT_EQ(codes, wanted.codes);
  EXPECT_EQ(values, wanted.confidences);
  const Options one = options({{"n_neighbors", "1"}, {"weights", "distance"}});
  EXPECT_OK(stope_predict_of_array(classes, &array, one, nullptr, codes.data(), nullptr, &failure));
  EXPECT_EQ(codes, (std::vector<std::int32_t>{0, 1, 2}));
  EXPECT_REFUSED(stope_predict_of_array(classes, &array, nullptr, nullptr, nullptr, values.data(), &failure),
                 STOPE_INVALID_ARGUMENT, "codes is null");
  const Options proba = options({{"proba", "true"}});
  EXPECT_REFUSED(stope_predict_of_array(classes, &array, proba, nullptr, codes.data(), nullptr, &failure),
                 STOPE_INVALID_ARGUMENT, "take the options 'n_neighbors' and 'weights'");
  data.columns[2] = stope::make_numeric("target", {1, 2, 3, 4, 5, 6});
  data.columns[2].role = stope::Role::label;
  const Model means = fit("regress", handle_of(data), {{"n_neighbors", "2"}});
  EXPECT_OK(stope_predict_of_array(means, &array, nullptr, nullptr, nullptr, values.data(), &failure));
  EXPECT_EQ(std::vector<double>(values.begin(), values.begin() + 3), (std::vector<double>{1.5, 4.5, 5.5}));
  const Model scaled = fit("regress", handle_of(data), {{"normalize", "z"}});
  EXPECT_REFUSED(stope_predict_of_array(scaled, &array, nullptr, nullptr, nullptr, values.data(), &failure),
                 STOPE_UNSUPPORTED, "normalises its rows");
  data.columns.pop_back();
  const Model lists = fit("neighbors", handle_of(data));
  EXPECT_REFUSED(stope_predict_of_array(lists, &array, nullptr, nullptr, codes.data(), values.data(), &failure),
                 STOPE_INVALID_ARGUMENT, "has no label to predict");
}

}  // namespace
}  // namespace capi_test
