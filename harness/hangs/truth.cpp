#include "harness/hangs/truth.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace ringside::hangs {
namespace {

using Ranks = std::vector<int>;

bool contains(const Ranks& ranks, int rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

/// Returns the ranks in ascending order, each once.
Ranks sorted(Ranks ranks) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

/// Determines which answers are right for the files that were not lost.
///
/// The injected class and culprits are right. also() adds classes that look like it in these files, allow() other sets of
/// culprits, and doubt() the reason. The judgement of a class comes first; look_at_surfaces() and look_at_lost_files()
/// then add what holds for most classes.
class Judge {
 public:
  explicit Judge(const HangCase& hang) : hang_(hang), fault_(hang.fault) {}

  Truth judge() {
    truth_.classes.insert(to_string(fault_.kind));
    allow(fault_.culprits);
    switch (fault_.kind) {
      case FaultClass::NotAHang:
        // A call in progress and a hung call differ only in their age, which dumps do not contain.
        if (hang_.evidence.moment == Moment::MidRun || is_something_lost()) also({"unknown"});
        return truth_;
      case FaultClass::NetworkStall:
        judge_stall();
        return truth_;
      case FaultClass::RootMismatch:
        judge_root();
        return truth_;
      case FaultClass::P2pUnmatched:
        judge_transfer();
        break;
      case FaultClass::DeadlockCycle:
        judge_cycle();
        break;
      case FaultClass::MissingRank:
        also({"straggler", "diverged_control_flow"});
        break;
      case FaultClass::DeadRank:
        also({"missing_rank", "straggler"});
        break;
      case FaultClass::Straggler:
        also({"missing_rank"});
        break;
      case FaultClass::OpMismatch:
        also({"diverged_control_flow"});
        break;
      case FaultClass::OrderMismatch:
        also({"diverged_control_flow"});
        break;
      case FaultClass::DivergedControlFlow:
        also({"missing_rank"});
        break;
      case FaultClass::ShapeMismatch:
      case FaultClass::DtypeMismatch:
      case FaultClass::Unknown:
        break;
    }
    if (fault_.is_group_missing) judge_missing_group();
    look_at_surfaces();
    look_at_lost_files();
    return truth_;
  }

 private:
  void also(std::initializer_list<const char*> classes) {
    for (const char* name : classes) truth_.classes.insert(name);
  }
  void allow(Ranks ranks) {
    ranks = sorted(std::move(ranks));
    if (std::find(truth_.culprits.begin(), truth_.culprits.end(), ranks) == truth_.culprits.end()) {
      truth_.culprits.push_back(std::move(ranks));
    }
  }
  void doubt(const std::string& why) {
    if (truth_.doubt.find(why) != std::string::npos) return;
    truth_.doubt += truth_.doubt.empty() ? why : "; " + why;
  }

  [[nodiscard]] const Group& group_of(int group) const {
    return hang_.program.groups[static_cast<std::size_t>(group)];
  }
  [[nodiscard]] const RankHistory& history(int rank) const {
    return hang_.play.ranks[static_cast<std::size_t>(rank)];
  }
  /// Returns whether a file shows which calls the rank made.
  [[nodiscard]] bool is_seen(int rank) const {
    const auto at = static_cast<std::size_t>(rank);
    const Evidence& left = hang_.evidence;
    return left.has_dump[at] || (left.has_calls && left.has_log[at]);
  }
  /// Returns whether ncclras reports the rank's progress: it does not count sends and receives.
  [[nodiscard]] bool is_launched_seen(int rank) const {
    if (!hang_.evidence.has_ras) return false;
    if (hang_.evidence.dump_time[static_cast<std::size_t>(rank)] == kNever) return false;
    const auto& records = history(rank).records;
    return std::none_of(records.begin(), records.end(), [](const Record& record) {
      return is_p2p(record.step->op) || record.step->op == Op::AllToAll;
    });
  }
  /// Permits each of the lost ranks, all of them, and those of them that no watchdog reports to be in the call.
  void allow_lost(const Ranks& lost) {
    allow(lost);
    for (const int rank : lost) allow({rank});
    for (int group = kAllGroups; group < static_cast<int>(hang_.program.groups.size()); ++group) {
      for (const Unseen unseen : {Unseen::ByFiles, Unseen::ByWatchdogsToo}) {
        const Ranks own = suspects(group, unseen);
        if (!own.empty()) allow(own);
      }
    }
  }
  [[nodiscard]] bool is_something_lost() const {
    for (int rank = 0; rank < hang_.program.ranks; ++rank) {
      if (!is_seen(rank)) return true;
    }
    return false;
  }
  [[nodiscard]] bool has_pending(int rank) const {
    const auto& records = history(rank).records;
    return std::any_of(records.begin(), records.end(),
                       [&](const Record& record) { return is_pending(hang_, rank, record); });
  }
  [[nodiscard]] bool is_culprit_seen() const {
    return std::all_of(fault_.culprits.begin(), fault_.culprits.end(),
                       [this](int rank) { return is_seen(rank); });
  }

  /// Returns whether the rank's own watchdog reports a call of the group.
  [[nodiscard]] bool is_logged_in(int rank, int group) const {
    const auto at = static_cast<std::size_t>(rank);
    const Evidence& left = hang_.evidence;
    if (!left.has_logs || !left.has_log[at] || left.dump_time[at] == kNever) return false;
    const auto& records = history(rank).records;
    return std::any_of(records.begin(), records.end(), [&](const Record& record) {
      return record.step->group == group && is_pending(hang_, rank, record);
    });
  }

  static constexpr int kAllGroups = -1;
  enum class Unseen : std::uint8_t {
    ByFiles,         ///< no dump or COLL line shows the rank's position
    ByWatchdogsToo,  ///< nor does a line of its watchdog
  };

  /// Returns the members of the groups in which visible ranks wait whose own position is not shown.
  [[nodiscard]] Ranks suspects(int only_group = kAllGroups, Unseen unseen = Unseen::ByFiles) const {
    Ranks found;
    for (int rank = 0; rank < hang_.program.ranks; ++rank) {
      if (!is_seen(rank)) continue;
      for (const Record& record : history(rank).records) {
        if (!is_pending(hang_, rank, record)) continue;
        if (only_group != kAllGroups && record.step->group != only_group) continue;
        const Group& group = group_of(record.step->group);
        if (is_p2p(record.step->op)) {
          const int peer = group.ranks[static_cast<std::size_t>(record.step->peer)];
          if (!is_seen(peer) && !is_launched_seen(peer)) found.push_back(peer);
          continue;
        }
        for (const int member : group.ranks) {
          if (is_seen(member) || is_launched_seen(member)) continue;
          if (unseen == Unseen::ByWatchdogsToo && is_logged_in(member, record.step->group))
            continue;
          found.push_back(member);
        }
      }
    }
    return sorted(std::move(found));
  }

  void judge_stall() {
    const Ranks lost = suspects();
    if (lost.empty()) return;
    doubt("a lost member of the call may be the one that did not come");
    also({"missing_rank", "dead_rank", "straggler", "unknown"});
    allow_lost(lost);
  }

  void judge_root() {
    const Ranks& members = group_of(fault_.group).ranks;
    const bool is_logged =
        hang_.evidence.has_calls && std::all_of(members.begin(), members.end(), [this](int rank) {
          return hang_.evidence.has_log[static_cast<std::size_t>(rank)];
        });
    if (is_logged && members.size() > 2) return;
    if (is_logged) {
      for (const int rank : members) allow({rank});
      allow(members);
      doubt("two members disagree; neither is a majority");
      return;
    }
    doubt("the recorder does not hold the root");
    also({"unknown", "network_stall"});
    allow({});
    const Ranks lost = suspects();
    if (!lost.empty()) {
      also({"missing_rank", "dead_rank", "straggler"});
      allow_lost(lost);
    }
  }

  void judge_transfer() {
    also({"diverged_control_flow", "deadlock_cycle"});
    const int culprit = fault_.culprits.front();
    for (const int peer : partners(culprit)) {
      allow({peer});
      allow({culprit, peer});
      doubt("the two ends of a transfer disagree; neither is a majority");
    }
    // To the waiting rank, the other end looks as if it had not arrived.
    also({"missing_rank", "straggler"});
  }

  /// Returns the other end of the transfer that was changed, and of the transfers that now wait on either side.
  [[nodiscard]] Ranks partners(int culprit) const {
    Ranks found;
    const Group& group = group_of(fault_.group);
    for (const int rank : group.ranks) {
      if (rank == culprit) continue;
      for (const int side : {rank, culprit}) {
        const int other = group_rank(group, side == rank ? culprit : rank);
        for (const Record& record : history(side).records) {
          if (record.step->group == fault_.group && is_p2p(record.step->op) &&
              record.step->peer == other && is_pending(hang_, side, record)) {
            found.push_back(rank);
          }
        }
      }
    }
    return sorted(std::move(found));
  }

  void judge_cycle() {
    also({"order_mismatch", "diverged_control_flow"});
    const int culprit = fault_.culprits.front();
    Ranks cycle{culprit};
    if (fault_.is_p2p) {
      also({"p2p_unmatched"});
      for (const int peer : partners(culprit)) {
        allow({peer});
        allow({culprit, peer});
        cycle.push_back(peer);
      }
      allow({});
    } else {
      cycle = find_cycle(hang_, culprit);
    }
    allow(cycle);
    Ranks others;
    for (const int rank : cycle) {
      if (rank != culprit) others.push_back(rank);
    }
    allow(others);
    for (const int rank : others) allow({rank});
    doubt("the ranks of the cycle contradict each other");
  }

  void judge_missing_group() {
    also({"straggler"});
    doubt("the others wait in the creation of a group, which no dump records");
    Ranks others;
    Ranks seen;
    for (int rank = 0; rank < hang_.program.ranks; ++rank) {
      if (contains(fault_.culprits, rank)) continue;
      others.push_back(rank);
      if (is_seen(rank)) seen.push_back(rank);
    }
    allow(others);
    allow(seen);
  }

  /// Determines how the difference looks, and whether it shows which ranks differ.
  void look_at_surfaces() {
    if (fault_.kind == FaultClass::P2pUnmatched || fault_.is_p2p) return;
    const int culprit = fault_.culprits.front();
    bool is_first = true;
    Ranks groups{fault_.group};
    for (const int group : hang_.program.group_of[static_cast<std::size_t>(culprit)]) {
      if (group >= 0 && group != fault_.group) groups.push_back(group);
    }
    for (const int group : groups) {
      const Surface surface = find_surface(hang_, group);
      if (surface.group < 0) continue;
      name_difference(surface, culprit);
      if (is_first && fault_.kind != FaultClass::DeadlockCycle) weigh_sides(surface, culprit);
      is_first = false;
    }
  }

  /// Adds the classes by which the difference between the culprit's call and those of the others may be named.
  void name_difference(const Surface& surface, int culprit) {
    if (fault_.halt != Halt::None) return;
    const bool is_call =
        fault_.kind != FaultClass::ShapeMismatch && fault_.kind != FaultClass::DtypeMismatch;
    // The culprit continued to a send or receive whose other end waits here.
    if (is_call && is_in_transfer(culprit)) also({"p2p_unmatched"});
    if (contains(surface.absent, culprit)) {
      if (is_call) also({"missing_rank", "order_mismatch", "deadlock_cycle"});
      if (is_call && !has_pending(culprit)) also({"straggler"});
      return;
    }
    const auto own = std::find(surface.here.begin(), surface.here.end(), culprit);
    const Step& mine = *surface.calls[static_cast<std::size_t>(own - surface.here.begin())];
    for (const Step* other : surface.calls) {
      if (agree(*other, mine)) continue;
      name_mismatch(*other, mine);
      if (is_call && fault_.kind != FaultClass::OpMismatch) also({"order_mismatch"});
    }
    // In a group in which the culprit made an extra call, all other members look absent.
    if (is_call && surface.calls.size() == 1)
      also({"missing_rank", "deadlock_cycle", "order_mismatch"});
    // The culprit waits in another group than the ranks that wait for it.
    if (is_call && find_cycle(hang_, culprit).size() > 1) also({"deadlock_cycle"});
  }

  /// Adds the class of the first property in which the calls differ.
  void name_mismatch(const Step& a, const Step& b) {
    if (a.op != b.op) {
      also({"op_mismatch"});
      // Gloo's recorder names both all_reduce.
      if (hang_.recorder.is_gloo && is_reduced(a.op) && is_reduced(b.op)) also({"shape_mismatch"});
    } else if (a.count != b.count) {
      also({"shape_mismatch"});
    } else if (a.type != b.type) {
      also({"dtype_mismatch"});
    } else {
      also({"root_mismatch"});
    }
  }

  /// Returns whether the rank waits in a send or receive.
  [[nodiscard]] bool is_in_transfer(int rank) const {
    const auto& records = history(rank).records;
    return std::any_of(records.begin(), records.end(), [&](const Record& record) {
      return is_p2p(record.step->op) && is_pending(hang_, rank, record);
    });
  }

  static bool is_reduced(Op op) { return op == Op::AllReduce || op == Op::ReduceScatter; }

  /// Allows other culprits if the files show no majority against the culprit: fewer than two other members of its call, or
  /// a call of two.
  void weigh_sides(const Surface& surface, int culprit) {
    if (fault_.halt != Halt::None) return;
    if (!is_culprit_seen() && !is_logged_in(culprit, surface.group)) return;
    const Group& group = group_of(surface.group);
    Ranks innocents;
    const bool is_alone = surface.here.size() == 1 && surface.here.front() == culprit;
    for (const int rank : is_alone ? surface.absent : surface.here) {
      if (!contains(fault_.culprits, rank) && is_seen(rank)) innocents.push_back(rank);
    }
    if (innocents.size() >= 2 && group.ranks.size() > 2) return;
    if (innocents.empty()) {
      doubt("no other member of the call left a file");
      allow({});
      also({"unknown", "missing_rank", "dead_rank", "straggler", "network_stall"});
      allow_lost(suspects());
      // The watchdog of the other side may log its half.
      for (const int rank : group.ranks) {
        if (rank == culprit || !is_logged_in(rank, surface.group)) continue;
        allow({rank});
        allow({rank, culprit});
      }
      return;
    }
    doubt("two members disagree; neither is a majority");
    allow({});
    for (const int rank : innocents) allow({rank});
    allow(innocents);
    Ranks both = innocents;
    both.push_back(culprit);
    allow(both);
  }

  /// Allows what the remaining files cannot exclude: the culprit's files are lost, or those of all ranks that wait for
  /// it.
  void look_at_lost_files() {
    if (hang_.evidence.has_agent) return;  // torchrun's lines name the culprit
    const Ranks lost = suspects();
    for (const int rank : fault_.culprits) {
      // COLL lines show how far the rank came, but not whether it is alive.
      if (!hang_.evidence.has_dump[static_cast<std::size_t>(rank)]) also({"dead_rank"});
    }
    const bool is_dead = fault_.kind == FaultClass::DeadRank;
    if (is_culprit_seen() && !is_waited_for()) {
      doubt("no rank that waits for the culprit left a file");
      also({"unknown", "not_a_hang", "missing_rank", "dead_rank", "straggler"});
      allow({});
      allow_lost(lost);
      return;
    }
    if (is_culprit_seen()) return;
    // If a dead rank's dump is the only missing one, it does not create doubt.
    if (is_dead && lost == fault_.culprits) return;
    doubt(is_dead ? "the dumps of other ranks are missing too" : "the dump of the culprit is lost");
    also({"dead_rank", "missing_rank", "straggler", "unknown"});
    if (!is_anybody_waiting()) also({"not_a_hang"});
    if (lost != fault_.culprits) also({"network_stall"});
    allow({});
    allow_lost(lost);
  }

  [[nodiscard]] bool is_anybody_waiting() const {
    for (int rank = 0; rank < hang_.program.ranks; ++rank) {
      if (is_seen(rank) && has_pending(rank)) return true;
    }
    return false;
  }

  /// Returns whether a visible rank waits in a group of the culprit.
  [[nodiscard]] bool is_waited_for() const {
    for (int rank = 0; rank < hang_.program.ranks; ++rank) {
      if (!is_seen(rank) || contains(fault_.culprits, rank)) continue;
      for (const Record& record : history(rank).records) {
        if (!is_pending(hang_, rank, record)) continue;
        for (const int culprit : fault_.culprits) {
          if (group_rank(group_of(record.step->group), culprit) >= 0) return true;
        }
      }
    }
    return false;
  }

  const HangCase& hang_;
  const Fault& fault_;
  Truth truth_;
};

/// Returns the collectives of a rank in a group, indexed by sequence number - 1.
std::vector<const Record*> calls_of(const HangCase& hang, int rank, int group) {
  std::vector<const Record*> calls;
  for (const Record& record : hang.play.ranks[static_cast<std::size_t>(rank)].records) {
    if (record.step->group == group && !is_p2p(record.step->op)) calls.push_back(&record);
  }
  return calls;
}

}  // namespace

Surface find_surface(const HangCase& hang, int group) {
  const Ranks& members = hang.program.groups[static_cast<std::size_t>(group)].ranks;
  std::vector<std::vector<const Record*>> calls;
  std::size_t most = 0;
  for (const int rank : members) {
    calls.push_back(calls_of(hang, rank, group));
    most = std::max(most, calls.back().size());
  }
  for (std::size_t k = 0; k < most; ++k) {
    Surface surface;
    surface.seq = static_cast<int>(k) + 1;
    bool is_different = false;
    bool is_waiting = false;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (k >= calls[i].size()) {
        surface.absent.push_back(members[i]);
        continue;
      }
      const Record& record = *calls[i][k];
      surface.here.push_back(members[i]);
      surface.calls.push_back(record.step);
      is_different = is_different || !agree(*surface.calls.front(), *record.step);
      is_waiting = is_waiting || is_pending(hang, members[i], record);
    }
    if (is_different || (is_waiting && !surface.absent.empty())) {
      surface.group = group;
      return surface;
    }
  }
  return {};
}

