#include "diag/hangdetect/readers/trace_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "base/words.h"
#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/dump_keys.h"
#include "diag/hangdetect/readers/op_name.h"
#include "ringside/trace_reader.h"

namespace ringside::hang {
namespace {

constexpr std::size_t kMostCalls = 4096;           ///< newest ones of a rank
constexpr std::int64_t kLongWait = 1'000'000'000;  ///< ns; a shorter wait is usual between ranks

struct TracedCall {
  std::int64_t begin_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t end_ns = 0;
  std::int64_t longest_ns = 0;  ///< primitive
  std::uint64_t primitives = 0;
  std::uint64_t bytes = 0;
  Collective collective = Collective::AllReduce;
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
  bool has_event = false;  ///< of the whole call, at its end
  bool has_ended = false;

  [[nodiscard]] bool is_like(const TracedCall& other) const {
    return collective == other.collective && algorithm == other.algorithm &&
           protocol == other.protocol && (bytes == other.bytes || bytes == 0 || other.bytes == 0);
  }
};

struct TracedRank {
  std::string path;
  std::map<std::uint32_t, TracedCall> calls;
  std::set<std::uint32_t> endless = {};  ///< calls that have no end in the trace
  bool is_in_damaged_file = false;
  /// The first call after the damage: some of its events, and of earlier ones, may be lost.
  std::optional<std::uint32_t> since_damage = {};

  /// Returns whether its newest call may be lost, or lack some of its events.
  [[nodiscard]] bool is_newest_unsure() const {
    return is_in_damaged_file && (!since_damage || calls.rbegin()->first <= *since_damage);
  }
  [[nodiscard]] bool is_waiting() const { return !calls.rbegin()->second.has_ended; }
};

/// Chunks of the newest call, and of the one before it, at one end of a connection.
struct End {
  std::int64_t sequence = -1;
  std::uint64_t count = 0;
  std::uint64_t before = 0;

  void add(std::uint32_t call) {
    if (static_cast<std::int64_t>(call) != sequence) {
      before = count;
      count = 0;
      sequence = call;
    }
    ++count;
  }
  /// Chunks of that call; a newer call at this end means that all of it is done.
  [[nodiscard]] std::uint64_t of(std::uint32_t call, std::uint64_t whole) const {
    if (sequence > static_cast<std::int64_t>(call)) return whole;
    return sequence == static_cast<std::int64_t>(call) ? count : 0;
  }
};

bool is_transfer(Collective collective) {
  return collective == Collective::Send || collective == Collective::Recv;
}

/// All traces of a job.
class TraceReader {
 public:
  void take(const TraceFile& file, const std::string& path) {
    std::int64_t offset =
        file.processes().empty() ? 0 : file.processes().front().realtime_offset.count();
    constexpr std::int64_t kFarthest = std::int64_t{1}
                                       << 61;  // what a file claims, and no clock shows
    if (offset < -kFarthest || offset > kFarthest) offset = 0;
    const bool is_simulated =
        !file.processes().empty() && file.processes().front().clock == TraceClock::Simulated;
    const auto never =
        file.processes().empty() ? std::nullopt : never_ended_at(file.processes().front());
    is_completed_only_ |= std::ranges::any_of(file.processes(), [](const TraceInfo& process) {
      return std::ranges::any_of(process.values,
                                 [](const auto& value) { return value.first == kCompletedOnly; });
    });
    const std::size_t whole_from = file.last_gap().value_or(0);
    is_damaged_ |= file.last_gap().has_value();
    for (std::size_t b = 0; b < file.block_count(); ++b) {
      file.block(b).for_each_event([&](const TraceEvent& event) {
        const bool is_stuck =
            never && event.end_ns == *never && event.kind == EventKind::Collective;
        // Each rank numbers its transfers by itself there, so they cannot be matched.
        const bool is_left_out = is_simulated && is_transfer(event.collective);
        if (is_stuck)
          stuck_in_.insert(is_left_out ? std::nullopt : std::optional(event.communicator));
        if (is_left_out) return;
        TracedRank* const own = take(event, offset, path);
        if (own != nullptr && is_stuck) own->endless.insert(event.sequence);
        if (own == nullptr || !file.last_gap()) return;
        own->is_in_damaged_file = true;
        if (b >= whole_from && !own->since_damage) own->since_damage = event.sequence;
      });
    }
  }

