#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "base/result.h"
#include "engine/collectives/contributions.h"
#include "engine/collectives/prove.h"

/// Private to the sources of the proof: the connections (lines) of a channel.
namespace ringside {

/// A chunk in flight.
struct Message {
  std::int64_t piece;
  int chunk;
  std::int64_t count;
  std::int64_t arrival;  ///< arrival time in rounds (ProofSummary::rounds)
  Contributions holds;
  std::uint64_t direct = 0;  ///< one bit per receiver: 1: it is already in that receiver's output
  /// With direct stores: number of steps of each strand of all ranks that precede it
  std::vector<std::int64_t> seen = {};
};

/// One connection, of two ranks or of a group, with the messages that not all receivers have received.
struct Line {
  int group = -1;
  SwitchGroup::Medium medium = SwitchGroup::Medium::NvSwitch;
  std::vector<Rank> senders;
  std::vector<Rank> receivers;
  std::vector<std::deque<Message>> sent;  ///< by sender
  std::int64_t dropped = 0;               ///< messages that all receivers have received
  std::vector<std::int64_t> taken;        ///< [receiver]: total messages received
  std::vector<EdgeTraffic> in, out;       ///< by sender, by receiver; `out` of groups only
};

/// The line of a rank's port, and the rank's index on its side of the line.
struct PortEnd {
  Line* line = nullptr;
  std::size_t place = 0;
};

/// All lines of a channel, made when a port first names them.
class Lines {
 public:
  /// Returns this rank's end of the line of a port.
  /// errors  Corrupt: ranks disagree on a group's members, or this rank is not a member
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
