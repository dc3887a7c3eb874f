#include "study/expected_busbw.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "base/wording.h"
#include "diag/audit/expected_job.h"
#include "engine/topology/sources/load_hosts.h"
#include "harness/hangs/calls.h"
#include "study/call_times.h"

namespace ringside::study {
namespace {

// The first two bound the time of the answer; a larger size is damaged.
constexpr int kMostRanks = 4096;
constexpr std::size_t kMostKinds = 64;
constexpr Bytes kMostBytes{std::uint64_t{1} << 40};

/// The ranks of each communicator that have a collective in the trace.
std::map<std::uint32_t, std::set<int>> recorded_members(const TraceFile& file) {
  std::map<std::uint32_t, std::set<int>> members;
  file.for_each_event([&](const TraceEvent& event) {
    if (event.kind == EventKind::Collective) members[event.communicator].insert(event.rank);
  });
  return members;
}

/// The groups of a trace as a program without steps. Groups of one size are one family.
class TracedGroups {
 public:
  TracedGroups(const TraceFile& file, const std::vector<CallSummary>& calls)
      : recorded_(recorded_members(file)) {
    for (const CallSummary& call : calls) {
      program_.ranks = std::max(program_.ranks, call.nranks);
      const std::set<int>& ranks = recorded_[call.communicator];
      // More than kMostRanks is an error anyway, and a damaged rank must not overflow.
      if (!ranks.empty())
        program_.ranks = std::max(program_.ranks, std::min(*ranks.rbegin(), kMostRanks) + 1);
    }
  }

  [[nodiscard]] const hangs::Program& program() const { return program_; }

  /// Returns the group's index in the program; -1: its ranks are unknown.
  int group_of(const CallSummary& call) {
    const std::set<int>& recorded = recorded_[call.communicator];
    std::vector<int> ranks(recorded.begin(), recorded.end());
    if (call.nranks == program_.ranks) {
      ranks.resize(static_cast<std::size_t>(program_.ranks));
      std::iota(ranks.begin(), ranks.end(), 0);
    }
    const bool is_known = static_cast<int>(ranks.size()) == call.nranks;
    if (!is_known || ranks.front() < 0) return -1;
    const auto [known, is_new] =
        groups_.try_emplace(ranks, static_cast<int>(program_.groups.size()));
    if (is_new) {
      const auto [family, is_first] =
          families_.try_emplace(ranks.size(), static_cast<int>(program_.families.size()));
      if (is_first) program_.families.push_back(fmt::format("groups of {}", ranks.size()));
      program_.groups.push_back({.name = {}, .desc = {}, .ranks = ranks, .family = family->second});
    }
    return known->second;
  }

