#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/words.h"

namespace ringside {

/// The content of one rank's call recorder at one moment, in the terms of PyTorch's Flight Recorder.
/// Real and simulated ranks fill it; append_pickle() and append_json() write it.
///
/// Ownership  pointers are into `calls`, or to texts that outlive the dump
struct FlightDump {
  struct Frame {
    std::string name, filename;
    int line = 0;
  };
  /// The common part of entries of equal calls.
  struct Call {
    std::string profiling_name;               ///< nccl:all_reduce, nccl:send 0->3
    std::vector<std::int64_t> input, output;  ///< elements
    const char* type = "";                    ///< Float, BFloat16, ...
    int root = -1;              ///< rank of the group; -1: it has none, or it is unknown
    std::vector<Frame> frames;  ///< innermost first
  };
  struct Entry {
    const Call* call = nullptr;
    int group = 0;  ///< in `groups`
    std::int64_t record_id = 0;
    std::int64_t collective_seq = 0, p2p_seq = 0, op_id = 0;
    bool is_p2p = false;
    const char* state = "";                                ///< scheduled, started, completed
    std::int64_t created_ns = 0;                           ///< since 1970
    std::optional<std::int64_t> started_ns, completed_ns;  ///< when it was noticed
    std::optional<double> duration_ms;
    bool is_retired = false;
    std::uint64_t thread = 0;
  };
  struct Group {
    int pg_id = 0;  ///< PID of this process
    std::string name, desc;
    std::vector<int> ranks;  ///< ranks of the whole job
  };
  struct Status {
    int pg_id = 0;
    std::int64_t enqueued = -1, started = -1, completed = -1;
  };
  /// The progress of one direction of one connection. PyTorch's recorders do not have it.
  struct Progress {
    int group = 0;
    int channel = 0;
    Protocol protocol = Protocol::Simple;
    std::uint64_t slot_size = 0;  ///< bytes; with the above and the index it names one connection
    int index = 0;                ///< number of the connection among those between the two ranks
    int peer = 0;                 ///< rank of the whole job
    bool is_send = false;
    std::uint64_t messages = 0, bytes = 0;
    bool is_waiting = false;  ///< the rank waits for this connection
  };

  const char* format = "2.10";  ///< version; empty: the first one, a bare list
  std::string library;          ///< version of the communication library
  std::string thread_name = {};
  bool has_frames = false;
  std::int64_t timeout_ms = 0;
  std::vector<Group> groups;   ///< in the order of their creation
  std::vector<Status> status;  ///< status of the groups that had a call
  std::vector<Entry> entries;  ///< oldest first
  std::deque<Call> calls;      ///< what the entries point at
  std::string reason;          ///< why the dump was taken; empty: unknown
  /// The group to whose ranks the reason refers; empty: all ranks of the job
  std::string reason_group;
  std::vector<Progress> progress;
};

/// Returns whether a dump's format is that version or a later one.
/// format  as FlightDump::format
bool has_format(const char* format, int major, int minor);

/// Appends the dump to `out` in the format that PyTorch writes on a timeout: the pickle of its C++ pickler, protocol
/// 2, with the keys of the format. `reason` and `progress`, if not empty, are stored under the key `ringside`.
///
/// source  the opcodes in PyTorch's own dumps: strings by value in the memo, frames by identity
void append_pickle(const FlightDump& dump, std::string& out);

/// Appends the dump to `out` in the form of PyTorch's JSON dump: no frames, 0 for unknown times, text for the numbers
/// of pg_status, keys in alphabetical order, no `entries` if empty.
void append_json(const FlightDump& dump, std::string& out);

/// Returns PyTorch's name of a call: all_reduce, _all_gather_base.
const char* recorded_name(Collective collective);

}  // namespace ringside
