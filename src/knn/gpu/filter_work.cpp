#include "knn/gpu/filter_work.hpp"

namespace stope::knn {
namespace {

constexpr std::array<const char*, cuda_abi::kFilterSteps> kStepNames = {
    "upload", "images", "sample", "thresholds", "list", "re-rank", "vote", "copy back", "table images"};

}  // namespace

void FilterWork::add(const cuda_abi::FilterAnswer& answer) {
  scanned += answer.scanned;
  skipped += answer.skipped;
  listed += answer.listed;
  evaluated += answer.evaluated;
  opened += answer.opened;
  for (std::size_t step = 0; step < seconds.size(); ++step) {
    seconds[step] += static_cast<double>(answer.milliseconds[step]) * 1e-3;
  }
}

void FilterWork::add(const FilterWork& other) {
  scanned += other.scanned;
  skipped += other.skipped;
  listed += other.listed;
  evaluated += other.evaluated;
  opened += other.opened;
  for (std::size_t step = 0; step < seconds.size(); ++step) seconds[step] += other.seconds[step];
}

void FilterWork::report(cuda_abi::FilterStep first, cuda_abi::FilterStep last, SearchReport& report) const {
  report.scanned += scanned;
  report.skipped += skipped;
  report.listed += listed;
  report.evaluated += evaluated;
  report.opened += opened;
  for (auto step = static_cast<std::size_t>(first); step <= static_cast<std::size_t>(last); ++step) {
    report.gpu_seconds.emplace_back(kStepNames[step], seconds[step]);
  }
}

}  // namespace stope::knn
