#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diag/facts/frames.h"
#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/paste_text.h"

namespace ringside::hang {

using facts::Activity;

/// The host and process of a rank.
struct ProcessPlace {
  std::string host;       ///< empty: unknown
  std::int64_t pid = -1;  ///< -1: unknown
};

/// The stack of one process, or of several processes with the same stack.
struct ProcessStack {
  std::vector<int> ranks;          ///< global ranks that the text names; empty: none
  std::vector<std::int64_t> pids;  ///< process ids that the text names; empty: none
  std::string host;                ///< host in the text, else in the file's name; empty: unknown
  bool is_host_named = false;      ///< the text names `host`
  int local_rank = -1;
  int count = 1;  ///< number of processes; at least the size of `ranks` and `pids`
  Stack frames;   ///< innermost first
  Activity activity = Activity::Compute;
  std::size_t deciding = 0;  ///< index of the frame that determines `activity`
  int peer = -1;             ///< peer of a send or receive, root of a broadcast; -1: unknown
  int tag = -1;              ///< tag of a send or receive; -1: unknown
  std::string notes;         ///< comments next to its frames, in lower case: `# layer 11`
  Op op = Op::Other;         ///< operation of a process that communicates; Other: unknown
  std::string file;
  std::int64_t line = 0;  ///< first line of the stack in `file`

  /// Returns function and source line of the deciding frame: `save (torch/serialization.py:650)`.
  [[nodiscard]] std::string place() const;
  /// Returns the name of the process or processes: `rank 3`, `ranks 0-2`, `process 688514 (node48)`, `a process`.
  [[nodiscard]] std::string who() const;
  /// Returns a sentence: `rank 3 is in save (torch/serialization.py:650): saves a checkpoint`.
  [[nodiscard]] std::string text() const;
};

/// Reads all stacks of a text: output of py-spy (text), faulthandler, gdb and pystack, for any number of processes,
/// with or without headings (`Process 71: python train.py`, `Thread 71 (active): "MainThread"`, `rank 3:`, `4 processes
/// are in:`). Of a process with several threads only the main thread is returned. Other lines are ignored.
/// At most 16,384 stacks of 256 frames, whose headings name at most 4 M ranks, are returned; further ones are ignored.
///
/// path  named in the stacks as their file
/// used  by line: set to true for lines of a stack; may be nullptr
///
/// source  docs/formats 8.2
std::vector<ProcessStack> read_process_stacks(const std::vector<PasteLine>& lines,
                                              std::string_view path,
                                              std::vector<bool>* used = nullptr);

/// Reads the output of `py-spy dump --json` for one process, which has no rank. Returns nothing for another text.
std::vector<ProcessStack> read_json_stack(std::string_view text, std::string_view path);

}  // namespace ringside::hang
