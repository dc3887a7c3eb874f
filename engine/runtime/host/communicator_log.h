#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "engine/channels/channels.h"
#include "engine/debuglog/channel_text.h"
#include "engine/debuglog/communicator_text.h"
#include "engine/debuglog/line.h"
#include "engine/runtime/calls/call.h"
#include "engine/runtime/calls/executor.h"
#include "engine/runtime/host/connect.h"
#include "engine/tuning/choice.h"
#include "ringside/error.h"
#include "ringside/units.h"

namespace ringside {

class DebugOutput;
struct Whereabouts;

/// What one communicator logs in the debug log of its process, in NCCL's words. All lines are true: where a
/// line of NCCL's names what does not exist here (a GPU, a plugin), the line or that part of it is omitted.
/// docs/reference/debug-log.md lists the differences.
///
/// Ordering   the communicator's life: started, placed, laid, completed; then calls, of which some connect
/// Threads    one at a time
class CommunicatorLog {
 public:
  /// communicator  its address, by which lines name it
  /// returns       null: nothing of it is shown
  static std::unique_ptr<CommunicatorLog> make(const void* communicator, Rank rank, int nranks);

  /// id  equal on all ranks
  void started(std::uint64_t id);
  /// A variable of NCCL's that is set, and heeded.
  void heeded(const std::string& variable, std::int64_t value);
  /// The hosts of all ranks, and by which network others reach this one.
  void placed(const Connections& connections);
  void completed();

  /// The lanes that calls use.
  void laid(const Channels& channels);
  /// Connections of a call that are there, and all others that its algorithm needs.
  void connected(std::span<const ConnectionId> ids, const Connections& connections,
                 const Choice& choice);

  /// A call that is about to begin, and how.
  void called(const CollectiveCall& call, std::uint64_t op_count, const CallPlan& plan);

  /// What the other ranks will say, too.
  void failed(const Error& why, const WarnPlace& place);
  void destroyed();

 private:
  CommunicatorLog(DebugOutput& output, CommFacts facts);
  void say_network(const Whereabouts& here);
  void say_rings(const Channels& channels);
  void say_trees(const Channels& channels);
  void say_call(const CollectiveCall& call, std::uint64_t op_count);
  [[nodiscard]] ConnectionEnd end_of(std::uint32_t rank) const;
  [[nodiscard]] int place_of(int rank) const;

  DebugOutput& output_;
  CommFacts facts_;
  bool shows_calls_ = false;    ///< COLL
  bool shows_choices_ = false;  ///< TUNING
  bool has_failed_ = false;
  std::vector<int> places_ = {};  ///< [rank] = place among the ranks of its host
  std::set<std::tuple<int, int, std::uint32_t, std::uint32_t>> connected_ = {};
  bool has_rings_ = false, has_trees_ = false;
};

}  // namespace ringside
