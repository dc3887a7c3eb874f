#include "sim/flow/flow.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "sim/flow/by_chance.h"
#include "sim/flow/by_kinds.h"
#include "sim/flow/by_sums.h"
#include "sim/flow/channel_flow.h"
#include "sim/flow/link_kinds.h"
#include "sim/flow/on_cores.h"
#include "sim/outcome.h"

namespace ringside {
namespace {

constexpr double kRead = 0.3;     // share of the progress for reading the channels
constexpr double kUneven = 1e-3;  // channels whose data differ by at most this share count as equal

class FlowEngine {
 public:
  explicit FlowEngine(const SimRequest& request) : request_(request), network_(*request.network) {}

  Result<SimResult> run() {
    SimResult result{};
    if (is_point_to_point(request_.choice.collective)) {
      RINGSIDE_TRY(const bool is_large, is_large_exchange(request_));
      if (is_large) {
        RINGSIDE_TRY(result,
                     sum_exchange(request_, [this](double share) { report_progress(share); }));
        return finished(result, result.time);
      }
    }
    report_progress(0);
    RINGSIDE_TRY(read_channels(result));
    report_progress(kRead);
    const FlowKinds kinds = find_kinds(
        channels_, [this](int link) { return network_.rate(link).value; },
        network_.first_fabric_link());
    find_busiest(kinds, result);
    RINGSIDE_TRY(std::optional<Seconds> steps, time_by_kinds(request_, channels_));
    if (!steps) {
      channels_.clear();
      RINGSIDE_TRY(steps, time_by_chance(request_, kinds, [this](double share) {
                     report_progress(kRead + share * (1 - kRead));
                   }));
    }
    report_progress(1);
    return finished(result, *steps);
  }

 private:
  /// While an empty pipeline fills, less other traffic shares its links than later. So the result is limited to what
  /// the links permit.
  [[nodiscard]] SimResult finished(SimResult result, Seconds steps) const {
    result.time = request_.costs.launch + std::max(steps, result.busiest);
    result.time = request_.overheads.total(result.time, result.busiest);
    return result;
  }

  void report_progress(double share) const {
    if (request_.progress) request_.progress(share);
  }

  Status read_channels(SimResult& result) {
    RINGSIDE_TRY(const TaskPlanner exact,
                 TaskPlanner::make(request_.choice, request_.channels, request_.call));
    const TaskPlanner planner = exact.evened(kUneven);
    channels_.resize(static_cast<std::size_t>(request_.choice.nchannels));
    FlowShapes shapes;
    std::vector<int> firsts;  // first channel of each group of equal channels
    std::vector<std::pair<int, int>>
        followers;  // pairs: a channel, and the equal channel that represents it
    for (int number = 0; number < request_.choice.nchannels; ++number) {
      const auto is_like = [&](int first) { return planner.are_alike(first, number); };
      const auto first = std::ranges::find_if(firsts, is_like);
      if (first == firsts.end()) {
        firsts.push_back(number);
      } else {
        followers.emplace_back(number, *first);
      }
    }
    const auto at = [&](int number) -> ChannelFlow& {
      return channels_[static_cast<std::size_t>(number)];
    };
    const auto count = static_cast<std::size_t>(request_.choice.nchannels);
    const auto made = [&](std::size_t number) {
      report_progress(kRead * static_cast<double>(number) / static_cast<double>(count));
    };
    RINGSIDE_TRY(for_each_on_cores(
        static_cast<int>(firsts.size()),
        [&](int i) -> Status {
          const int number = firsts[static_cast<std::size_t>(i)];
          RINGSIDE_TRY(at(number), shapes.channel(request_, planner, number));
          return {};
        },
        made));
    RINGSIDE_TRY(for_each_on_cores(
        static_cast<int>(followers.size()),
        [&](int i) -> Status {
          const auto [number, first] = followers[static_cast<std::size_t>(i)];
          RINGSIDE_TRY(at(number), shapes.channel_like(request_, planner, number, at(first)));
          return {};
        },
        [&](std::size_t done) { made(firsts.size() + done); }));
    for (const ChannelFlow& channel : channels_) {
      result.steps += channel.shape->steps;
      result.transfers += channel.shape->transfers;
    }
    return {};
  }

  void find_busiest(const FlowKinds& kinds, SimResult& result) const {
    BusiestLink busiest(network_);
    for (const AlikeLinks& link : kinds.links) {
      busiest.note(link.links.front(), Seconds{link.load / link.rate});
      if (!request_.wants_loads) continue;
      // Links with equal load may be of different sorts, such as the path out of a GPU and the path into it.
      for (const int id : link.links)
        result.loads.links.push_back({.link = id, .bytes = link.load});
    }
    std::ranges::sort(result.loads.links, {}, &LinkLoad::link);
    busiest.write_to(result);
  }

  const SimRequest& request_;
  const SimNetwork& network_;
  std::vector<ChannelFlow> channels_;
};

}  // namespace

Result<SimResult> simulate_flows(const SimRequest& request) {
  if (request.trace != nullptr) {
    return Error{ErrorCode::InvalidArgument, "flow simulates no steps that a trace could hold",
                 "--fidelity event takes each"};
  }
  RINGSIDE_TRY(check_request(request));
  const auto began = std::chrono::steady_clock::now();
  auto result = FlowEngine(request).run();
  if (result) result->wall = std::chrono::steady_clock::now() - began;
  return result;
}

}  // namespace ringside
