#include "engine/runtime/watch/call_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <thread>
#include <tuple>
#include <utility>

#include "base/env.h"
#include "base/text.h"
#include "engine/runtime/bootstrap/bootstrap.h"
#include "engine/runtime/calls/call.h"
#include "engine/runtime/watch/call_board.h"
#include "engine/runtime/watch/call_log.h"
#include "engine/transport/socket/wakeup.h"

namespace ringside {
namespace {

constexpr std::chrono::milliseconds kLookEvery{100};  ///< interval between comparisons of calls
constexpr const char* kHelp =
    "give every rank the same calls in the same order; RINGSIDE_CHECK=0 does without this check";

/// Names the lower rank first, so that all ranks that find the difference report the same text.
Error differing_calls(Rank me, Rank other, const CallDifference& found) {
  if (found.mine.is_end || found.theirs.is_end) {
    const auto& [gone, call, waits] =
        found.mine.is_end ? std::tuple(me, found.theirs, other) : std::tuple(other, found.mine, me);
    return {ErrorCode::InvalidArgument,
            fmt::format("rank {} has left the communicator after {} calls: rank {} waits for it in "
                        "{}",
                        to_int(gone), found.call, to_int(waits), to_string(call)),
            "have every rank make the same calls before it ends"};
  }
  const bool is_mine_first = me < other;
  const auto& [low, high] =
      is_mine_first ? std::pair(found.mine, found.theirs) : std::pair(found.theirs, found.mine);
  return {
      ErrorCode::InvalidArgument,
      fmt::format("the ranks do not make the same call: as call {} of this communicator rank {} "
                  "called {}, rank {} called {}; what its outputs hold is undefined",
                  found.call + 1, to_int(std::min(me, other)), to_string(low),
                  to_int(std::max(me, other)), to_string(high)),
      kHelp};
}

Error differing_messages(Rank from, Rank to, std::uint64_t number, const CallSignature& sent,
                         const CallSignature& expected) {
  if (sent.is_end || expected.is_end) {
    const CallSignature& made = sent.is_end ? expected : sent;
    return {
        ErrorCode::InvalidArgument,
        fmt::format("rank {} has left the communicator without {} message {} {} rank {} ({} {})",
                    to_int(sent.is_end ? from : to), sent.is_end ? "sending" : "receiving",
                    number + 1, sent.is_end ? "to" : "of", to_int(sent.is_end ? to : from),
                    made.count, to_string(made.type)),
        "have every rank make its calls before it ends"};
  }
  return {
      ErrorCode::InvalidArgument,
      fmt::format("the two ends of a message differ: as message {} to rank {} rank {} sends {} {}, "
                  "rank {} expects {} {}; what the output holds is undefined",
                  number + 1, to_int(to), to_int(from), sent.count, to_string(sent.type),
                  to_int(to), expected.count, to_string(expected.type)),
      kHelp};
}

bool is_pairwise(Collective collective) {
  return collective == Collective::SendRecv || collective == Collective::Send ||
         collective == Collective::Recv;
}

/// A rank whose calls are compared with this rank's calls.
struct Neighbour {
  Rank rank;
  CallComparison calls;
};

}  // namespace

bool is_call_check_wanted() { return env_text("RINGSIDE_CHECK") != "0"; }

struct ReportedCalls::Impl {
  std::array<CallLog::Memory, 2> memory{};
  std::array<CallLog::Writer, 2> writer{CallLog::Writer(memory[0]), CallLog::Writer(memory[1])};
};

ReportedCalls::ReportedCalls() : impl_(std::make_unique<Impl>()) {}
ReportedCalls::~ReportedCalls() = default;

void ReportedCalls::note(Watch::Side from, std::uint64_t number, const CallSignature& call) {
  impl_->writer.at(static_cast<std::size_t>(from)).append_at(number, call);
}

class CallCheck::Impl {
 public:
  Impl(const Bootstrap& bootstrap, std::unique_ptr<CallBoard> board, Wakeup stop, Watch& watch,
       ReportedCalls& reported, OnDifference on_difference)
      : me_(bootstrap.rank()),
        next_(bootstrap.next()),
        previous_(bootstrap.previous()),
        board_(std::move(board)),
        watch_(watch),
        reported_(reported),
        on_difference_(std::move(on_difference)),
        mine_(board_->of_rank(me_)),
        neighbours_(ring_neighbours()),
        pairs_(*this),
        clock_(bootstrap.clock()),
        stop_(std::move(stop)),
        thread_(start_thread(clock_, [this](const std::stop_token&) { look_periodically(); })) {}

  ~Impl() { stop_.signal(); }

  void begin(const CollectiveCall& call) {
    pairs_begun_.clear();
    if (is_pairwise(call.collective)) return begin_messages(call);
    const CallSignature signature = signature_of(call);
    if (mine_.append(signature)) report_elsewhere(signature);
    ++begun_;
  }

