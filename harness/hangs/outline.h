#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/vocabulary.h"
#include "ringside/units.h"

namespace ringside::hangs {

/// What a rank can ask of a group.
enum class Op : std::uint8_t {
  AllReduce,
  AllGather,
  ReduceScatter,
  Broadcast,
  Reduce,
  AllToAll,
  Barrier,
  Send,
  Recv,
};

/// all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all, barrier, send, recv
const char* to_string(Op op);
bool is_p2p(Op op);
bool has_root(Op op);

/// Groups of one kind: every rank is in at most one of them, and calls that one.
struct Family {
  std::string name;                       ///< in the YAML: tensor
  std::string desc;                       ///< in the dumps: TENSOR_MODEL_PARALLEL_GROUP
  std::vector<std::vector<int>> members;  ///< of each group: global ranks, ascending
};

/// One line of the program that all ranks run.
struct OutlineStep {
  enum class Kind : std::uint8_t {
    Call,      ///< enqueues; what follows on the GPU waits for it unless `async`
    Transfer,  ///< send on group rank `from`, recv on `to`, nothing on the others
    Shift,  ///< each rank sends to the one `to` places on in its group, round its end; back where that is negative
    Compute,      ///< keeps the host busy for `time`
    Kernel,       ///< keeps the GPU busy for `time`: what follows on the GPU waits for it
    Join,         ///< the GPU waits for every asynchronous call so far, or those of `family` alone
    Synchronize,  ///< the host waits for the GPU
    Rendezvous,   ///< the host waits for the group, through the store: no recorder sees it
  };
  Kind kind = Kind::Call;
  Op op = Op::AllReduce;
  int family = 0;
  std::int64_t count = 0;  ///< elements that one rank gives (reduce_scatter: that it gets)
  DataType type = DataType::Float32;
  int from = 0;  ///< root of broadcast and reduce, sender of a transfer: rank in the group
  int to = 0;
  bool async = false;
  Nanoseconds time{};
  bool is_of_family = false;  ///< of Join
  /// Calls, transfers and shifts that begin together, next to each other, have one number, and no others have it; 0:
  /// begins alone. All are of one family, and either collectives or none of them. A shift is never alone.
  int bundle = 0;
  int stream = -1;  ///< that it runs on, or of Join that it waits for: index in Outline::streams
  /// A rank of each group of a family.
  struct Place {
    int family = 0;
    int rank = 0;  ///< in the group
  };
  std::optional<Place> at =
      {};  ///< the ranks that take the step, of a transfer which end of it; none: all that it is for
};

/// A program of groups and calls, the same for all ranks: the healthy job.
struct Outline {
  std::string name;
  int ranks = 0;
  int ranks_per_host = 8;
  int iterations = 1;
  double tokens = 0;  ///< that an iteration trains on or writes, of all ranks; 0: not known
  std::vector<Family> families;           ///< the first one is the default group of all ranks
  std::vector<std::string> streams = {};  ///< names; whatever has none is where PyTorch puts it
  std::vector<OutlineStep> steps;
};

/// Reads a program.  The grammar is in README.md of this folder.
/// errors  Corrupt: `where:line: what`, with the fix
Result<Outline> parse_outline(const std::string& text, const std::string& where);

/// Built-in workloads, for any number of ranks >= 2: data, sharded, tensor, pipeline, expert, mixed.
const std::vector<std::string_view>& workload_names();

/// Sizes and lengths are drawn by the seed.
/// errors  InvalidArgument: an unknown name; ranks < 2
Result<Outline> make_workload(std::string_view name, int ranks, std::uint64_t seed);

}  // namespace ringside::hangs
