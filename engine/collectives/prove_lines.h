#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "base/result.h"
#include "engine/collectives/contributions.h"
#include "engine/collectives/prove.h"

/// Between the sources of the proof: the connections of a channel.
namespace ringside {

/// A chunk on its way.
struct Message {
  std::int64_t piece;
  int chunk;
  std::int64_t count;
  std::int64_t arrival;  ///< on the clock of ProofSummary::rounds
  Contributions holds;
  std::uint64_t direct = 0;  ///< a bit a receiver: it lies in the output there
  std::vector<std::int64_t> seen =
      {};  ///< steps of each strand of all ranks before it; of proofs with direct stores
};

/// One connection, of two ranks or a group: what each sender has sent and not every receiver has taken.
struct Line {
  int group = -1;
  SwitchGroup::Medium medium = SwitchGroup::Medium::NvSwitch;
  std::vector<Rank> senders;
  std::vector<Rank> receivers;
  std::vector<std::deque<Message>> sent;  ///< by sender
  std::int64_t dropped = 0;               ///< messages that all have taken
  std::vector<std::int64_t> taken;        ///< by receiver: messages ever
  std::vector<EdgeTraffic> in, out;       ///< by sender, by receiver; `out` of groups only
};

/// Where a rank's port leads: which line, and its own place on that side of it.
struct PortEnd {
  Line* line = nullptr;
  std::size_t place = 0;
};

/// All lines of a channel, found by what their ports say.
class Lines {
 public:
  /// This rank's end of what the port leads to.
  /// errors  Corrupt: a group that has other members for another rank, or this rank not among them
  Result<PortEnd> end_of(const Peer& peer, Rank me, bool sends);

  [[nodiscard]] const std::vector<std::unique_ptr<Line>>& all() const { return lines_; }

 private:
  Line& pair_line(Rank from, Rank to, int index);
  Line& group_line(const SwitchGroup& group);
  Line* make(std::vector<Rank> senders, std::vector<Rank> receivers, int group,
             SwitchGroup::Medium medium);

  std::vector<std::unique_ptr<Line>> lines_;
  std::map<std::array<int, 3>, Line*> pairs_;
  std::map<int, Line*> groups_;
};

}  // namespace ringside