  Traces finish(Names& names) {
    Traces out;
    std::size_t most = 0;
    for (auto& [communicator, ranks] : communicators_) {
      if (ranks.size() <= most) continue;
      most = ranks.size();
      widest_ = communicator;
    }
    if (most < 2) return out;
    std::map<int, TracedRank>& ranks = communicators_[widest_];
    for (auto& [rank, own] : ranks) find_ends(own);
    unsure_ = find_unsure(ranks);
    const bool is_any_waiting = std::any_of(
        ranks.begin(), ranks.end(), [](const auto& one) { return one.second.is_waiting(); });
    const bool is_stuck_elsewhere = std::any_of(stuck_in_.begin(), stuck_in_.end(),
                                                [&](const auto& one) { return one != widest_; });
    leave_out_late(ranks);
    for (auto& [rank, own] : ranks) out.dumps.push_back(dump_of(rank, own, names));
    if (unsure_.empty()) {
      for (const auto& [rank, own] : ranks) add_connections(rank, own, out);
    }
    // A waiting rank may wait for a rank that arrived and whose events are lost, or that is in a call which is not
    // read. Then no rank's place is known.
    for (RankDump& dump : out.dumps) {
      const bool is_unsure = std::binary_search(unsure_.begin(), unsure_.end(), dump.rank);
      dump.is_newest_lost = is_unsure || is_stuck_elsewhere || (is_any_waiting && !unsure_.empty());
    }
    return out;
  }

  /// Ranks whose newest events may be lost.  shape  after finish()
  [[nodiscard]] const std::vector<int>& unsure() const { return unsure_; }

 private:
  using Connection = std::tuple<std::uint32_t, int, int, int>;  ///< communicator, from, to, channel

  /// returns  the rank that the event names; null if it names none
  TracedRank* take(const TraceEvent& event, std::int64_t offset, const std::string& path) {
    if (event.rank < 0 || event.rank >= kMostRanks || event.kind == EventKind::Compute)
      return nullptr;
    TracedRank& own = communicators_[event.communicator][event.rank];
    if (own.path.empty()) own.path = path;
    TracedCall& call = own.calls[event.sequence];
    call.begin_ns = std::min(call.begin_ns, event.begin_ns + offset);
    call.end_ns = std::max(call.end_ns, event.end_ns + offset);
    call.collective = event.collective;
    call.algorithm = event.algorithm;
    call.protocol = event.protocol;
    if (event.kind == EventKind::Collective) {
      call.has_event = true;
      call.bytes = event.bytes;
    } else {
      if (event.kind == EventKind::Primitive) ++call.primitives;
      call.longest_ns = std::max(call.longest_ns, event.end_ns - event.begin_ns);
      take_chunks(event);
    }
    if (own.calls.size() > kMostCalls) own.calls.erase(own.calls.begin());
    return &own;
  }

  /// Ranks whose newest events may be in the unreadable part: ranks without any event after the damage, and ranks
  /// that appear only as senders of what others received.
  [[nodiscard]] std::vector<int> find_unsure(const std::map<int, TracedRank>& ranks) const {
    std::set<int> unsure;
    if (!is_damaged_) return {};
    for (const auto& [rank, own] : ranks) {
      if (own.is_newest_unsure()) unsure.insert(rank);
    }
    for (const auto* const ends : {&sent_, &received_}) {
      for (const auto& [connection, end] : *ends) {
        const auto& [communicator, from, to, channel] = connection;
        if (communicator != widest_) continue;
        for (const int peer : {from, to}) {
          if (peer < kMostRanks && ranks.count(peer) == 0) unsure.insert(peer);
        }
      }
    }
    return {unsure.begin(), unsure.end()};
  }