  void leave() {
    const CallSignature end{.is_end = true};
    if (mine_.append(end)) report_elsewhere(end);
    ++begun_;
    if (!board_->has_pairs()) return;
    for (const Rank other : board_->local_ranks()) {
      if (other == me_) continue;
      writer_of(me_, other).append(end);
      writer_of(other, me_).append(end);
    }
  }

  std::optional<Error> look() {
    for (Neighbour& neighbour : neighbours_) {
      if (const auto found = neighbour.calls.look()) {
        return differing_calls(me_, neighbour.rank, *found);
      }
    }
    for (const auto& [from, to] : pairs_begun_) {
      if (auto why = pairs_.look(from, to)) return why;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Error> look_everywhere() const {
    std::vector<Neighbour> all = ring_neighbours();
    for (const Rank rank : board_->local_ranks()) {
      if (rank != me_) all.push_back({rank, with_local(rank)});
    }
    for (Neighbour& one : all) {
      if (const auto found = one.calls.look()) return differing_calls(me_, one.rank, *found);
    }
    return Pairs(*this).look_at_all();
  }

  [[nodiscard]] UnreceivedMessages unreceived() const {
    UnreceivedMessages all;
    if (!board_->has_pairs()) return all;
    for (const Rank other : board_->local_ranks()) {
      if (other == me_) continue;
      all.sent += unreceived(me_, other);
      all.missed += unreceived(other, me_);
    }
    return all;
  }

  [[nodiscard]] std::string lagging_ranks() const {
    std::map<std::uint64_t, std::vector<int>, std::greater<>> by_begun;
    for (const Rank rank : board_->local_ranks()) {
      by_begun[CallLog(board_->of_rank(rank)).begun()].push_back(to_int(rank));
    }
    if (by_begun.size() < 2) return {};
    std::string text;
    for (const auto& [begun, ranks] : by_begun) {
      text += fmt::format("{}rank{} {} {} begun {} of its calls", text.empty() ? "" : ", ",
                          ranks.size() == 1 ? "" : "s", format_ranks(ranks),
                          ranks.size() == 1 ? "has" : "have", begun);
    }
    return text;
  }

 private:
  /// Compares the two ends of the messages between this rank and the others of its host.
  class Pairs {
   public:
    explicit Pairs(const Impl& check) : check_(check) {}

    std::optional<Error> look(Rank from, Rank to) {
      auto& known = from == check_.me_ ? to_ : from_;
      const CallBoard& board = *check_.board_;
      const Rank other = from == check_.me_ ? to : from;
      auto found = std::ranges::find(known, other, &Neighbour::rank);
      if (found == known.end()) {
        known.push_back(
            {other, CallComparison(CallLog(board.of_pair(from, to, CallBoard::Side::Sender)),
                                   CallLog(board.of_pair(from, to, CallBoard::Side::Receiver)))});
        found = known.end() - 1;
      }
      const auto difference = found->calls.look();
      if (!difference) return std::nullopt;
      return differing_messages(from, to, difference->call, difference->mine, difference->theirs);
    }

    std::optional<Error> look_at_all() {
      const CallBoard& board = *check_.board_;
      if (!board.has_pairs()) return std::nullopt;
      for (const Rank other : board.local_ranks()) {
        if (other == check_.me_) continue;
        if (auto why = look(check_.me_, other)) return why;
        if (auto why = look(other, check_.me_)) return why;
      }
      return std::nullopt;
    }

   private:
    const Impl& check_;
    std::vector<Neighbour> to_;    ///< logs of messages to the other ranks
    std::vector<Neighbour> from_;  ///< logs of messages from the other ranks
  };

  /// Returns how many more messages the sender has begun than the receiver.
  [[nodiscard]] std::uint64_t unreceived(Rank from, Rank to) const {
    const auto begun = [&](CallBoard::Side side) {
      return CallLog(board_->of_pair(from, to, side)).begun();
    };
    const std::uint64_t received = begun(CallBoard::Side::Receiver);
    return std::max(begun(CallBoard::Side::Sender), received) - received;
  }

  [[nodiscard]] CallComparison with_local(Rank rank) const {
    return {CallLog(board_->of_rank(me_)), CallLog(board_->of_rank(rank))};
  }
  [[nodiscard]] CallComparison with_reported(Watch::Side side) const {
    return {CallLog(board_->of_rank(me_)),
            CallLog(reported_.impl_->memory.at(static_cast<std::size_t>(side)))};
  }

  /// Returns the neighbours on the ring of this host's ranks, and on the ring of all ranks if it leaves the host. If
  /// ranks differ, then two neighbours on one of these rings differ.
  [[nodiscard]] std::vector<Neighbour> ring_neighbours() const {
    std::vector<Neighbour> neighbours;
    const std::vector<Rank>& local = board_->local_ranks();
    const auto at = static_cast<std::size_t>(std::ranges::lower_bound(local, me_) - local.begin());
    const Rank before = local[(at + local.size() - 1) % local.size()];
    const Rank after = local[(at + 1) % local.size()];
    if (before != me_) neighbours.push_back({before, with_local(before)});
    if (after != me_ && after != before) neighbours.push_back({after, with_local(after)});
    if (!board_->is_local(next_)) neighbours.push_back({next_, with_reported(Watch::Side::Next)});
    if (!board_->is_local(previous_)) {
      neighbours.push_back({previous_, with_reported(Watch::Side::Previous)});
    }
    return neighbours;
  }

  void report_elsewhere(const CallSignature& signature) {
    if (!board_->is_local(next_)) watch_.send_call(Watch::Side::Next, begun_, signature);
    if (!board_->is_local(previous_)) watch_.send_call(Watch::Side::Previous, begun_, signature);
  }

  void begin_messages(const CollectiveCall& call) {
    if (!board_->has_pairs()) return;
    if (is_listed(call)) {
      for (const Transfer& one : call.sends) begin_message(me_, one.peer, one.count, call.type);
      for (const Transfer& one : call.recvs) begin_message(one.peer, me_, one.count, call.type);
    } else if (call.count > 0) {
      if (call.collective != Collective::Recv) begin_message(me_, next_, call.count, call.type);
      if (call.collective != Collective::Send) begin_message(previous_, me_, call.count, call.type);
    }
  }

  void begin_message(Rank from, Rank to, std::int64_t count, DataType type) {
    const Rank other = from == me_ ? to : from;
    if (other == me_ || !board_->is_local(other)) return;
    writer_of(from, to).append({.collective = Collective::Send, .type = type, .count = count});
    pairs_begun_.emplace_back(from, to);
  }

  CallLog::Writer& writer_of(Rank from, Rank to) {
    const Rank other = from == me_ ? to : from;
    auto& writers = from == me_ ? to_writers_ : from_writers_;
    auto found = std::ranges::find(writers, other, &std::pair<Rank, CallLog::Writer>::first);
    if (found == writers.end()) {
      const auto side = from == me_ ? CallBoard::Side::Sender : CallBoard::Side::Receiver;
      writers.emplace_back(other, CallLog::Writer(board_->of_pair(from, to, side)));
      found = writers.end() - 1;
    }
    return found->second;
  }

  void look_periodically() {
    std::vector<Neighbour> neighbours = ring_neighbours();
    Pairs pairs(*this);
    pollfd stop{stop_.fd(), POLLIN, 0};
    while (deadline_in(kLookEvery, clock_).poll(std::span(&stop, 1)) <= 0) {
      for (Neighbour& neighbour : neighbours) {
        if (const auto found = neighbour.calls.look()) {
          return on_difference_(differing_calls(me_, neighbour.rank, *found));
        }
      }
      if (const auto why = pairs.look_at_all()) return on_difference_(*why);
    }
  }

  const Rank me_;
  const Rank next_;
  const Rank previous_;
  const std::unique_ptr<CallBoard> board_;
  Watch& watch_;
  ReportedCalls& reported_;
  const OnDifference on_difference_;

  // Used by the calling thread only.
  CallLog::Writer mine_;
  std::uint64_t begun_ = 0;
  std::vector<Neighbour> neighbours_;
  /// Writers for messages to other ranks
  std::vector<std::pair<Rank, CallLog::Writer>> to_writers_;
  /// Writers for messages from other ranks
  std::vector<std::pair<Rank, CallLog::Writer>> from_writers_;
  std::vector<std::pair<Rank, Rank>> pairs_begun_;  ///< pairs of the current call
  Pairs pairs_;

  Clock& clock_;
  const Wakeup stop_;  ///< ends the thread
  std::jthread
      thread_;  // last member: the thread ends before the members that it uses are destroyed
};

CallCheck::CallCheck(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CallCheck::~CallCheck() = default;

Result<std::unique_ptr<CallCheck>> CallCheck::make(Bootstrap& bootstrap, const std::string& host,
                                                   bool wanted, Deadline deadline, Watch& watch,
                                                   ReportedCalls& reported,
                                                   OnDifference on_difference) {
  if (bootstrap.nranks() == 1) return std::unique_ptr<CallCheck>();
  RINGSIDE_TRY(std::unique_ptr<CallBoard> board,
               CallBoard::make(bootstrap, host, wanted, deadline));
  if (board == nullptr) return std::unique_ptr<CallCheck>();
  RINGSIDE_TRY(Wakeup stop, Wakeup::make());
  return std::unique_ptr<CallCheck>(new CallCheck(std::make_unique<Impl>(
      bootstrap, std::move(board), std::move(stop), watch, reported, std::move(on_difference))));
}

void CallCheck::begin(const CollectiveCall& call) { impl_->begin(call); }
void CallCheck::leave() { impl_->leave(); }
std::optional<Error> CallCheck::look() { return impl_->look(); }
std::optional<Error> CallCheck::look_everywhere() const { return impl_->look_everywhere(); }
UnreceivedMessages CallCheck::unreceived() const { return impl_->unreceived(); }
std::string CallCheck::lagging_ranks() const { return impl_->lagging_ranks(); }

}  // namespace ringside
