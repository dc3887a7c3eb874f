#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "harness/hangs/outline.h"

namespace ringside::hangs {

/// A process group of PyTorch.
struct Group {
  std::string name;  ///< "0" is the default group; equal on all ranks
  std::string desc;
  std::vector<int> ranks;  ///< global ranks, ascending; the index is the group rank
  int family = 0;
};

/// The reason why a rank makes no further call.
enum class Halt : std::uint8_t {
  None,
  WaitsElsewhere,  ///< caught an exception and waits outside of groups
  Busy,            ///< computes, loads or compiles: alive, and writes a dump
  /// As Busy, and holds the interpreter lock: its monitor thread still writes a dump.
  GilHeld,
  Killed,   ///< by a signal; writes no dump
  Stopped,  ///< SIGSTOP, or an unresponsive driver; writes no dump
  Exited,   ///< exited; writes no dump
};

/// Returns true if a rank in this state writes no dump.
bool leaves_no_dump(Halt halt);

/// One step of one rank's host.
struct Step {
  enum class Kind : std::uint8_t { Compute, Kernel, Call, Join, Synchronize, Rendezvous, Halt };
  Kind kind = Kind::Compute;
  Op op = Op::AllReduce;
  DataType type = DataType::Float32;
  bool async = false;
  Halt halt = Halt::None;
  int group = -1;         ///< index in Program::groups
  int peer = 0;           ///< root, or the other end of a transfer: group rank
  int site = 0;           ///< line of the training script: index in Outline::steps
  int bundle = 0;         ///< as OutlineStep::bundle: adjacent steps with one number begin together
  int stream = -1;        ///< as in OutlineStep
  bool is_shift = false;  ///< part of a shift: all ranks of the group send and receive
  int path_class = -1;    ///< of a transfer, by set_path_classes(); -1: not set
  std::int64_t count = 0;  ///< elements, as in OutlineStep
  Nanoseconds time{};
};

/// Returns the number of steps from `first` on that form one call: sends and receives that begin
/// together. Returns 1 for single steps and for collectives, which run one after the other even if
/// they begin together.
std::size_t bundle_length(const std::vector<Step>& body, std::size_t first);

/// Returns true if step `index` begins a call. Of sends and receives that begin together, only the
/// first one does.
bool begins_call(const std::vector<Step>& body, std::size_t index);

/// Returns the combined call for a shared medium: a send with the bytes of all sends of its path
/// class in the bundle, likewise a receive. Both halves of a send_recv count as one. Returns
/// collectives unchanged.
/// bundle  the steps that begin together, `call` among them
Step as_shared(std::span<const Step> bundle, const Step& call);

/// Returns the combined call of all transfers to the same rank.
Step as_shared_by_peer(std::span<const Step> bundle, const Step& call);

/// Returns true if NCCL treats both as the same collective: same operation, matching bytes, same
/// root. Do not use it for transfers.
bool agree(const Step& a, const Step& b);

/// The program of one rank: one body per iteration, with exceptions.
struct RankProgram {
  std::vector<Step> body;
  int iterations = 0;
  /// By iteration: steps that replace the body.
  std::map<int, std::vector<Step>> odd = {};

  [[nodiscard]] const std::vector<Step>& body_of(int iteration) const {
    const auto found = odd.find(iteration);
    return found == odd.end() ? body : found->second;
  }
  /// Returns the replacement body of that iteration for modification; creates it from the body if
  /// needed.
  std::vector<Step>& odd_body(int iteration) {
    return odd.try_emplace(iteration, body).first->second;
  }
};

/// The programs of all ranks, with their groups.
struct Program {
  int ranks = 0;
  int ranks_per_host = 8;
  std::vector<Group> groups;
  std::vector<RankProgram> programs;       ///< by rank
  std::vector<OutlineStep> sites;          ///< the outline's steps; indexed by Step::site
  std::vector<std::string> families;       ///< family names, for stack frames
  std::vector<std::string> streams;        ///< names
  std::vector<std::vector<int>> group_of;  ///< [rank][family] = group, or -1
};

/// Makes the program of each rank from the outline.
Program make_program(const Outline& outline);

/// Makes the programs of the given ranks only; those of other ranks are empty. The result has all
/// groups.
Program make_program_of(const Outline& outline, const std::vector<int>& ranks);

/// Returns the class of the path between two ranks. Transfers of one class take equally long.
using PathClassOf = std::function<int(int a, int b)>;

/// Sets Step::path_class of each transfer. A shift keeps -1, as it takes as long as its slowest transfer.
void set_path_classes(Program& program, const PathClassOf& path_class_of);

/// Returns the index of a global rank in a group; -1 if it is not a member.
int group_rank(const Group& group, int rank);

}  // namespace ringside::hangs