 private:
  std::map<std::uint32_t, std::set<int>> recorded_;
  std::map<std::vector<int>, int> groups_;
  std::map<std::size_t, int> families_;
  hangs::Program program_;
};

/// Returns a call as a step of a program; nothing: it has no prediction. A call's size is that of the larger buffer, a
/// step's that of the input (reduce_scatter: of the output). A trace has no types: sizes that float elements can have
/// are of these, which NVLS can reduce.
std::optional<hangs::Step> step_of(const CallSummary& call) {
  hangs::Step step;
  step.kind = hangs::Step::Kind::Call;
  step.op = hangs::op_of(call.collective, hangs::Op::Send);
  if (hangs::is_p2p(step.op) || call.bytes.value == 0 || call.bytes > kMostBytes) return {};
  const std::uint64_t element = size_of(DataType::Float32).value;
  const bool are_floats = call.bytes.value % element == 0;
  step.type = are_floats ? DataType::Float32 : DataType::Uint8;
  step.count = static_cast<std::int64_t>(call.bytes.value / (are_floats ? element : 1));
  const bool is_per_rank = step.op == hangs::Op::AllGather || step.op == hangs::Op::ReduceScatter;
  if (is_per_rank) step.count /= call.nranks;
  if (step.count == 0) return {};
  return step;
}

/// Calls with one prediction: collective, bytes, group.
using Kind = std::tuple<Collective, std::uint64_t, int>;

struct KindCalls {
  hangs::Step step;
  std::vector<std::size_t> calls;  ///< indices of the trace's calls
};

}  // namespace

std::optional<TracedHosts> hosts_of_trace(const TraceFile& file) {
  for (const TraceInfo& info : file.processes()) {
    for (const auto& [key, value] : info.values) {
      const auto presets = host_preset_names();
      if (key == kTraceCluster && std::ranges::find(presets, value) != presets.end()) {
        return TracedHosts{{.on = value}, fmt::format("{}, which the trace names", value)};
      }
      if (key != kTraceGpu) continue;
      if (const std::string_view preset = audit::preset_of_gpu(value); !preset.empty()) {
        return TracedHosts{{.on = std::string(preset)},
                           fmt::format("hosts like {}, by the name of the GPU", preset)};
      }
    }
  }
  return std::nullopt;
}

Result<ExpectedBusbw> expect_busbw(const JobOptions& job, const TraceFile& file,
                                   std::vector<CallSummary>& calls,
                                   const std::function<void(double)>& on_progress) {
  TracedGroups groups(file, calls);
  std::map<Kind, KindCalls> kinds;
  ExpectedBusbw expected;
  std::set<int> unknown;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const CallSummary& call = calls[i];
    if (call.nranks < 2) continue;
    const auto step = step_of(call);
    if (!step) continue;
    if (const int world = groups.program().ranks; world > kMostRanks) {
      return Error{ErrorCode::Unsupported, fmt::format("an expectation for {} ranks", world),
                   fmt::format("at most {}; ringside sim has the time of one call", kMostRanks)};
    }
    const int group = groups.group_of(call);
    if (group < 0) {
      unknown.insert(call.nranks);
      continue;
    }
    kinds[{call.collective, call.bytes.value, group}].step = *step;
    kinds[{call.collective, call.bytes.value, group}].calls.push_back(i);
  }
  for (const int nranks : unknown) {
    expected.notes.push_back(
        fmt::format("no expectation for communicators of {} ranks: the trace does not hold calls "
                    "of all their ranks",
                    nranks));
  }
  if (kinds.empty()) return expected;
  const int world = groups.program().ranks;
  std::vector<const std::pair<const Kind, KindCalls>*> order;
  for (const auto& one : kinds) order.push_back(&one);
  const auto moved = [](const auto* one) {
    return static_cast<double>(std::get<1>(one->first)) *
           static_cast<double>(one->second.calls.size());
  };
  std::ranges::stable_sort(order,
                           [&](const auto* a, const auto* b) { return moved(a) > moved(b); });
  if (order.size() > kMostKinds) {
    expected.notes.push_back(fmt::format("no expectation for {} kinds of calls that move few bytes",
                                         order.size() - kMostKinds));
    order.resize(kMostKinds);
  }
  SimQuestion base;
  base.job = job;
  RINGSIDE_TRY(CallClock clock, CallClock::make(std::move(base), world));
  if (!clock.note().empty()) expected.notes.push_back(clock.note());
  std::set<std::string> refusals;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto& [kind, of_kind] = *order[i];
    if (on_progress) on_progress(static_cast<double>(i) / static_cast<double>(order.size()));
    const int group = std::get<2>(kind);
    if (const Status learned = clock.learn(groups.program(), of_kind.step, group); !learned) {
      if (refusals.insert(learned.error().message).second) {
        expected.notes.push_back("no expectation: " + learned.error().message);
      }
      continue;
    }
    const Seconds time = clock.time(of_kind.step, group);
    if (time <= Seconds{}) continue;
    for (const std::size_t place : of_kind.calls) {
      CallSummary& call = calls[place];
      const BytesPerSecond algbw = call.bytes / time;
      call.expected_busbw =
          BytesPerSecond{algbw.value * busbw_factor(call.collective, call.nranks)};
    }
  }
  expected.error_percent = error_percent_of(clock.calls());
  return expected;
}

}  // namespace ringside::study
