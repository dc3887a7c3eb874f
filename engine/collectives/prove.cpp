#include "engine/collectives/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/vocabulary.h"
#include "engine/collectives/program_cursor.h"
#include "engine/collectives/prove_goal.h"
#include "engine/collectives/prove_lines.h"

namespace ringside {
namespace {

struct StrandState {
  ProgramCursor at;
  std::int64_t clock = 0;  ///< number of rounds so far, as in ProofSummary::rounds
  /// With direct stores only: [strand of all ranks]: how many of its steps precede this strand's next step.
  /// For this strand itself: all earlier steps.
  std::vector<std::int64_t> seen = {};
};

/// With direct stores only: the chunks that each rank has read, and the chunks that other ranks have stored.
struct EarlyState {
  struct Read {
    std::size_t strand = 0;   ///< number among the strands of all ranks
    std::int64_t number = 0;  ///< step number in the strand
  };
  /// Chunks of the input, by piece x chunks + chunk
  std::unordered_map<std::int64_t, std::vector<Read>> reads;
  std::unordered_set<std::int64_t> stored;  ///< chunks of the output that other ranks stored
  std::vector<std::int32_t> send_first;     ///< first_ends()
  std::size_t first_strand = 0;             ///< number among the strands of all ranks
};

struct RankState {
  const ChannelTask* task = nullptr;
  const Program* program = nullptr;
  std::vector<StrandState> strands;
  std::vector<PortEnd> recv, send;
  std::unordered_map<std::int64_t, Contributions> output;  ///< by piece x chunks + chunk
  std::size_t turn = 0;   ///< one thread only: the strand that runs next
  std::int64_t time = 0;  ///< one thread only: rounds over all strands so far
  EarlyState early;
};

bool has_bit(std::uint64_t bits, std::size_t number) {
  return number < 64 && (bits >> number & 1U) != 0;
}

class Proof {
 public:
  Proof(std::span<const ChannelTask> tasks, std::span<const Program> programs,
        const ProofOptions& options)
      : options_(options), n_(static_cast<int>(tasks.size())), goal_(tasks) {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      RankState& rank = ranks_.emplace_back();
      rank.task = &tasks[i];
      rank.program = &programs[i];
      for (int s = 0; s < programs[i].strands.count; ++s) {
        rank.strands.push_back({ProgramCursor(s)});
      }
    }
    if (!options.direct.empty()) prepare_direct();
  }

  Result<ProofSummary> run() {
    RINGSIDE_TRY(connect());
    for (bool moved = true; moved;) {
      moved = false;
      for (int rank = 0; rank < n_; ++rank) {
        RINGSIDE_TRY(const bool went_on, go_on(rank));
        moved |= went_on;
      }
    }
    for (int rank = 0; rank < n_; ++rank) RINGSIDE_TRY(check_end(rank));
    RINGSIDE_TRY(collect_edges());
    for (const RankState& rank : ranks_) {
      for (const StrandState& strand : rank.strands) {
        summary_.rounds = std::max(summary_.rounds, strand.clock);
      }
    }
    return std::move(summary_);
  }

 private:
  std::int64_t loops_of(int rank) { return here(rank).program->loops; }
  RankState& here(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }

  void prepare_direct() {
    std::size_t all = 0;
    for (RankState& rank : ranks_) {
      rank.early.send_first = first_ends(rank.task->send_peers, false);
      rank.early.first_strand = all;
      all += rank.strands.size();
    }
    for (RankState& rank : ranks_) {
      for (StrandState& strand : rank.strands) strand.seen.resize(all);
    }
  }

  Status connect() {
    for (int rank = 0; rank < n_; ++rank) {
      RankState& state = here(rank);
      RINGSIDE_TRY(state.recv, ends_of(state.task->recv_peers, rank, false));
      RINGSIDE_TRY(state.send, ends_of(state.task->send_peers, rank, true));
      RINGSIDE_TRY(check_strands(rank));
    }
    return {};
  }

  Result<std::vector<PortEnd>> ends_of(const std::vector<Peer>& peers, int rank, bool sends) {
    std::vector<PortEnd> ends;
    std::set<std::pair<const Line*, std::size_t>> seen;
    for (const Peer& peer : peers) {
      if (!peer.is_used()) {
        ends.emplace_back();
        continue;
      }
      RINGSIDE_TRY(const PortEnd end, lines_.end_of(peer, Rank{rank}, sends));
      if (!seen.insert({end.line, end.place}).second) {
        return Error{ErrorCode::Corrupt, fmt::format("rank {} has two ports to one peer", rank)};
      }
      ends.push_back(end);
    }
    return ends;
  }

