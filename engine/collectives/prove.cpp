#include "engine/collectives/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>

namespace ringside {
namespace {

/// A set of ring positions.
class Contributions {
 public:
  explicit Contributions(int n) : words_(static_cast<std::size_t>(n + 63) / 64) {}
  static Contributions of(int position, int n) {
    Contributions one(n);
    one.words_[static_cast<std::size_t>(position) / 64] = std::uint64_t{1} << (position % 64);
    return one;
  }
  static Contributions all(int n) {
    Contributions everybody(n);
    for (int i = 0; i < n; ++i) {
      everybody.words_[static_cast<std::size_t>(i) / 64] |= std::uint64_t{1} << (i % 64);
    }
    return everybody;
  }
  [[nodiscard]] bool overlaps(const Contributions& other) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if ((words_[i] & other.words_[i]) != 0) return true;
    }
    return false;
  }
  void add(const Contributions& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  friend bool operator==(const Contributions&, const Contributions&) = default;

 private:
  std::vector<std::uint64_t> words_;
};

struct Message {
  std::int64_t loop;
  int chunk;
  Contributions holds;
};

struct FlatStep {
  Primitive primitive;
  int chunk;
};

struct Position {
  std::vector<FlatStep> steps;  // of one loop
  std::size_t next = 0;
  std::int64_t loop = 0;
  std::vector<std::optional<Contributions>> output;  // by chunk, of the current loop
  std::deque<Message> inbox;
};

class Proof {
 public:
  Proof(Collective collective, std::span<const Program> programs, int root, int in_flight,
        std::int64_t loops)
      : collective_(collective),
        n_(static_cast<int>(programs.size())),
        root_(root),
        in_flight_(static_cast<std::size_t>(in_flight)),
        loops_(loops) {
    for (const Program& program : programs) {
      Position position;
      position.output.resize(static_cast<std::size_t>(program.chunks));
      for_each_step(program, [&](Primitive primitive, int chunk) {
        position.steps.push_back({primitive, chunk});
      });
      positions_.push_back(std::move(position));
    }
    summary_.chunks_sent.resize(programs.size());
  }

  Result<ProofSummary> run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (int at = 0; at < n_; ++at) {
        for (;;) {
          RINGSIDE_TRY(const bool stepped, try_step(at));
          if (!stepped) break;
          moved = true;
        }
      }
    }
    for (int at = 0; at < n_; ++at) {
      const Position& position = here(at);
      if (position.loop != loops_) {
        return broken(at, position, "waits for ever: a deadlock");
      }
      if (!position.inbox.empty()) return broken(at, position, "was sent a chunk it never takes");
    }
    for (std::int64_t& sent : summary_.chunks_sent) sent /= std::max<std::int64_t>(loops_, 1);
    return summary_;
  }

 private:
  Position& here(int at) { return positions_[static_cast<std::size_t>(at)]; }

  static Error broken(int at, const Position& position, std::string_view what) {
    return {ErrorCode::Corrupt,
            position.next < position.steps.size()
                ? fmt::format("position {} loop {} step {} ({} chunk {}): {}", at, position.loop,
                              position.next, to_string(position.steps[position.next].primitive),
                              position.steps[position.next].chunk, what)
                : fmt::format("position {} loop {} at its end: {}", at, position.loop, what)};
  }

  /// Whether this rank's input holds the chunk at all.
  [[nodiscard]] bool has_input(int at, int chunk) const {
    switch (collective_) {
      case Collective::AllReduce:
      case Collective::ReduceScatter:
      case Collective::Reduce:
        return true;
      case Collective::AllGather:
        return chunk == at;
      case Collective::Broadcast:
        return at == root_;
    }
    return false;
  }

  /// What the output must hold in the end; nothing where the collective leaves it alone.
  [[nodiscard]] std::optional<Contributions> goal(int at, int chunk) const {
    switch (collective_) {
      case Collective::AllReduce:
        return Contributions::all(n_);
      case Collective::ReduceScatter:
        return chunk == at ? std::optional(Contributions::all(n_)) : std::nullopt;
      case Collective::Reduce:
        return at == root_ ? std::optional(Contributions::all(n_)) : std::nullopt;
      case Collective::AllGather:
        return Contributions::of(chunk, n_);
      case Collective::Broadcast:
        return Contributions::of(root_, n_);
    }
    return std::nullopt;
  }

  Result<bool> try_step(int at) {
    Position& position = here(at);
    if (position.loop == loops_) return false;
    if (position.next == position.steps.size()) {
      RINGSIDE_TRY(end_loop(at));
      return true;
    }
    const FlatStep step = position.steps[position.next];
    const PrimitiveParts parts = parts_of(step.primitive);
    Position& next = here((at + 1) % n_);
    if (parts.receives && position.inbox.empty()) return false;
    if (parts.sends && next.inbox.size() >= in_flight_) return false;

    Contributions value(n_);
    if (parts.receives) {
      const Message& message = position.inbox.front();
      if (message.chunk != step.chunk || message.loop != position.loop) {
        return broken(at, position,
                      fmt::format("chunk {} of loop {} arrived", message.chunk, message.loop));
      }
      value = std::move(position.inbox.front().holds);
      position.inbox.pop_front();
    }
    auto& output = position.output[static_cast<std::size_t>(step.chunk)];
    if (parts.reads_input) {
      if (!has_input(at, step.chunk)) {
        return broken(at, position, "reads an input that holds nothing");
      }
      if (output) return broken(at, position, "reads an input that it has overwritten in place");
      const Contributions own = Contributions::of(at, n_);
      if (value.overlaps(own)) return broken(at, position, "counts a contribution twice");
      value.add(own);
    }
    if (parts.writes_output) output = value;
    if (parts.sends) {
      next.inbox.push_back({position.loop, step.chunk, std::move(value)});
      ++summary_.chunks_sent[static_cast<std::size_t>(at)];
    }
    ++position.next;
    ++summary_.steps;
    return true;
  }

  Status end_loop(int at) {
    Position& position = here(at);
    for (std::size_t chunk = 0; chunk < position.output.size(); ++chunk) {
      const auto wanted = goal(at, static_cast<int>(chunk));
      const auto& found = position.output[chunk];
      if (wanted && !found) {
        return broken(at, position, fmt::format("output chunk {} was never written", chunk));
      }
      if (wanted && *found != *wanted) {
        return broken(at, position,
                      fmt::format("output chunk {} lacks or mixes contributions", chunk));
      }
      if (!wanted && found) {
        return broken(at, position, fmt::format("output chunk {} is not this rank's", chunk));
      }
    }
    std::fill(position.output.begin(), position.output.end(), std::nullopt);
    position.next = 0;
    ++position.loop;
    return {};
  }

  Collective collective_;
  int n_;
  int root_;
  std::size_t in_flight_;
  std::int64_t loops_;
  std::vector<Position> positions_;
  ProofSummary summary_;
};

}  // namespace

Result<ProofSummary> prove_ring(Collective collective, std::span<const Program> programs, int root,
                                int chunks_in_flight, std::int64_t loops) {
  RINGSIDE_ASSERT(!programs.empty() && chunks_in_flight >= 1, "{} programs, {} in flight",
                  programs.size(), chunks_in_flight);
  return Proof(collective, programs, root, chunks_in_flight, loops).run();
}

}  // namespace ringside
