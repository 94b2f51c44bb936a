// stope pairwise computes distances or similarities between all rows of two tables.
#include <optional>

#include "arguments/knn_arguments.hpp"
#include "arguments/option.hpp"
#include "arguments/output_arguments.hpp"
#include "arguments/table_arguments.hpp"
#include "commands/command.hpp"
#include "report/output.hpp"
#include "report/record_writer.hpp"
#include "stope/device.hpp"
#include "stope/error.hpp"
#include "stope/knn_pairwise.hpp"

namespace stope::cli {
namespace {

constexpr const char* kExamples =
    "Examples\n"
    "  stope pairwise a.csv b.csv --metric manhattan -o distances.csv\n"
    "  stope pairwise a.csv a.csv --output-format npy -o matrix.npy\n"
    "  stope pairwise a.csv b.csv -k 3 --search farthest\n";

/// The names of a table's rows: its id column, else 1, 2, 3, ...
void write_id(RecordWriter& csv, const Column* id, std::int64_t row) {
  if (id != nullptr) {
    csv.cell(*id, row);
  } else {
    csv.integer(row + 1);
  }
}

class Pairwise : public Command {
 public:
  explicit Pairwise(CLI::App& program)
      : Command(
            program, "pairwise", "Measure every pair of rows of two tables",
            "Measures every pair of a row of REQUEST and a row of REFERENCE, and writes CSV: request, document, "
            "distance or similarity. Rows are named by the id column; without one they count from 1, and the header "
            "says so: request_from_1, document_from_1. With -k it writes only the K nearest or farthest pairs of every "
            "request. Under --compat rapidminer it is the operator Cross Distances, with its header.") {
    add_argument(*app, "REQUEST", request_, "TABLE", "Rows to compare; '-' reads stdin");
    add_argument(*app, "REFERENCE", reference_, "TABLE", "Rows to compare with");
    OptionGroup group(*app, "Pairs");
    group.integer("-k,--n-neighbors", options_.n_neighbors, "K", "Only K pairs of every request; default: all");
    group.choice("--search", options_.search_for, "Which pairs -k chooses");
    group.flag("--similarities", options_.similarities, "Report similarities: -distance, or the measure's own");
    output_.add_to(*app, "pairwise", "File for the pairs; default: stdout", "Format; npy: the matrix, a row a request");
    knn_.add_to(*app);
    tables_.add_to(*app, Tables::two);
    add_common(kExamples);
  }

  void run(Session& session) override {
    check();
    require_backend(session.run());
    std::optional<OutputFile> file;
    file.emplace(session.data_path(output_.path, "pairs"), session.run().cancel);
    Table request, reference;
    session.timed("read", [&] {
      request = tables_.read_first(request_, session);
      session.hold({&request});
      reference = tables_.read_second(reference_, request, session);
      session.hold({&request, &reference});
    });
    session.note_input("request", request_, request);
    session.note_input("reference", reference_, reference);
    // The reference is searched, so normalisation is fitted to it.
    options_.knn = knn_.prepare(session, reference, &request).options;
    const SearchReport report = session.timed("search", [&] {
      const bool sorted = options_.n_neighbors > 0 || options_.knn.compat == Compat::rapidminer;
      if (as_matrix()) return write_matrix(session, request, reference, file);
      return sorted ? write_sorted(session, request, reference, file) : write_all(session, request, reference, file);
    });
    if (file) {
      session.timed("write", [&] { file->commit(); });
      session.note_output(file->path());
    }
    note(session, report);
  }

 private:
  bool as_matrix() const { return output_.word() == "npy"; }

