// stope knn finds the nearest rows of a training table for every row of a query table.
#include <algorithm>
#include <optional>

#include "arguments/knn_arguments.hpp"
#include "arguments/option.hpp"
#include "arguments/output_arguments.hpp"
#include "arguments/table_arguments.hpp"
#include "arguments/value.hpp"
#include "commands/command.hpp"
#include "report/model_output.hpp"
#include "report/neighbor_output.hpp"
#include "report/output.hpp"
#include "report/output_format.hpp"
#include "stope/device.hpp"
#include "stope/error.hpp"
#include "stope/metric.hpp"

namespace stope::cli {
namespace {

constexpr const char* kExamples =
    "Examples\n"
    "  stope knn train.csv query.csv -k 10 --ignore class\n"
    "  stope knn t.csv t.csv -k 3 --exclude-self -o neighbours.csv\n"
    "  stope knn base.fvecs query.fvecs -k 100 -o result.ivecs\n"
    "  stope knn base.npy query.npy -k 10 --output-format npy -o result    (result.indices.npy, "
    "result.distances.npy)\n";

// Similarities count as distances with a minus in front; divergences and kernels may fall below 0, too.
bool may_be_negative(const MetricInfo& metric) {
  return metric.summary.starts_with('-') || metric.family == "Bregman" || metric.name == "kernel-euclidean";
}

class Knn : public Command {
 public:
  explicit Knn(CLI::App& program)
      : Command(program, "knn", "Find the nearest rows of a table for every row of another",
                "Finds the k nearest rows of TRAIN, or all within a radius, for every row of QUERY, and writes CSV: "
                "row, pos, "
                "train_index, distance, all counted from 0. Columns are matched by name; label, id and weight are no "
                "features.") {
    add_argument(*app, "TRAIN", train_, "TABLE", "Table to search; '-' reads stdin");
    add_argument(*app, "QUERY", query_, "TABLE", "Rows to search for; may be absent where --model-out is given",
                 Required::no);
    OptionGroup group(*app, "Search");
    group.integer("-k,--n-neighbors", search_.n_neighbors, "K",
                  "Neighbours of every row [" + std::to_string(search_.n_neighbors) + "]");
    group.parsed("-r,--radius", "R", "All rows at distance R or nearer, instead of the k nearest (-k)",
                 [this](const std::string& word) { radius_ = parse_real(word, "--radius"); });
    group.flag("--exclude-self", search_.exclude_self, "QUERY is TRAIN: no row is its own neighbour");
    group.text("--exclude-group", search_.exclude_group, "COLUMN",
               "Rows with the same value in this column are not neighbours; it is not a feature");
    output_.add_to(*app, "knn", "File for the neighbours; default: stdout",
                   "Format; npy: one structured array in FILE.npy, or else FILE.indices.npy and FILE.distances.npy; "
                   "raw: FILE.indices.i32, FILE.distances.f32; ivecs: indices only");
    model_.add_to(*app);
    tables_.after.add_to(*app);
    knn_.add_to(*app);
    tables_.add_to(*app, Tables::two);
    add_common(kExamples);
  }