  /// Checks that each port has a peer and serves one strand.
  Status check_strands(int rank) {
    RankState& state = here(rank);
    std::map<std::pair<bool, int>, std::size_t> used_by;
    Status fine;
    for (const StepRun& run : state.program->steps) {
      const std::size_t s = run.strand;
      const auto check = [&](const Step& step, bool sends) {
        const std::vector<PortEnd>& ends = sends ? state.send : state.recv;
        for_each_port(sends ? step.to : step.from, [&](int number) {
          const auto index = static_cast<std::size_t>(number);
          const auto user = used_by.try_emplace({sends, number}, s).first->second;
          if (index < ends.size() && ends[index].line != nullptr && user == s) return;
          fine = Error{
              ErrorCode::Corrupt,
              fmt::format("rank {} strand {}: {} port {} {}", rank, s, sends ? "send" : "receive",
                          number, user != s ? "is another strand's" : "leads nowhere")};
        });
      };
      for_each_step(*state.program, run, [&](const Step& step) {
        check(step, false);
        check(step, true);
      });
      RINGSIDE_TRY(fine);
    }
    return {};
  }

  /// Runs as many steps as the rank can.
  Result<bool> go_on(int rank) {
    return options_.interleaving == Interleaving::OneThread ? go_on_alone(rank)
                                                            : go_on_side_by_side(rank);
  }

  Result<bool> go_on_side_by_side(int rank) {
    const std::size_t count = here(rank).strands.size();
    bool moved = false;
    for (bool again = true; again;) {
      again = false;
      for (std::size_t i = 0; i < count && !again; ++i) {
        const bool first = options_.interleaving == Interleaving::FirstAhead;
        RINGSIDE_TRY(again, try_step(rank, first ? i : count - 1 - i, loops_of(rank)));
      }
      moved |= again;
    }
    return moved;
  }

  /// Runs the strands in the order of run_channel().
  Result<bool> go_on_alone(int rank) {
    RankState& state = here(rank);
    const Strands& strands = state.task->strands;
    bool moved = false;
    while (state.time < loops_of(rank) + strands.last_lag()) {
      const ProgramCursor& at = state.strands[state.turn].at;
      const std::int64_t loop = state.time - strands.lag[state.turn];
      if (at.loop() == loop && loop < loops_of(rank)) {
        RINGSIDE_TRY(const bool stepped, try_step(rank, state.turn, loop + 1));
        if (!stepped && at.loop() == loop) return moved;
        moved = true;
        if (at.loop() == loop) continue;
      }
      state.turn = (state.turn + 1) % state.strands.size();
      if (state.turn == 0) ++state.time;
    }
    return moved;
  }

  Error broken(int rank, const StrandState& strand, std::string_view what) {
    const ProgramCursor& at = strand.at;
    return {ErrorCode::Corrupt,
            fmt::format("rank {} loop {} strand {} step {} ({} chunk {}): {}", rank, at.loop(),
                        &strand - here(rank).strands.data(), at.number(),
                        to_string(at.step().primitive), at.step().chunk, what)};
  }

  /// returns  false: the strand has finished that many loops, or must wait
  Result<bool> try_step(int rank, std::size_t number, std::int64_t loops) {
    RankState& state = here(rank);
    StrandState& strand = state.strands[number];
    if (!strand.at.load(*state.program, 0, loops)) return false;
    const Step& step = strand.at.step();
    const ChunkSpan span = state.task->map.at(strand.at.loop(), step.chunk);
    if (span.count > 0) {
      if (!is_ready(state, step)) return false;
      RINGSIDE_TRY(take_step(rank, strand, step, span));
    }
    ++summary_.steps;
    strand.at.pass(*state.program);
    return true;
  }

  [[nodiscard]] bool is_ready(const RankState& state, const Step& step) const {
    bool ready = true;
    for_each_port(step.from, [&](int port) {
      const PortEnd& end = state.recv[static_cast<std::size_t>(port)];
      const std::int64_t at = end.line->taken[end.place] - end.line->dropped;
      for (const auto& sent : end.line->sent) {
        ready = ready && static_cast<std::int64_t>(sent.size()) > at;
      }
    });
    for_each_port(step.to, [&](int port) {
      const PortEnd& end = state.send[static_cast<std::size_t>(port)];
      ready =
          ready && static_cast<int>(end.line->sent[end.place].size()) < options_.chunks_in_flight;
    });
    return ready;
  }