  void check() const {
    knn_.options();
    knn_.normalization();
    require_one_stdin(request_, reference_);
    const bool chosen = count("-k") > 0;
    if (chosen && options_.n_neighbors < 1) {
      throw Error(ErrorCode::invalid_argument, "-k: " + std::to_string(options_.n_neighbors) + " is not at least 1");
    }
    if (!as_matrix()) return;
    if (chosen) throw Error(ErrorCode::invalid_argument, "-k: an npy matrix holds every pair");
    if (output_.path.empty()) {
      throw Error(ErrorCode::invalid_argument, "--output-format npy is binary: give -o FILE ('-o -' for a pipe)");
    }
  }

  // Other commands count rows from 0, so the header says where these do not.
  void write_header(RecordWriter& csv, const Column* request_id, const Column* reference_id) const {
    const bool plain = options_.knn.compat == Compat::rapidminer;
    csv.text(plain || request_id != nullptr ? "request" : "request_from_1");
    csv.text(plain || reference_id != nullptr ? "document" : "document_from_1");
    csv.text(options_.similarities ? "similarity" : "distance").end_row();
  }

  SearchReport write_matrix(Session& session, const Table& request, const Table& reference,
                            std::optional<OutputFile>& file) const {
    if (file) file->require_space(request.n_rows, reference.n_rows, std::int64_t{sizeof(double)});
    if (file) file->write(npy_header("float64", request.n_rows, reference.n_rows));
    return pairwise_distances(request, reference, options_, session.run(), [&](const PairwiseBlock& block) {
      if (!file) return;
      const auto bytes = static_cast<std::size_t>(block.n_requests * block.n_reference) * sizeof(double);
      file->write({reinterpret_cast<const char*>(block.values), bytes});
    });
  }

  SearchReport write_all(Session& session, const Table& request, const Table& reference,
                         std::optional<OutputFile>& file) const {
    const Column* request_id = column_of(request, Role::id);
    const Column* reference_id = column_of(reference, Role::id);
    std::optional<RecordWriter> csv;
    if (file) write_header(csv.emplace(*file, output_.format), request_id, reference_id);
    SearchReport report =
        pairwise_distances(request, reference, options_, session.run(), [&](const PairwiseBlock& block) {
          const std::int64_t n_pairs = csv ? block.n_requests * block.n_reference : 0;
          for (std::int64_t pair = 0; pair < n_pairs; ++pair) {
            write_id(*csv, request_id, block.first_request + pair / block.n_reference);
            write_id(*csv, reference_id, pair % block.n_reference);
            csv->number(block.values[pair]).end_row();
          }
        });
    if (csv) csv->finish();
    return report;
  }

  SearchReport write_sorted(Session& session, const Table& request, const Table& reference,
                            std::optional<OutputFile>& file) const {
    SearchReport report;
    const std::vector<CrossDistance> pairs = cross_distances(request, reference, options_, session.run(), &report);
    if (!file) return report;
    const Column* request_id = column_of(request, Role::id);
    const Column* reference_id = column_of(reference, Role::id);
    RecordWriter csv(*file, output_.format);
    write_header(csv, request_id, reference_id);
    std::int64_t row = 0;
    for (const CrossDistance& pair : pairs) {
      tell_written(session.run(), row++, std::ssize(pairs));
      write_id(csv, request_id, pair.request);
      write_id(csv, reference_id, pair.document);
      csv.number(pair.distance).end_row();
    }
    csv.finish();
    return report;
  }

  void note(Session& session, const SearchReport& report) const {
    Json options;
    options["n_neighbors"] = options_.n_neighbors > 0 ? Json(options_.n_neighbors) : Json(nullptr);
    options["search"] = options_.search_for == SearchFor::farthest ? "farthest" : "nearest";
    options["similarities"] = options_.similarities;
    knn_.note(session, std::move(options), report);
  }

  std::string request_, reference_;
  OutputArguments output_;
  PairwiseOptions options_;
  TableArguments tables_;
  KnnArguments knn_;
};

}  // namespace

std::unique_ptr<Command> add_pairwise(CLI::App& program) {
  return std::make_unique<Pairwise>(program);
}

}  // namespace stope::cli
