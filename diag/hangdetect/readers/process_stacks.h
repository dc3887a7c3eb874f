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

/// Where a rank runs, as far as the text shows it.
struct ProcessPlace {
  std::string host;       ///< empty: unknown
  std::int64_t pid = -1;  ///< -1: unknown
};

/// The stack of one process, or of several at one place.
struct ProcessStack {
  std::vector<int> ranks;          ///< global, as the text names them; empty: not named
  std::vector<std::int64_t> pids;  ///< of these processes, as the text names them
  std::string host;  ///< as the text names it, else the name of its file; empty: neither does
  bool is_host_named = false;  ///< by the text
  int local_rank = -1;
  int count = 1;  ///< processes at this place, >= ranks and pids named
  Stack frames;   ///< innermost first
  Activity activity = Activity::Compute;
  std::size_t deciding = 0;  ///< index of the frame that decided `activity`
  int peer = -1;      ///< of a send or receive its peer, of a broadcast its root; -1: unknown
  int tag = -1;       ///< of a send or receive
  std::string notes;  ///< comments next to its frames, in small letters: `# layer 11`
  Op op = Op::Other;  ///< of a process that communicates; Other: unknown
  std::string file;
  std::int64_t line = 0;  ///< where the stack begins

  /// The place in the form `save (torch/serialization.py:650)`.
  [[nodiscard]] std::string place() const;
  /// `rank 3`, `pid 688514 on node48`, `a process`
  [[nodiscard]] std::string who() const;
  /// `rank 3 is in save (torch/serialization.py:650): saves a checkpoint`
  [[nodiscard]] std::string text() const;
};

/// Reads all stacks of a text: of py-spy (text), faulthandler, gdb and pystack; of many processes one after another,
/// with heads (`Process 71: python train.py`, `Thread 71 (active): "MainThread"`, `rank 3:`, `4 processes are in:`)
/// or without. Of a process with several threads the main one counts. Other lines are ignored; `used` marks the lines
/// that were read, by their place in `lines`.
///
/// source  docs/formats 8.2
std::vector<ProcessStack> read_process_stacks(const std::vector<PasteLine>& lines,
                                              std::string_view path,
                                              std::vector<bool>* used = nullptr);

/// Reads `py-spy dump --json` of one process; empty if the text is something else.
std::vector<ProcessStack> read_json_stack(std::string_view text, std::string_view path);

}  // namespace ringside::hang
