#include "gui/model/views/chunk_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "base/vocabulary.h"
#include "base/wording.h"

namespace ringside::gui {

bool ChunkHistory::Holding::has(int rank) const {
  const auto word = static_cast<std::size_t>(rank) / 64;
  return word < ranks.size() && (ranks[word] >> (static_cast<unsigned>(rank) % 64) & 1U) != 0;
}

int ChunkHistory::Holding::count() const {
  int count = 0;
  for (const std::uint64_t word : ranks) count += std::popcount(word);
  return count;
}

/// Visits a call's primitives in the order of their ends, senders before their receivers.
class ChunkHistory::Maker {
 public:
  Maker(const Document& document, const CallFacts& call)
      : replay_(*document.replay), call_(call), collective_(call.collective) {}

  Result<ChunkHistory> run() {
    RINGSIDE_TRY(collect());
    RINGSIDE_TRY(lay_out());
    for (std::uint32_t i = 0; i < steps_.size(); ++i) visit(i, 0);
    for (auto& cell : made_.cells_) {
      std::ranges::stable_sort(cell, {}, &Change::time_ns);
    }
    std::ranges::sort(made_.flights_, {}, &Flight::sent_ns);
    return std::move(made_);
  }

 private:
  struct OneStep {
    EventId id = kNoEvent;
    TraceEvent event = {};
    std::vector<std::uint32_t> senders = {};
    std::uint64_t place = 0;    ///< offset that names its chunk
    std::uint32_t message = 0;  ///< set that it sends
    int round = 0;              ///< in which what it receives has come
    bool is_done = false;
  };

  Status collect() {
    std::vector<EventId> found;
    const auto [first, last] = replay_.lanes_of(call_.communicator);
    std::int32_t most = -1;
    for (std::size_t i = first; i < last; ++i) {
      if (replay_.lanes()[i].channel == LaneKey::kCalls) continue;
      found.clear();
      replay_.overlapping(LaneId{static_cast<std::uint32_t>(i)},
                          {call_.time.begin_ns, call_.time.end_ns + 1}, found);
      for (const EventId id : found) {
        const TraceEvent event = replay_.event(id);
        if (event.sequence != call_.sequence || event.kind != EventKind::Primitive) continue;
        steps_.push_back({.id = id, .event = event});
        most = std::max(most, event.rank);
      }
      if (steps_.size() > kMostSteps) {
        return Error{ErrorCode::Unsupported,
                     fmt::format("this call has more than {} steps", kMostSteps),
                     "the chunks of a smaller call are shown"};
      }
    }
    constexpr std::int32_t kMostRanks = 4096;  // Chosen: a set of ranks takes 512 bytes then
    if (steps_.empty()) {
      return Error{ErrorCode::Unsupported, "the trace has no steps of this call", ""};
    }
    if (most >= kMostRanks) {
      return Error{ErrorCode::Unsupported, fmt::format("rank {}: more ranks than are shown", most),
                   ""};
    }
    made_.ranks_ = most + 1;
    made_.words_ = static_cast<std::size_t>(made_.ranks_ + 63) / 64;
    std::ranges::stable_sort(steps_, {}, [](const OneStep& step) { return step.event.end_ns; });
    return {};
  }

  Status lay_out() {
    for (std::uint32_t i = 0; i < steps_.size(); ++i) number_[to_int(steps_[i].id)] = i;
    std::vector<EventId> others;
    for (OneStep& step : steps_) {
      others.clear();
      replay_.senders_of(step.id, others);
      for (const EventId other : others) {
        if (const auto at = number_.find(to_int(other)); at != number_.end()) {
          step.senders.push_back(at->second);
        }
      }
    }
    // Offsets are of the buffer that is written, else read. The longer buffer distinguishes chunks: of a
    // reduce-scatter the one that is read, of a gather the one that is written.
    for (OneStep& step : steps_) {
      step.place = step.event.offset;
      const PrimitiveParts parts = parts_of(step.event.primitive);
      if (collective_ == Collective::ReduceScatter && parts.writes_output &&
          !step.senders.empty()) {
        step.place = steps_[step.senders.front()].event.offset;
      }
      if (!is_reduction(collective_) && parts.reads_input && !parts.writes_output) {
        others.clear();
        replay_.receivers_of(step.id, others);
        if (!others.empty()) step.place = replay_.event(others.front()).offset;
      }
      made_.chunks_.push_back(step.place);
    }
    std::ranges::sort(made_.chunks_);
    const auto [from, to] = std::ranges::unique(made_.chunks_);
    made_.chunks_.erase(from, to);
    const auto cells = static_cast<std::size_t>(made_.ranks_) * made_.chunks_.size();
    if (cells > kMostCells || steps_.size() * made_.words_ > kMostCells) {
      return Error{ErrorCode::Unsupported,
                   fmt::format("{} ranks with {} chunks: more than are followed", made_.ranks_,
                               made_.chunks_.size()),
                   "the chunks of a smaller call are shown"};
    }
    made_.cells_.resize(cells);
    held_.assign(cells, kNothing);
    made_.sets_.assign(made_.words_, 0);  // the empty set is the first
    made_.whole_ = is_reduction(collective_) ? made_.ranks_ : 1;
    for (std::int32_t rank = 0; rank < made_.ranks_; ++rank) own_.push_back(set_of(rank));
    if (is_reduction(collective_)) {
      for (std::int32_t rank = 0; rank < made_.ranks_; ++rank) {
        for (std::size_t chunk = 0; chunk < made_.chunks_.size(); ++chunk) {
          made_.cells_[cell_of(rank, chunk)].push_back({INT64_MIN, own_[index(rank)], true});
        }
      }
    }
    return {};
  }

