// The texts of 'stope help TOPIC', which are sections of stope(1), too (cli/arguments/help_topics.hpp).
#include "arguments/help_topics.hpp"

namespace stope::cli {
namespace {

constexpr std::string_view kFormats =
    R"(The suffix decides, after .gz or .zst; else --input-format or --output-format; else the content.

  .csv .tsv                 text; separator, header and types are found, or given by options
  .arff                     WEKA and RapidMiner: names, types and values are in the file
  .npy                      NumPy: two-dimensional, C or Fortran order
  .fvecs .bvecs .ivecs      rows of float32, uint8, int32, each with its length in front
  .raw                      a bare array; --n-features and --dtype say its shape
  .parquet .pq              Parquet; needs the plug-in for files, which 'stope device' shows
  .arrow .feather .ipc      Arrow IPC (Feather version 2), mapped where it can be; .arrows is a stream; the same plug-in
  .json .jsonl              written only: an object per row, in an array or one a line
  .xlsx .xlsm .ods          read only: a sheet of a workbook (--sheet), through the plug-in for files
  .md                       written only: a table of Markdown
  .txt .json .dot .svg .rules   of a tree

A suffix of -o that does not fit what is written is refused, and so is an output that is an input.

The first record of a text file is data if its fields fit the columns below, else a header; --header decides.
Parquet and Arrow: columns of --ignore are not decoded, and are not in the table.
Columns are numeric, nominal or dates, found or declared by --numeric, --nominal and --date.
Options name a column by name or by number, counted from 1. Lists of columns take patterns ('gene_*') and ranges (3-10).
A pattern in quotes ('parts/*.csv') or a folder is one table of several files, in natural order.
Rows and positions count from 0, in messages and in outputs; lines of a file count from 1.
--schema FILE (JSON) names, types and roles columns, and lists the values of nominal ones.
)";

constexpr std::string_view kMissing =
    R"(--missing A,B,...        how a missing value is spelled; an empty item is the empty field
--missing-policy P       tree, discretize: what it means: error, value, drop or fill
--impute none|mean       pca, lsq: an error, or the mean of its column
stope impute             fills missing values in from the nearest rows that have the column
--missing-share P        gen: how many there are in the table it makes

Nearest neighbours: most measures skip an attribute that is missing in either row, and do not rescale. So a row
with many missing values is near to all; gower divides by the attributes compared, heom counts them as 1, and
nan-euclidean rescales as scikit-learn does. A label that is missing in the training table is an error.
Outputs: a missing value is an empty field in CSV, ? in ARFF, NaN in arrays; a missing prediction is ?.
)";

constexpr std::string_view kExitCodes = R"(  0  done; also where the reader of the output has gone (| head)
  1  'check' found a mismatch; any other command: an internal error, please report it
  2  the command line asks for something impossible: an unknown option or measure, k = 0, k above the number of rows
  3  unreadable, malformed or unsuitable data, an unknown column, an output that cannot be written
  4  the memory needed exceeds the limit or the machine; the message names the bytes
  5  a device was demanded that is not here, or was lost
130  interrupted (Ctrl-C)

An error is one line on stderr, with file:line:column where it is about a place in a text file.
)";

constexpr std::string_view kJson =
    R"(--json prints one object on stdout and nothing else. Without -o FILE it holds the result, too.

  schema_version  1; it grows when a member changes its meaning or goes away
  program, command, inputs, outputs, options
  plan            how the job ran: back end and why, threads, tiles, memory
  timings         seconds of each phase, and in total
  warnings        what stderr said
  scores          of classes: accuracy, kappa, macro_f1, classes, per_class, confusion
                  evaluate also: balanced_accuracy, roc_auc, log_loss
                  of numbers: rmse, mae, r2
  of_k, best_k    evaluate: the scores of every k; under --repeats "repeats": mean and std of each
  grid, best      evaluate, with several measures or normalisations: of_k of each, and which is best
  predictions, neighbors, pairs, ranking, coefficients, table, scores (pca), model (tree)
                  the result, as rows of objects; -o FILE writes it elsewhere
  cut_points      discretize: as --cuts-out FILE writes them; z: the numbers of ata
  error           of a run that failed: code, exit_code, message, file, line, column, option, feature, row
  correlation     stats --correlation: names, and the matrix with the rows of each pair
  columns         info, stats: a member for each column; dates are days since 1970-01-01

confusion has a row for each true class, in the order of 'classes', and one column more than classes: the last
counts the rows of that class that got no prediction. Beyond 50 classes confusion_cells takes its place, a list of
[truth, predicted, rows] for the cells that are not 0; null is no prediction. NaN and infinities, which JSON lacks, are null.
)";

}  // namespace

const std::vector<HelpTopic>& help_topics() {
  static const std::vector<HelpTopic> topics = {
      {"formats", "which files are read and written, and how rows and columns are counted", kFormats},
      {"missing", "the options that deal with missing values, and what measures do", kMissing},
      {"exit-codes", "what the exit code says", kExitCodes},
      {"json", "the members of the object that --json prints", kJson}};
  return topics;
}

}  // namespace stope::cli
