#include "sim/flow/by_kinds.h"

#include <algorithm>
#include <utility>

#include "sim/event/event_engine.h"
#include "sim/event/fold.h"
#include "sim/flow/alike_job.h"
#include "sim/flow/long_runs.h"
#include "sim/flow/steady.h"

namespace ringside {
namespace {

// Tasks (ranks times channels) that can be wired and folded in half a second.
constexpr std::int64_t kMostTasks = 1 << 15;
// Steps over shared links that take one or two seconds.
constexpr std::int64_t kMostSharedSteps = 250'000;
// Steps of a long run in the first trial and in the longest one.
constexpr std::int32_t kFirstSteps = 128;
constexpr std::int32_t kMostRunSteps = 16 * kFirstSteps;

/// A folded job, and the number of its steps.
class FoldedCall {
 public:
  FoldedCall(const SimRequest& request, EventJob job) : request_(request), job_(std::move(job)) {
    request_.costs.launch = {};
    request_.progress = {};
    request_.wants_loads = false;
    for (const EventTask& task : job_.tasks) {
      const Program& program = task.program();
      loops_ = std::max(loops_, program.loops);
      turns_ = std::max(turns_, program.turns);
      for (const StepRun& run : program.steps) steps_ += run.repeat;
    }
    steps_ = (steps_ + turns_ - 1) / turns_;
    long_ = LongRuns::find(job_);
    if (long_) {
      // An estimate with runs of half the longest trial's steps.
      steps_ =
          std::min(steps_, steps_ / long_->length() * (kMostRunSteps / 2) + std::ssize(job_.tasks));
    }
  }

  [[nodiscard]] bool is_small() const {
    return loops_ == 0 || steps_ * std::min(loops_, 4 * kFirstLoops * turns_) <= kMostSharedSteps;
  }

  Result<Seconds> time() const {
    if (loops_ == 0) return Seconds{};
    return until_steady({.all = loops_,
                         .work = work(),
                         .first = kFirstLoops * turns_,
                         .most = kMostSharedSteps / std::max<std::int64_t>(steps_, 1)},
                        [this](std::int64_t loops) { return time_of(loops); });
  }

 private:
  /// Returns the work in loops; the last ones count by their steps.
  [[nodiscard]] double work() const {
    const ChunkMap& map = job_.tasks.front().task.map;
    const auto first = static_cast<double>(map.at(0, 0).count);
    if (!job_.is_even || first == 0 || map.loops() != loops_) return static_cast<double>(loops_);
    const auto last = static_cast<double>(map.at(loops_ - 1, 0).count);
    return static_cast<double>(loops_ - turns_) + turns_ * last / first;
  }

  [[nodiscard]] Result<Seconds> time_of(std::int64_t loops) const {
    if (!long_) return run_shared(request_, job_, loops);
    const std::int64_t length = long_->length();
    return until_steady({.all = length,
                         .work = static_cast<double>(length),
                         .first = kFirstSteps,
                         .most = std::min<std::int64_t>(length - 1, kMostRunSteps)},
                        [&](std::int64_t some) {
                          return run_shared(request_,
                                            long_->shortened(job_, static_cast<std::int32_t>(some)),
                                            loops);
                        });
  }

  SimRequest request_;
  EventJob job_;
  std::int64_t loops_ = 0;
  int turns_ = 1;
  std::int64_t steps_ = 0;  ///< steps of a loop, of all kinds
  std::optional<LongRuns> long_;
};

}  // namespace

Result<std::optional<Seconds>> time_by_kinds(const SimRequest& request,
                                             std::span<const ChannelFlow> channels) {
  const auto timed = [&](EventJob job) -> Result<std::optional<Seconds>> {
    const FoldedCall call(request, std::move(job));
    if (!call.is_small()) return std::optional<Seconds>{};
    RINGSIDE_TRY(const Seconds time, call.time());
    return std::optional{time};
  };
  if (std::int64_t{request.network->nranks()} * request.choice.nchannels <= kMostTasks) {
    RINGSIDE_TRY(EventJob job, wire_events(request));
    std::optional<EventJob> folded = fold(job);
    RINGSIDE_TRY(const std::optional<Seconds> time,
                 timed(folded ? *std::move(folded) : std::move(job)));
    if (time) return time;
  }
  std::optional<EventJob> joined =
      join_alike(channels, [&](int link) { return request.network->rate(link).value; });
  if (!joined) return std::optional<Seconds>{};
  return timed(*std::move(joined));
}

}  // namespace ringside