  static std::size_t index(std::int32_t rank) { return static_cast<std::size_t>(rank); }
  [[nodiscard]] std::size_t cell_of(std::int32_t rank, std::size_t chunk) const {
    return index(rank) * made_.chunks_.size() + chunk;
  }
  [[nodiscard]] std::size_t chunk_of(std::uint64_t place) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(made_.chunks_, place) -
                                    made_.chunks_.begin());
  }

  std::uint32_t new_set() {
    const std::size_t at = made_.sets_.size() / made_.words_;
    made_.sets_.resize(made_.sets_.size() + made_.words_, 0);
    return static_cast<std::uint32_t>(at);
  }
  std::uint32_t set_of(std::int32_t rank) {
    const std::uint32_t set = new_set();
    made_.sets_[set * made_.words_ + index(rank) / 64] |= std::uint64_t{1} << (index(rank) % 64);
    return set;
  }
  void add(std::uint32_t into, std::uint32_t set) {
    for (std::size_t i = 0; i < made_.words_; ++i) {
      made_.sets_[into * made_.words_ + i] |= made_.sets_[set * made_.words_ + i];
    }
  }

  /// A corrupt file may join chains without end: no chain is followed further than this.
  static constexpr int kDeepest = 1000;

  void visit(std::uint32_t number, int depth) {
    if (steps_[number].is_done) return;
    steps_[number].is_done = true;
    if (depth < kDeepest) {
      for (const std::uint32_t sender : steps_[number].senders) visit(sender, depth + 1);
    }
    apply(steps_[number]);
  }

  void apply(OneStep& step) {
    const PrimitiveParts parts = parts_of(step.event.primitive);
    const std::size_t chunk = chunk_of(step.place);
    const std::size_t cell = cell_of(step.event.rank, chunk);
    const std::uint32_t kept = held_[cell];
    int round = 0;
    const std::uint32_t value = new_set();
    for (const std::uint32_t sender : step.senders) {
      add(value, steps_[sender].message);
      const bool is_other = steps_[sender].event.rank != step.event.rank;
      round = std::max(round, steps_[sender].round + (is_other ? 1 : 0));
      made_.flights_.push_back({steps_[sender].event.end_ns, step.event.end_ns,
                                steps_[sender].event.rank, step.event.rank,
                                static_cast<std::uint32_t>(chunk)});
    }
    if (parts.reads_input || (!parts.receives && kept == kNothing)) {
      // Output that was written over the input is read from now on.
      const bool is_result = !parts.receives && kept != kNothing;
      add(value, is_result ? kept : own_[index(step.event.rank)]);
    }
    const std::int64_t end = step.event.end_ns;
    const Holding holding{std::span(made_.sets_).subspan(value * made_.words_, made_.words_), true};
    if (holding.count() >= made_.whole_)
      made_.first_whole_ns_ = std::min(made_.first_whole_ns_.value_or(end), end);
    step.message = value;
    step.round = round;
    made_.rounds_ = std::max(made_.rounds_, step.round);
    if (parts.writes_output) held_[cell] = value;
    if (parts.writes_output || parts.sends) {
      made_.cells_[cell].push_back({step.event.end_ns, value, parts.writes_output});
    }
  }

  static constexpr std::uint32_t kNothing = 0;
  static constexpr std::size_t kMostCells = 4'000'000;  ///< Chosen: 100 MB of empty cells

  const Replay& replay_;
  const CallFacts& call_;
  Collective collective_;
  std::vector<OneStep> steps_;
  std::unordered_map<std::uint32_t, std::uint32_t> number_;
  std::vector<std::uint32_t> held_;  ///< [cell]: what was written there
  std::vector<std::uint32_t> own_;   ///< [rank]: the set of itself
  ChunkHistory made_;
};

Result<ChunkHistory> ChunkHistory::make(const Document& document, const CallFacts& call) {
  return Maker(document, call).run();
}

ChunkHistory::Holding ChunkHistory::at(std::int32_t rank, std::size_t chunk,
                                       std::int64_t time_ns) const {
  const auto& cell = cells_[static_cast<std::size_t>(rank) * chunks_.size() + chunk];
  const auto behind = std::ranges::upper_bound(cell, time_ns, {}, &Change::time_ns);
  if (behind == cell.begin()) return {std::span(sets_).first(words_), false};
  // A stored result stays, even if later data is passed on.
  const Change* last = &*std::prev(behind);
  for (auto one = behind; one != cell.begin() && !last->is_kept;) {
    --one;
    if (one->is_kept && one->time_ns != INT64_MIN) last = &*one;
  }
  return {std::span(sets_).subspan(last->set * words_, words_), last->is_kept};
}

}  // namespace ringside::gui