  void take_chunks(const TraceEvent& event) {
    const PrimitiveParts parts = parts_of(event.primitive);
    if (parts.receives && event.recv_peer >= 0) {
      received_[{event.communicator, event.recv_peer, event.rank, event.channel}].add(
          event.sequence);
    }
    if (parts.sends && event.send_peer >= 0) {
      sent_[{event.communicator, event.rank, event.send_peer, event.channel}].add(event.sequence);
    }
  }

  static void find_ends(TracedRank& own) {
    const TracedCall* before = nullptr;
    for (auto& [sequence, call] : own.calls) {
      if (own.since_damage && sequence <= *own.since_damage && !own.is_newest_unsure()) {
        call.has_ended = true;  // the rank went on; the rest of the call's events shows nothing
        continue;
      }
      const bool was_broken_off =
          before != nullptr && before->is_like(call)
              ? call.primitives < before->primitives
              : call.longest_ns > kLongWait && call.longest_ns > (call.end_ns - call.begin_ns) / 2;
      call.has_ended = call.has_event && !was_broken_off && !own.endless.contains(sequence);
      if (call.has_ended) before = &call;
    }
  }

  /// Removes ranks that enter their newest call after another rank has given it up.
  static void leave_out_late(std::map<int, TracedRank>& ranks) {
    std::map<std::uint32_t, std::int64_t> given_up;
    for (const auto& [rank, own] : ranks) {
      const auto& [sequence, call] = *own.calls.rbegin();
      if (call.has_ended || !call.has_event) continue;
      const auto [known, is_new] = given_up.try_emplace(sequence, call.end_ns);
      if (!is_new) known->second = std::min(known->second, call.end_ns);
    }
    for (auto& [rank, own] : ranks) {
      const auto newest = std::prev(own.calls.end());
      const auto known = given_up.find(newest->first);
      if (known != given_up.end() && newest->second.begin_ns > known->second &&
          own.calls.size() > 1) {
        own.calls.erase(newest);
      }
    }
  }

  RankDump dump_of(int rank, const TracedRank& own, Names& names) const {
    RankDump dump;
    dump.rank = rank;
    dump.version = "trace";
    dump.is_completed_only = is_completed_only_;
    dump.path = own.path;
    const GroupName group{std::to_string(widest_), "default_pg"};
    for (const auto& [sequence, traced] : own.calls) {
      Call call;
      call.created_ns = traced.begin_ns;
      call.record = sequence;
      call.sequence = sequence;
      call.pg = 0;
      call.state = traced.has_ended ? CallState::Completed : CallState::Started;
      call.group = names.add_group(mix(hash_text(group.name), hash_text(group.description)),
                                   [&] { return group; });
      call.signature = signature_of(traced, names);
      dump.calls.push_back(call);
    }
    return dump;
  }

  /// The size is known only at the end of a call: without it a call has no name, and is not compared.
  static std::uint32_t signature_of(const TracedCall& traced, Names& names) {
    const std::string name = to_string(traced.collective);
    const std::uint64_t hash = mix(mix(hash_text("trace"), hash_text(name)), traced.bytes);
    return names.add_signature(mix(hash, traced.has_event ? 1 : 0), [&] {
      Signature made;
      made.op = op_of(name);
      made.backend = "nccl";  // the engine follows NCCL's rules of completion
      if (!traced.has_event) return made;
      made.name = name;
      made.input_count = traced.bytes;
      made.output_count = traced.bytes;
      made.inputs = fmt::format("[[{} bytes]]", traced.bytes);
      made.outputs = made.inputs;
      return made;
    });
  }