  void run(Session& session) override {
    check();
    require_backend(session.run());
    std::unique_ptr<NeighborOutput> out;
    const bool searches = !query_.empty();
    if (searches)
      out = open_neighbor_output(output_.word(), session.data_path(output_.path, "neighbors"), session.run().cancel);
    model_.open(session, searches ? output_.path : "the model alone");
    Table train, query;
    session.timed("read", [&] {
      train = tables_.read_first(train_, session);
      session.hold({&train});
      require_rows(train, train_);
      if (searches) query = tables_.read_second(query_, train, session);
      session.hold({&train, &query});
    });
    session.note_input("train", train_, train);
    if (searches) session.note_input("query", query_, query);
    if (!search_.exclude_group.empty()) {
      search_.exclude_group =
          train.columns[static_cast<std::size_t>(train.find(search_.exclude_group, "--exclude-group"))].name;
      if (searches) query.find(search_.exclude_group, "--exclude-group");
      train.leave_out(search_.exclude_group);
      query.leave_out(search_.exclude_group);
    }
    const Table columns = outline(train);
    train = features_only(std::move(train));  // it finds neighbours and predicts nothing
    const NeighborsModel model =
        knn_.prepare(session, train, searches ? &query : nullptr, {.n_neighbors = search_.n_neighbors});
    const auto index = session.timed("fit", [&] { return KnnIndex::fit(model.train, model.options, session.run()); });
    model_.write(session, tables_.after.joined({columns, model}));
    if (!searches) {
      commit_files(session, {&model_.file});
      return;
    }
    const SearchReport report = session.timed("search", [&] { return search(session, index, query, out.get()); });
    if (out) {
      session.timed("write", [&] { out->commit(); });
      for (const std::string& path : out->paths()) session.note_output(path);
    }
    commit_files(session, {&model_.file});
    note(session, report);
  }

 private:
  void check() const {
    knn_.options();
    knn_.normalization();
    require_one_stdin(train_, query_);
    const bool given = count("-k") > 0;
    if (query_.empty() && !model_.wanted()) {
      throw Error(ErrorCode::invalid_argument,
                  "QUERY is missing: which rows are to be searched for? (--model-out only saves)");
    }
    if (query_.empty() && (radius_ || !output_.path.empty())) {
      throw Error(ErrorCode::invalid_argument, "-o and --radius need QUERY");
    }
    if (radius_ && *radius_ < 0 && !may_be_negative(find_metric(knn_.metric))) {
      throw Error(ErrorCode::invalid_argument,
                  "--radius: no distance is negative under metric " + knn_.metric + ", so nothing lies within");
    }
    if (radius_ && given) throw Error(ErrorCode::invalid_argument, "-k and --radius exclude each other");
    if (search_.n_neighbors < 1) {
      throw Error(ErrorCode::invalid_argument, "-k: " + std::to_string(search_.n_neighbors) + " is not at least 1");
    }
    const std::string format = output_.word();
    if (!is_array_format(format)) return;
    if (radius_) {
      throw Error(ErrorCode::invalid_argument,
                  "--radius: the lists differ in length; only csv, tsv, json and jsonl hold such lists");
    }
    if (format != "ivecs" && is_stdout(output_path(output_.path))) {
      throw Error(ErrorCode::invalid_argument, "--output-format npy and raw write two files: name them with -o");
    }
  }

  SearchReport search(Session& session, const KnnIndex& index, const Table& query, NeighborOutput* out) const {
    if (out != nullptr) {
      // Under --compat rapidminer k may exceed the number of rows; the lists are never longer than that.
      out->begin({query.n_rows, index.n_samples(), std::min(search_.n_neighbors, index.n_samples())});
    }
    const NeighborSink sink = [out](const Neighbors& block) {
      if (out != nullptr) out->write(block);
    };
    if (radius_) return index.radius_neighbors(query, *radius_, search_, session.run(), sink);
    return index.kneighbors(query, search_, session.run(), sink);
  }

  void note(Session& session, const SearchReport& report) const {
    Json options;
    options["n_neighbors"] = radius_ ? Json(nullptr) : Json(search_.n_neighbors);
    options["radius"] = radius_ ? Json(*radius_) : Json(nullptr);
    options["exclude_self"] = search_.exclude_self;
    options["exclude_group"] = search_.exclude_group.empty() ? Json(nullptr) : Json(search_.exclude_group);
    knn_.note(session, std::move(options), report);
  }

  std::string train_, query_;
  OutputArguments output_;
  SearchOptions search_;
  std::optional<double> radius_;
  TableArguments tables_;
  KnnArguments knn_;
  ModelOutput model_;
};

}  // namespace

std::unique_ptr<Command> add_knn(CLI::App& program) {
  return std::make_unique<Knn>(program);
}

}  // namespace stope::cli
