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

/// An operation of a group.
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

/// Returns the name: all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all,
/// barrier, send, recv.
const char* to_string(Op op);
bool is_p2p(Op op);
bool has_root(Op op);

/// A family: groups of which each rank is in at most one. A step of the outline names a family;
/// each rank calls its own group.
struct Family {
  std::string name;                       ///< name in YAML: tensor
  std::string desc;                       ///< name in dumps: TENSOR_MODEL_PARALLEL_GROUP
  std::vector<std::vector<int>> members;  ///< by group: global ranks, ascending
};

/// One step of the program that all ranks run.
struct OutlineStep {
  enum class Kind : std::uint8_t {
    Call,      ///< enqueues a call; later GPU work waits for it unless `async`
    Transfer,  ///< group rank `from` sends, `to` receives; other ranks do nothing
    /// Each rank sends to the group rank `to` places further, cyclically; `to` may be negative.
    Shift,
    Compute,      ///< keeps the host busy for `time`
    Kernel,       ///< keeps the GPU busy for `time`; later GPU work waits for it
    Join,         ///< the GPU waits for all earlier asynchronous calls, or for those of `family`
    Synchronize,  ///< the host waits for the GPU
    Rendezvous,   ///< the host waits for the group through the store; no recorder shows it
  };
  Kind kind = Kind::Call;
  Op op = Op::AllReduce;
  int family = 0;
  std::int64_t count = 0;  ///< elements of one rank's input (reduce_scatter: of its output)
  DataType type = DataType::Float32;
  int from = 0;  ///< root of broadcast and reduce, or sender of a transfer: group rank
  int to = 0;
  bool async = false;
  Nanoseconds time{};
  bool is_of_family = false;  ///< only for Join: wait for `family` only
  /// Adjacent calls, transfers and shifts with one number begin together; 0: begins alone. All
  /// members of a bundle are in one family, and either all or none of them are collectives. A
  /// bundle with a shift has at least two members.
  int bundle = 0;
  /// Index in Outline::streams of the stream that runs it (Join: that it waits for); -1: default.
  int stream = -1;
  /// A rank number within the groups of a family.
  struct Place {
    int family = 0;
    int rank = 0;  ///< in the group
  };
  /// The ranks that take the step; for a transfer, the end that they are. None: all ranks of the
  /// step.
  std::optional<Place> at = {};
};

/// The program of a healthy job: groups and steps, the same for all ranks.
struct Outline {
  std::string name;
  int ranks = 0;
  int ranks_per_host = 8;
  int iterations = 1;
  double tokens = 0;  ///< tokens that all ranks train on or generate per iteration; 0: unknown
  std::vector<Family> families;           ///< the first one is the default group of all ranks
  std::vector<std::string> streams = {};  ///< names; steps without a stream use PyTorch's default
  std::vector<OutlineStep> steps;
};

/// Parses a program. docs/reference/scenarios.md has the grammar.
/// errors  Corrupt: `where:line: what`, with the fix
Result<Outline> parse_outline(const std::string& text, const std::string& where);

/// Returns the names of the built-in workloads, for >= 2 ranks: data, sharded, tensor, pipeline,
/// expert, mixed.
const std::vector<std::string_view>& workload_names();

/// Makes a built-in workload. The seed decides on sizes and lengths.
/// errors  InvalidArgument: an unknown name; ranks < 2
Result<Outline> make_workload(std::string_view name, int ranks, std::uint64_t seed);

}  // namespace ringside::hangs