std::vector<int> find_cycle(const HangCase& hang, int rank) {
  // Returns the calls that a rank is in and that do not end, at most one per stream.
  const auto waits = [&hang](int who) {
    std::vector<const Record*> found;
    for (const Record& record : hang.play.ranks[static_cast<std::size_t>(who)].records) {
      if (record.started != kNever && is_pending(hang, who, record) && !is_p2p(record.step->op)) {
        found.push_back(&record);
      }
    }
    return found;
  };
  const auto is_in = [&hang](int who, const Record& call) {
    for (const Record& record : hang.play.ranks[static_cast<std::size_t>(who)].records) {
      if (record.step->group == call.step->group && !is_p2p(record.step->op) &&
          record.collective_seq == call.collective_seq) {
        return record.started != kNever;
      }
    }
    return false;
  };
  const auto members = [&hang](const Record& call) -> const Ranks& {
    return hang.program.groups[static_cast<std::size_t>(call.step->group)].ranks;
  };
  Ranks cycle{rank};
  for (const Record* own : waits(rank)) {
    for (const int other : members(*own)) {
      if (is_in(other, *own)) continue;
      for (const Record* theirs : waits(other)) {
        if (contains(members(*theirs), rank) && !is_in(rank, *theirs)) cycle.push_back(other);
      }
    }
  }
  return sorted(std::move(cycle));
}

Truth find_truth(const HangCase& hang) { return Judge(hang).judge(); }

}  // namespace ringside::hangs
