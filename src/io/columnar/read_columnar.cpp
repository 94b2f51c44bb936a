#include "io/columnar/read_columnar.hpp"

#include <algorithm>
#include <memory>
#include <unordered_set>
#include <utility>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "io/arrow/schema.hpp"
#include "io/column_choice.hpp"
#include "io/columnar/fill.hpp"
#include "io/roles.hpp"
#include "stope/arrow.hpp"
#include "stope/error.hpp"

namespace stope::io {
namespace {

using arrow::Field;
using columnar::PluginFile;

// What one page or buffer may take of the memory budget.
constexpr std::int64_t kPageShare = 4;

std::string name_of(const ArrowSchema& schema, std::int64_t column) {
  const char* const name = schema.children[column]->name;
  return name != nullptr && name[0] != '\0' ? name : std::to_string(column + 1);
}

// The places of the columns that nobody ignores. Numbers and names of the options refer to the file's columns: they
// become names here, before columns are left out.
class Choice {
 public:
  Choice(const ArrowSchema& file, ReadOptions& options, Schema* schema, const std::string& source)
      : options_(options), schema_(schema) {
    for (std::int64_t c = 0; c < file.n_children; ++c) names_.push_back(name_of(file, c));
    if (!options.names.empty()) {
      check_names(options.names, std::ssize(names_));
      names_ = options.names;
    }
    const ColumnNames columns(names_, options.unknown_columns, source);
    find_ignored(columns);
    const auto take_role = [&](std::string& text, std::string_view option) {
      const std::int64_t at = text.empty() ? -1 : columns.find(text, option);
      if (at < 0) return;
      text = names_[static_cast<std::size_t>(at)];
      ignored_[static_cast<std::size_t>(at)] = false;  // a schema may ignore it, the options do not
    };
    take_role(options.target, "target");
    take_role(options.id, "id");
    take_role(options.sample_weight, "sample_weight");
    const ColumnChoice types = choose_columns(columns, options);
    options.nominal = names_at(types.nominal);
    options.numeric = names_at(types.numeric);
    options.date = names_at(types.date);
  }

  std::vector<std::int64_t> columns() const {
    std::vector<std::int64_t> chosen;
    chosen.reserve(names_.size());
    for (std::size_t c = 0; c < names_.size(); ++c) {
      if (!ignored_[c]) chosen.push_back(static_cast<std::int64_t>(c));
    }
    return chosen;
  }

  // Takes the ignored columns out of what is applied to the table later.
  void forget_ignored() {
    std::unordered_set<std::string> gone;
    std::vector<std::string> left;
    for (std::size_t c = 0; c < names_.size(); ++c) {
      if (ignored_[c]) {
        gone.insert(names_[c]);
      } else {
        left.push_back(names_[c]);
      }
    }
    if (!options_.names.empty()) options_.names = std::move(left);
    options_.ignore.clear();
    options_.select.clear();
    for (std::vector<std::string>* list : {&options_.nominal, &options_.numeric, &options_.date}) {
      std::erase_if(*list, [&](const std::string& name) { return gone.contains(name); });
    }
    if (schema_ != nullptr) {
      std::erase_if(schema_->columns, [&](const ColumnSpec& spec) { return gone.contains(spec.name); });
    }
  }

 private:
  void find_ignored(const ColumnNames& columns) {
    ignored_.assign(names_.size(), false);
    if (schema_ != nullptr) {
      std::unordered_set<std::string_view> wanted;
      for (const ColumnSpec& spec : schema_->columns) {
        if (spec.role == Role::ignore) wanted.insert(spec.name);
      }
      for (std::size_t c = 0; c < names_.size(); ++c) {
        if (wanted.contains(names_[c])) ignored_[c] = true;
      }
    }
    for (const std::int64_t at : choose_columns(columns, options_).ignore) {
      ignored_[static_cast<std::size_t>(at)] = true;
    }
  }

