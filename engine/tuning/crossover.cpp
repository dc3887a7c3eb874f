#include "engine/tuning/crossover.h"

#include <algorithm>

namespace ringside {
namespace {

bool is_same(const Candidate& a, const Candidate& b) {
  return a.algorithm == b.algorithm && a.protocol == b.protocol;
}

/// Returns the sizes in (from, to] between which each predicted time is linear: the correction of trees changes at
/// powers of two, the latency of rings once.
std::vector<std::uint64_t> linear_ranges(const Tuner& tuner, std::uint64_t from, std::uint64_t to) {
  const auto parts = static_cast<std::uint64_t>(tuner.shape().nchannels) *
                     static_cast<std::uint64_t>(tuner.shape().nranks);
  std::vector<std::uint64_t> all{kRingPlateauBytes * parts};
  for (int power = 0; power < 64; ++power) all.push_back(std::uint64_t{1} << power);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::erase_if(all, [&](std::uint64_t size) { return size <= from || size > to; });
  return all;
}

class StretchFinder {
 public:
  StretchFinder(const Tuner& tuner, TuningCall call) : tuner_(tuner), call_(call) {}

  /// Appends the fastest choices in [from, last], where the times are linear. Each choice wins on at most one
  /// interval, so if the same choice wins at both ends, no other wins between.
  void append_range(std::uint64_t from, std::uint64_t last) {
    append(from);
    const Candidate end = *winner(last);
    while (!is_same(found_.back().fastest, end)) {
      std::uint64_t still = std::max(from, found_.back().from.value);
      std::uint64_t other = last;
      while (other - still > 1) {
        const std::uint64_t middle = still + (other - still) / 2;
        (is_same(*winner(middle), found_.back().fastest) ? still : other) = middle;
      }
      append(other);
    }
  }

  [[nodiscard]] std::optional<Candidate> winner(std::uint64_t bytes) {
    call_.bytes = Bytes{bytes};
    return tuner_.fastest(call_);
  }
  [[nodiscard]] std::vector<Stretch> take() { return std::move(found_); }

 private:
  void append(std::uint64_t bytes) {
    const Candidate best = *winner(bytes);
    if (found_.empty() || !is_same(found_.back().fastest, best)) {
      found_.push_back({Bytes{bytes}, best});
    }
  }

  const Tuner& tuner_;
  TuningCall call_;
  std::vector<Stretch> found_;
};

}  // namespace

std::vector<Stretch> stretches(const Tuner& tuner, TuningCall call, Bytes from, Bytes to) {
  RINGSIDE_ASSERT(from <= to, "from {} to {}", from.value, to.value);
  StretchFinder finder{tuner, call};
  if (!finder.winner(from.value)) return {};
  std::uint64_t begin = from.value;
  for (const std::uint64_t next : linear_ranges(tuner, from.value, to.value)) {
    finder.append_range(begin, next - 1);
    begin = next;
  }
  finder.append_range(begin, to.value);
  return finder.take();
}

}  // namespace ringside
