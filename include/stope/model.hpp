// Model files: fitted models of every kind in one versioned, checksummed format (docs/formats/models.md).
//
//   OutputFile file("scores.stope");
//   write_model(file, {outline(table), Pca::fit(table, {.n_components = 2})});
//   file.commit();
//   const Predictor predictor(read_model("scores.stope"));
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stope/io.hpp"
#include "stope/predictor.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

#pragma GCC visibility push(default)
namespace stope {

/// Hands the bytes of a model file to `sink`, in order. Throws what the sink throws, and unsupported for a name of 4
/// GiB.
void write_model(const std::function<void(std::string_view)>& sink, const Model& model);
/// Writes them into a file; the caller commits.
void write_model(OutputFile& file, const Model& model);

/// Whether the columns of a model that is read are copied, or lie in the bytes that were read. Shared columns keep
/// these bytes alive. Until the last one goes nobody may change the bytes, or predictions are wrong without notice.
enum class Tables { copied, shared };

/// The bytes of a model file in memory.
struct ModelBytes {
  std::string_view view;
  std::shared_ptr<const void> owner = {};  ///< keeps them alive; Tables::shared needs one
};

/// Reads a model file, plain or compressed; `path` "-" is standard input. Tables::shared maps a plain file of 1 MiB or
/// more and uses its columns where they lie, so processes that read one file share its memory. Such a file may be
/// replaced (as OutputFile does), but not written into. The checksum reads every byte once, on all threads.
/// Nothing in a file is executed, and no length in it is trusted before it was compared with the bytes that are there.
/// Throws invalid_data for a file that is no model, is damaged (any changed bit, any missing byte), has a newer version
/// or contradicts itself. Throws io, and out_of_memory for a compressed file that expands past the memory budget.
Model read_model(const std::string& path, const RunOptions& run = {}, Tables tables = Tables::copied);

/// Reads the bytes of a model file, uncompressed. Columns are copied all the same where the bytes do not begin at a
/// multiple of 8. Throws as above, and invalid_argument for Tables::shared without an owner.
Model read_model(const ModelBytes& bytes, const RunOptions& run = {}, Tables tables = Tables::copied);

/// What is in a model file, whatever its kind.
struct ModelSummary {
  struct Part {
    std::string name;
    std::int64_t n_rows = 0;
    std::int64_t n_columns = 0;
  };
  std::string kind;
  std::uint32_t version = 0;
  std::int64_t bytes = 0;                                    ///< size of the uncompressed file
  std::vector<std::pair<std::string, std::string>> options;  ///< names and values
  std::vector<Part> tables;
  Table columns;  ///< as Model::columns
  /// A chain: its steps in order, without version and bytes. The chain's own options and tables are none of theirs.
  std::vector<ModelSummary> steps = {};
};

/// Reads and checks the whole container, but fits nothing. Errors as in read_model.
ModelSummary summarize_model(const std::string& path, const RunOptions& run = {});

/// Whether the file begins as model files do. A compressed file is opened only where its suffix names no kind of table.
/// False for "-" and pipes, whose bytes can be read only once. Throws io.
bool is_model_file(const std::string& path, const RunOptions& run = {});

}  // namespace stope
#pragma GCC visibility pop
