#include "engine/debuglog/diagnostics_text.h"

#include <fmt/format.h>

#include <set>
#include <string_view>

#include "base/assert.h"

namespace ringside {
namespace {

constexpr std::string_view kOk = "[OK]   ", kInfo = "[INFO] ";

using Ranks = std::vector<int>;

/// "{8,9,...}": NCCL lists only some ranks.
std::string listed(const Ranks& ranks) {
  constexpr std::size_t kMost = 8;
  std::string text = "{";
  for (std::size_t i = 0; i < ranks.size() && i < kMost; ++i) {
    text += fmt::format("{}{}", i > 0 ? "," : "", ranks[i]);
  }
  return text + (ranks.size() > kMost ? ",...}" : "}");
}

/// Returns the ranks whose value differs from rank 0's.
template <typename Value>
Ranks unlike_first(const std::vector<RankDiagnosis>& ranks, Value value) {
  Ranks unlike;
  for (std::size_t rank = 1; rank < ranks.size(); ++rank) {
    if (value(ranks[rank]) != value(ranks.front())) unlike.push_back(static_cast<int>(rank));
  }
  return unlike;
}

std::string value_of(const RankDiagnosis& rank, const std::string& name) {
  const auto found = rank.variables.find(name);
  return found == rank.variables.end() ? "(unset)" : found->second;
}

std::string across_text(std::size_t nranks, std::uint64_t comm_id) {
  return fmt::format("across {} ranks in comm {:#x}", nranks, comm_id);
}

/// Appends the comparison of the environment variables.
void append_environment(const std::vector<RankDiagnosis>& ranks, const std::string& across,
                        std::vector<std::string>& lines) {
  std::set<std::string> names, differing;
  for (const RankDiagnosis& rank : ranks) {
    for (const auto& [name, value] : rank.variables) names.insert(name);
  }
  for (const std::string& name : names) {
    const auto value = [&name](const RankDiagnosis& rank) { return value_of(rank, name); };
    if (!unlike_first(ranks, value).empty()) differing.insert(name);
  }
  if (differing.empty()) {
    lines.push_back(fmt::format("{}NCCL environment: NCCL_* env vars consistent {}", kOk, across));
    return;
  }
  for (const std::string& name : differing) {
    lines.push_back(
        fmt::format("{}NCCL environment: NCCL_* env vars mismatch {} for {}", kInfo, across, name));
    std::map<std::string, Ranks> by_value;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      by_value[value_of(ranks[rank], name)].push_back(static_cast<int>(rank));
    }
    for (const auto& [value, having] : by_value) {
      lines.push_back(fmt::format("{}NCCL environment: {}={} on rank(s) {}", kInfo, name, value,
                                  listed(having)));
    }
  }
}

}  // namespace

std::vector<std::string> ras_diagnostics_text(std::uint64_t comm_id,
                                              const std::vector<RankDiagnosis>& ranks,
                                              double time_ms) {
  RINGSIDE_ASSERT(!ranks.empty(), "a communicator of {} ranks", ranks.size());
  const RankDiagnosis& first = ranks.front();
  const std::string across = across_text(ranks.size(), comm_id);
  std::vector<std::string> lines{"=== RAS Diagnostics ==="};
  const auto append_mismatch = [&](std::string_view what, const Ranks& unlike,
                                   const auto& of_first) {
    lines.push_back(fmt::format("{}{} mismatch {}, rank(s) {} (N={}) differ from rank 0 ({})",
                                kInfo, what, across, listed(unlike), unlike.size(), of_first));
  };
  const Ranks counts = unlike_first(ranks, [](const RankDiagnosis& rank) { return rank.gpus; });
  const Ranks models = unlike_first(ranks, [](const RankDiagnosis& rank) { return rank.gpu; });
  if (!counts.empty()) append_mismatch("GPU inventory: count", counts, first.gpus);
  if (!models.empty()) append_mismatch("GPU inventory: model", models, first.gpu);
  if (counts.empty() && models.empty()) {
    lines.push_back(fmt::format("{}GPU inventory: {}x {} per node consistent {}", kOk, first.gpus,
                                first.gpu, across));
  }
  const Ranks drivers = unlike_first(ranks, [](const RankDiagnosis& rank) { return rank.driver; });
  if (drivers.empty()) {
    lines.push_back(
        fmt::format("{}CUDA driver version: {} consistent {}", kOk, first.driver, across));
  } else {
    append_mismatch("CUDA driver version:", drivers, first.driver);
  }
  lines.push_back(fmt::format("{}ECC: no uncorrected volatile errors {}", kOk, across));
  const Ranks links = unlike_first(ranks, [](const RankDiagnosis& rank) { return rank.nvlinks; });
  if (links.empty()) {
    lines.push_back(fmt::format("{}NVLink: found {} link(s) per device, all active {}", kOk,
                                first.nvlinks, across));
  } else {
    append_mismatch("NVLink: link-count", links, first.nvlinks);
  }
  append_environment(ranks, across, lines);
  lines.push_back(
      fmt::format("RAS diagnostics completed in {:.3f} ms across {} ranks", time_ms, ranks.size()));
  return lines;
}

std::vector<std::string> environment_diagnostics_text(std::uint64_t comm_id,
                                                      const std::vector<RankDiagnosis>& ranks,
                                                      int nranks) {
  std::vector<std::string> lines;
  append_environment(ranks, across_text(ranks.size(), comm_id), lines);
  if (ranks.size() < static_cast<std::size_t>(nranks)) {
    lines.push_back(fmt::format(
        "{}NCCL environment: diagnostics incomplete, gathered {}/{} ranks in comm {:#x}", kInfo,
        ranks.size(), nranks, comm_id));
  }
  return lines;
}

std::vector<std::string> diagnostics_text(int verified, int indirect, int nranks, double time_ms) {
  std::vector<std::string> lines{"=== NCCL Diagnostics ==="};
  if (indirect == 0) {
    lines.push_back(fmt::format("{}p2p: all {} directed GPU P2P edges verified", kOk, verified));
  } else {
    lines.push_back(
        fmt::format("{}p2p: {}/{} directed GPU P2P edges verified (skipped indirect={})", kInfo,
                    verified, verified + indirect, indirect));
  }
  lines.push_back(
      fmt::format("NCCL diagnostics completed in {:.3f} ms across {} ranks", time_ms, nranks));
  return lines;
}

}  // namespace ringside
