#include "study/release_spread.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/text.h"
#include "engine/releases/releases.h"

namespace ringside::study {
namespace {

constexpr double kNotable = 1.2;
// The check must not take noticeably longer than the answer that it is added to. It plans the job for each other release,
// and simulates its calls with other choices.
constexpr Seconds kMostWall{0.1};  // of the call itself
constexpr int kMostRanks = 128;

struct Spread {
  Bytes bytes;
  std::string fast, slow;
  double ratio = 1;
};

/// Returns the same question for each other release that is verified and supports it.
std::vector<SimPlan> plans_of_other_releases(const SimPlan& plan) {
  std::vector<SimPlan> plans;
  for (const std::string& release : release_versions()) {
    if (release == plan.question.nccl || !release_caveat(release).empty()) continue;
    SimQuestion question = plan.question;
    question.nccl = release;
    if (auto other = plan_simulation(question)) plans.push_back(*std::move(other));
  }
  return plans;
}

/// nothing  they differ too little
Result<std::optional<Spread>> spread_of(const SimPlan& plan, std::span<const SimPlan> others,
                                        const SimRow& row) {
  std::vector<std::pair<std::string, SimRow>> known{{plan.question.nccl, row}};
  for (const SimPlan& other : others) {
    auto call = tune_call(other, row.call.bytes);
    if (!call) continue;
    const auto alike = std::ranges::find_if(
        known, [&](const auto& one) { return one.second.call.tuned.choice == call->tuned.choice; });
    if (alike != known.end()) continue;
    RINGSIDE_TRY(SimRow simulated, simulate_call(other, *std::move(call)));
    known.emplace_back(other.question.nccl, std::move(simulated));
  }
  const auto [fast, slow] = std::ranges::minmax_element(
      known, {}, [](const auto& one) { return one.second.result.time; });
  const double ratio = slow->second.result.time / fast->second.result.time;
  if (ratio < kNotable) return std::optional<Spread>{};
  return std::optional<Spread>{{row.call.bytes, fast->first, slow->first, ratio}};
}

}  // namespace

bool has_fallback_search(const SimPlan& plan, const SimRow& row) {
  if (!row.call.tuned.graph) return false;
  constexpr float kFallback = 0.1F;
  const GraphSummary& graph = plan.job.shape().graph(*row.call.tuned.graph);
  return graph.bw_intra <= kFallback ||
         (plan.job.shape().nnodes > 1 && graph.bw_inter <= kFallback);
}

Result<std::string> release_spread_text(const SimPlan& plan, std::span<const SimRow> rows) {
  if (plan.job.shape().nranks > kMostRanks) return std::string();
  std::vector<const SimRow*> looked{&rows.front()};
  if (rows.size() > 1) looked.push_back(&rows.back());
  std::erase_if(looked, [](const SimRow* row) {
    return row->is_alone || row->result.wall > kMostWall || row->is_traced;
  });
  if (looked.empty()) return std::string();
  const std::vector<SimPlan> others = plans_of_other_releases(plan);
  std::optional<Spread> widest;
  for (const SimRow* row : looked) {
    RINGSIDE_TRY(const std::optional<Spread> spread, spread_of(plan, others, *row));
    if (spread && (!widest || spread->ratio > widest->ratio)) widest = spread;
  }
  if (!widest) return std::string();
  return fmt::format(
      "the release of NCCL matters: at {} {} takes {:.1f} times as long as {}; this is {} (name "
      "one "
      "by --nccl)",
      format_bytes(widest->bytes), widest->slow, widest->ratio, widest->fast, plan.question.nccl);
}

}  // namespace ringside::study