  Status take_step(int rank, StrandState& strand, const Step& step, const ChunkSpan& span) {
    RankState& state = here(rank);
    const PrimitiveParts parts = parts_of(step.primitive);
    const DirectStep direct = direct_of(rank, strand);
    Contributions value(n_);
    Status fine;
    for_each_port(step.from, [&](int port) {
      if (fine)
        fine = receive(rank, strand, state.recv[static_cast<std::size_t>(port)], step, span, value);
    });
    RINGSIDE_TRY(fine);
    const std::int64_t piece = state.task->map.piece_of(strand.at.loop());
    const std::int64_t key = piece * state.task->map.chunks() + step.chunk;
    if (parts.reads_input) {
      if (!goal_.has_input(*state.task, rank, step.chunk)) {
        return broken(rank, strand, "reads an input that holds nothing");
      }
      const Contributions own = Contributions::of(rank, n_);
      const auto written = state.output.find(key);
      if (written != state.output.end() && written->second != own) {
        return broken(rank, strand, "reads an input that it has overwritten in place");
      }
      if (value.overlaps(own)) return broken(rank, strand, "counts a contribution twice");
      value.add(own);
      RINGSIDE_TRY(note_read(rank, strand, key));
    }
    if (parts.writes_output && direct.takes == 0 && !state.output.try_emplace(key, value).second) {
      return broken(rank, strand, "writes an output that is written already");
    }
    if (!strand.seen.empty()) ++strand.seen[number_of(rank, strand)];
    for_each_port(step.to, [&](int port) {
      const PortEnd& end = state.send[static_cast<std::size_t>(port)];
      Message message{piece, step.chunk, span.count, strand.clock + 1, value, 0, strand.seen};
      const auto index = static_cast<std::size_t>(port);
      for (std::size_t i = 0; i < end.line->receivers.size() && direct.to != 0 && fine; ++i) {
        if (!has_bit(direct.to, static_cast<std::size_t>(state.early.send_first[index]) + i))
          continue;
        message.direct |= std::uint64_t{1} << i;
        fine = store(rank, strand, to_int(end.line->receivers[i]), key, value);
      }
      end.line->sent[end.place].push_back(std::move(message));
      note(end.line->in[end.place], span.count);
    });
    return fine;
  }

  /// Returns the part of the next step that uses direct stores.
  DirectStep direct_of(int rank, const StrandState& strand) {
    if (options_.direct.empty()) return {};
    RankState& state = here(rank);
    const auto turn = static_cast<int>(strand.at.loop() % state.program->turns);
    const auto place = turn * static_cast<int>(state.strands.size()) +
                       static_cast<int>(&strand - state.strands.data());
    return options_.direct[static_cast<std::size_t>(rank)].at(place, strand.at.number());
  }

  /// Returns the strand's number among the strands of all ranks.
  std::size_t number_of(int rank, const StrandState& strand) {
    RankState& state = here(rank);
    return state.early.first_strand + static_cast<std::size_t>(&strand - state.strands.data());
  }

  /// Notes that the next step reads the rank's input.
  Status note_read(int rank, const StrandState& strand, std::int64_t key) {
    if (options_.direct.empty()) return {};
    EarlyState& early = here(rank).early;
    if (early.stored.contains(key)) {
      return broken(rank, strand, "reads an input over which another rank has stored in place");
    }
    const std::size_t mine = number_of(rank, strand);
    early.reads[key].push_back({mine, strand.seen[mine]});
    return {};
  }

  /// Notes that the next step stores a chunk into the output of rank `to`. Fails if a read of that chunk is
  /// not known to precede it.
  Status store(int rank, const StrandState& strand, int to, std::int64_t key,
               const Contributions& value) {
    RankState& receiver = here(to);
    for (const EarlyState::Read& read : receiver.early.reads[key]) {
      if (strand.seen[read.strand] <= read.number) {
        return broken(rank, strand,
                      fmt::format("stores over an input that rank {} may still read in place", to));
      }
    }
    receiver.early.stored.insert(key);
    if (receiver.output.try_emplace(key, value).second) return {};
    return broken(rank, strand, fmt::format("stores an output of rank {} that is written", to));
  }

