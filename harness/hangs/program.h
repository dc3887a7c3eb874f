#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "harness/hangs/outline.h"

namespace ringside::hangs {

/// One process group, as PyTorch knows it.
struct Group {
  std::string name;  ///< "0" is the default group; all ranks count alike
  std::string desc;
  std::vector<int> ranks;  ///< global, ascending: the place in it is the rank in the group
  int family = 0;
};

/// Why a rank makes no further call.
enum class Halt : std::uint8_t {
  None,
  WaitsElsewhere,  ///< met an exception and waits on something that is no group
  Busy,            ///< computes, loads, compiles: alive, its dump comes
  GilHeld,         ///< likewise, and holds the interpreter lock: its monitor still dumps
  Killed,          ///< by a signal; no dump
  Stopped,         ///< SIGSTOP, or a driver that does not answer; no dump
  Exited,          ///< left; no dump
};

/// Whether such a rank leaves no dump.
bool leaves_no_dump(Halt halt);

/// One thing that one rank's host does.
struct Step {
  enum class Kind : std::uint8_t { Compute, Kernel, Call, Join, Synchronize, Rendezvous, Halt };
  Kind kind = Kind::Compute;
  Op op = Op::AllReduce;
  DataType type = DataType::Float32;
  bool async = false;
  Halt halt = Halt::None;
  int group = -1;   ///< index in Program::groups
  int peer = 0;     ///< root, or the other end of a transfer: rank in the group
  int site = 0;     ///< which line of the training script: index in Outline::steps
  int bundle = 0;   ///< as in OutlineStep: those next to each other that share one begin together
  int stream = -1;  ///< as in OutlineStep
  bool is_shift = false;   ///< all of the group send and receive alike
  int way = -1;            ///< of a transfer: set_ways(); -1: not set
  std::int64_t count = 0;  ///< elements, as in OutlineStep
  Nanoseconds time{};
};

/// The number of steps from `first` on that are one call: sends and receives that begin together. 1 for a step
/// of its own, and for collectives, which follow each other when they begin together.
std::size_t bundle_length(const std::vector<Step>& body, std::size_t first);

/// Whether step `index` begins a call: of sends and receives that begin together the first does, they are one.
bool begins_call(const std::vector<Step>& body, std::size_t index);

/// The part of a call that shares a medium: a send as one of all bytes sent with it on a like way, a receive likewise. The
/// halves of a send_recv are one. A collective as it is.
/// bundle  what begins together, the call among it
Step as_shared(std::span<const Step> bundle, const Step& call);

/// The same of what goes to the same rank.
Step as_shared_by_peer(std::span<const Step> bundle, const Step& call);

/// Whether NCCL takes the two for one operation: same call, bytes that fit, same root. Ends of a
/// transfer are no collective and are not compared here.
bool agree(const Step& a, const Step& b);

/// What one rank runs: the body again and again, now and then with a difference.
struct RankProgram {
  std::vector<Step> body;
  int iterations = 0;
  std::map<int, std::vector<Step>> odd =
      {};  ///< by iteration: what that one runs in place of the body

  [[nodiscard]] const std::vector<Step>& body_of(int iteration) const {
    const auto found = odd.find(iteration);
    return found == odd.end() ? body : found->second;
  }
  /// The body of that iteration alone, to be changed.
  std::vector<Step>& odd_body(int iteration) {
    return odd.try_emplace(iteration, body).first->second;
  }
};

struct Program {
  int ranks = 0;
  int ranks_per_host = 8;
  std::vector<Group> groups;
  std::vector<RankProgram> programs;       ///< by rank
  std::vector<OutlineStep> sites;          ///< what Step::site points at
  std::vector<std::string> families;       ///< names, for the stack frames
  std::vector<std::string> streams;        ///< names
  std::vector<std::vector<int>> group_of;  ///< [rank][family] = group, or -1
};

/// Each rank's own view of the outline.
Program make_program(const Outline& outline);

/// Likewise, with the programs of these ranks alone: those of others are empty. All groups are there.
Program make_program_of(const Outline& outline, const std::vector<int>& ranks);

/// The kind of path from one rank of the job to the other, and back: transfers of one kind take equally long.
using WayOf = std::function<int(int a, int b)>;

/// Sets for each transfer the path between its two ranks; for a shift none, as it takes as long as its slowest transfer.
void set_ways(Program& program, const WayOf& way_of);

/// The place of a global rank in a group; -1 where it is no member.
int group_rank(const Group& group, int rank);

}  // namespace ringside::hangs
