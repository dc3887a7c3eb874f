#include "study/explain/decisions.h"

#include <string_view>

#include "engine/topology/sources/load_hosts.h"
#include "study/asked_job.h"

namespace ringside::study {
namespace {

constexpr int kNodes[] = {1, 2, 4, 16};
constexpr Bytes kSizes[] = {1_KiB, 64_KiB, 1_MiB, 64_MiB, 1_GiB};

Result<DecisionRow> row_of(const std::string& preset, int nodes) {
  RINGSIDE_TRY(const TunedJob job, load_tuned_preset(preset, nodes));
  DecisionRow row{preset, nodes, job.shape(), {}};
  for (const Bytes size : kSizes) {
    RINGSIDE_TRY(row.choices.emplace_back(), job.tuner.choose({.bytes = size}));
  }
  return row;
}

}  // namespace

std::span<const Bytes> decision_sizes() { return kSizes; }

Result<std::vector<DecisionRow>> decisions(const std::string& only) {
  std::vector<std::string> sources(host_preset_names().begin(), host_preset_names().end());
  if (!only.empty()) sources = {only};
  std::vector<DecisionRow> rows;
  for (const std::string& source : sources) {
    for (const int nodes : kNodes) {
      RINGSIDE_TRY(rows.emplace_back(), row_of(source, nodes));
    }
  }
  return rows;
}

}  // namespace ringside::study