  void add_connections(int rank, const TracedRank& own, Traces& out) const {
    const auto& [sequence, call] = *own.calls.rbegin();
    if (call.has_ended) return;
    for (const auto& [connection, end] : received_) {
      const auto& [communicator, sender, receiver, channel] = connection;
      if (communicator != widest_ || receiver != rank) continue;
      ConnectionProgress one{sender, receiver, channel, sequence, 0, 0, 0};
      const bool is_current = end.sequence == static_cast<std::int64_t>(sequence);
      one.expected = is_current ? end.before : end.count;
      one.received = end.of(sequence, one.expected);
      const auto sent = sent_.find(connection);
      const auto& ranks = communicators_.at(widest_);
      const auto theirs = ranks.find(sender);  // a sender may have left no event of its own
      const bool has_come = theirs != ranks.end() && !theirs->second.calls.empty() &&
                            theirs->second.calls.rbegin()->first >= sequence;
      if (has_come && sent != sent_.end()) one.sent = sent->second.of(sequence, one.expected);
      out.connections.push_back(one);
    }
  }

  std::map<std::uint32_t, std::map<int, TracedRank>> communicators_;
  std::map<Connection, End> sent_, received_;
  std::uint32_t widest_ = 0;
  std::vector<int> unsure_;
  std::set<std::optional<std::uint32_t>> stuck_in_;  ///< communicators; none: transfers
  bool is_damaged_ = false;
  bool is_completed_only_ = false;
};

/// Describes the unreadable part of the file; empty if there is none.
std::optional<std::string> loss_of(const TraceFile& file) {
  const TraceCounts& counts = file.counts();
  std::vector<std::string> lost;
  if (counts.skipped_bytes > 0) {
    lost.push_back(fmt::format("{} of its {} bytes", counts.skipped_bytes, file.size_bytes()));
  }
  if (counts.malformed_blocks > 0)
    lost.push_back(fmt::format("{} blocks", counts.malformed_blocks));
  if (counts.unreadable_events > 0)
    lost.push_back(fmt::format("{} events", counts.unreadable_events));
  if (lost.empty()) return std::nullopt;
  return fmt::format("{} could not be read, and what they held is lost", fmt::join(lost, ", "));
}

}  // namespace

Traces load_traces(const std::vector<InputFile>& files, Names& names) {
  TraceReader reader;
  std::map<int, RankDump> recorded;
  std::vector<BadFile> bad;
  std::vector<BadFile> damaged;  // read in spite of the damage
  for (const InputFile& file : files) {
    if (file.kind != FileKind::Trace) continue;
    const auto trace = TraceFile::open(file.path);
    if (!trace) {
      bad.push_back({file.path, trace.error()});
      continue;
    }
    for (const auto& [rank, bytes] : trace->dumps()) {
      auto dump = parse_dump_of(bytes, file.path, rank, names);
      if (dump) {
        recorded.insert_or_assign(rank, *std::move(dump));
      } else {
        bad.push_back({file.path, std::move(dump).error()});
      }
    }
    reader.take(*trace, file.path);
    if (const auto lost = loss_of(*trace)) {
      damaged.push_back({file.path,
                         {ErrorCode::Corrupt, fmt::format("{}: {}", file.path, *lost),
                          "copy the trace anew; ringside trace info says what is left"}});
    }
  }
  Traces out = reader.finish(names);
  for (auto& [rank, dump] : recorded) out.recorded.push_back(std::move(dump));
  for (BadFile& one : damaged) {
    if (!reader.unsure().empty()) {
      one.error.message += fmt::format(": how far {} {} came is not known",
                                       reader.unsure().size() == 1 ? "rank" : "ranks",
                                       format_ranks(reader.unsure()));
    }
    bad.push_back(std::move(one));
  }
  out.bad = std::move(bad);
  return out;
}

}  // namespace ringside::hang