  std::vector<std::string> names_at(const std::vector<std::int64_t>& places) const {
    std::vector<std::string> names;
    names.reserve(places.size());
    for (const std::int64_t place : places) names.push_back(names_[static_cast<std::size_t>(place)]);
    return names;
  }

  ReadOptions& options_;
  Schema* schema_;
  std::vector<std::string> names_;
  std::vector<bool> ignored_;
};

// The schema of chosen columns alone: a view of the file's, so that columns of a type that no table holds may be
// ignored.
std::vector<Field> chosen_fields(const ArrowSchema& file, const std::vector<std::int64_t>& columns,
                                 const std::string& source) {
  std::vector<ArrowSchema*> children;
  children.reserve(columns.size());
  for (const std::int64_t column : columns) children.push_back(file.children[column]);
  ArrowSchema view = file;
  view.n_children = std::ssize(children);
  view.children = children.data();
  std::vector<Field> fields = arrow::fields_of(view, source);
  for (std::size_t i = 0; i < fields.size(); ++i) fields[i].name = name_of(file, columns[i]);
  return fields;
}

Table read_file(PluginFile& file, ReadOptions& options, Schema* schema, const RunOptions& run) {
  const columnar::ArrowSchemaPtr columns = file.schema();
  Choice choice(*columns, options, schema, file.name());
  columnar::Selection selection{choice.columns(), {}};
  if (selection.columns.empty()) {
    throw Error(ErrorCode::invalid_data,
                columns->n_children == 0 ? "has no columns" : "has no columns but ignored ones", {file.name()});
  }
  if (const std::int64_t bytes = checked::mul(std::ssize(selection.columns), kColumnBytes), budget = memory_budget(run);
      bytes > budget) {
    refuse_memory_from("its columns, without their values, need", bytes, budget, {file.name()});
  }
  selection.fields = chosen_fields(*columns, selection.columns, file.name());
  choice.forget_ignored();
  const std::int64_t limit = std::max<std::int64_t>(memory_budget(run) / kPageShare, 1);
  const StopeFilesFacts facts = file.prepare(selection.columns, limit);
  if (!file.is_stream() && facts.whole_batch == 0) {
    return columnar::fill(file, selection, facts, options.nominal_order, run);
  }
  // A batch that lies in the file as it is: its columns are shared. Batches of a stream are held until the last one
  // tells how many rows there are.
  columnar::Rows rows = file.read(0, std::max<std::int64_t>(file.n_groups(), 0), selection.columns, INT64_MAX);
  ArrowOptions arrow_options;
  arrow_options.nominal_order = options.nominal_order;
  arrow_options.source = file.name();
  Table table;
  try {
    table = import_arrow(rows.get(), arrow_options, run);
  } catch (const Error& error) {
    file.explain(error);
  }
  for (std::size_t c = 0; c < table.columns.size(); ++c) table.columns[c].name = selection.fields[c].name;
  return table;
}

}  // namespace

bool begins_arrow_stream(std::string_view content) {
  return content.starts_with("\xFF\xFF\xFF\xFF");
}

Table read_columnar(const Bytes& bytes, Format format, ReadOptions& options, Schema* schema, const RunOptions& run) {
  const bool parquet = format == Format::parquet;
  const StopeFilesFunctions& plugin =
      files_functions(parquet ? "a Parquet file" : "an Arrow file (Feather)", bytes.name);
  const StopeFilesFormat kind = parquet                           ? kStopeFilesParquet
                                : begins_arrow_stream(bytes.view) ? kStopeFilesArrowStream
                                                                  : kStopeFilesArrow;
  PluginFile file(plugin, kind, bytes);
  return read_file(file, options, schema, run);
}

Table read_arrow_stream(columnar::ReadBytes read, const std::string& name, ReadOptions& options, Schema* schema,
                        const RunOptions& run) {
  PluginFile file(files_functions("an Arrow stream", name), std::move(read), name);
  return read_file(file, options, schema, run);
}

}  // namespace stope::io