  /// Receives one message from each sender and adds it to `value`.
  Status receive(int rank, StrandState& strand, const PortEnd& end, const Step& step,
                 const ChunkSpan& span, Contributions& value) {
    Line& line = *end.line;
    const std::uint64_t takes = direct_of(rank, strand).takes;
    const auto at = static_cast<std::size_t>(line.taken[end.place] - line.dropped);
    for (const auto& sent : line.sent) {
      const Message& message = sent[at];
      if (message.chunk != step.chunk ||
          message.piece != here(rank).task->map.piece_of(strand.at.loop()) ||
          message.count != span.count) {
        return broken(rank, strand,
                      fmt::format("chunk {} of piece {} with {} elements arrived where {} are due",
                                  message.chunk, message.piece, message.count, span.count));
      }
      if (value.overlaps(message.holds)) {
        return broken(rank, strand, "counts a contribution twice");
      }
      if (has_bit(message.direct, end.place) != (takes != 0)) {
        return broken(rank, strand,
                      "the sender stores into a slot or the output, this rank takes "
                      "the other");
      }
      value.add(message.holds);
      strand.clock = std::max(strand.clock, message.arrival);
      for (std::size_t i = 0; i < message.seen.size(); ++i) {
        strand.seen[i] = std::max(strand.seen[i], message.seen[i]);
      }
    }
    if (line.group >= 0) note(line.out[end.place], span.count);
    ++line.taken[end.place];
    while (std::ranges::min(line.taken) > line.dropped) {
      for (auto& sent : line.sent) sent.pop_front();
      ++line.dropped;
    }
    return {};
  }

  static void note(EdgeTraffic& edge, std::int64_t elements) {
    ++edge.chunks;
    edge.elements += elements;
  }

  Status check_end(int rank) {
    RankState& state = here(rank);
    for (std::size_t i = 0; i < state.strands.size(); ++i) {
      if (state.strands[i].at.loop() == loops_of(rank)) continue;
      const bool is_alone = options_.interleaving == Interleaving::OneThread;
      return broken(rank, state.strands[is_alone ? state.turn : i], "waits for ever: a deadlock");
    }
    const ChannelTask& task = *state.task;
    std::size_t wanted = 0;
    const int turns = task.map.turns();
    for (std::int64_t piece = 0; piece < loops_of(rank) / turns; ++piece) {
      for (const int chunk : goal_.chunks(task, rank)) {
        const auto goal = goal_.output(task, rank, chunk);
        if (!goal || task.map.at(piece * turns, chunk).count == 0) continue;
        RINGSIDE_TRY(check_output(rank, piece, chunk, *goal));
        ++wanted;
      }
    }
    if (wanted == state.output.size()) return {};
    return Error{ErrorCode::Corrupt,
                 fmt::format("rank {} wrote {} output chunks, of which {} are its own", rank,
                             state.output.size(), wanted)};
  }

  Status check_output(int rank, std::int64_t piece, int chunk, const Contributions& goal) {
    const RankState& state = here(rank);
    const auto found = state.output.find(piece * state.task->map.chunks() + chunk);
    if (found != state.output.end() && found->second == goal) return {};
    return Error{ErrorCode::Corrupt,
                 fmt::format("rank {} piece {}: output chunk {} {}", rank, piece, chunk,
                             found == state.output.end() ? "was never written"
                                                         : "lacks or mixes contributions")};
  }

  Status collect_edges() {
    for (const auto& line : lines_.all()) {
      for (std::size_t i = 0; i < line->sent.size(); ++i) {
        if (!line->sent[i].empty()) {
          return Error{ErrorCode::Corrupt,
                       fmt::format("{} chunks that rank {} sent are never taken",
                                   line->sent[i].size(), to_int(line->senders[i]))};
        }
      }
      for (const auto* side : {&line->in, &line->out}) {
        for (const EdgeTraffic& edge : *side) {
          if (edge.chunks > 0) summary_.edges.push_back(edge);
        }
      }
    }
    return {};
  }

  ProofOptions options_;
  int n_;
  ProofGoal goal_;
  Lines lines_;
  std::vector<RankState> ranks_;
  ProofSummary summary_;
};

}  // namespace

Result<ProofSummary> prove(std::span<const ChannelTask> tasks, std::span<const Program> programs,
                           const ProofOptions& options) {
  RINGSIDE_ASSERT(
      !tasks.empty() && tasks.size() == programs.size() && options.chunks_in_flight >= 1,
      "{} tasks, {} programs, {} in flight", tasks.size(), programs.size(),
      options.chunks_in_flight);
  return Proof(tasks, programs, options).run();
}

Result<ProofSummary> prove(std::span<const ChannelTask> tasks, const ProofOptions& options) {
  std::vector<Program> programs;
  programs.reserve(tasks.size());
  for (const ChannelTask& task : tasks) programs.push_back(record(task));
  return prove(tasks, programs, options);
}

}  // namespace ringside
