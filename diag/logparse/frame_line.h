#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace ringside::logs {

/// A frame of a stack.
struct FrameLine {
  std::string_view function;
  std::string_view file;  ///< source file, or the library of a C function
  std::int64_t line = -1;
};

/// Reads a stack frame as py-spy, faulthandler, gdb and PyTorch's recorder write it:
///   `all_reduce (torch/distributed/distributed_c10d.py:1316)`, `ncclGroupEnd (libnccl.so.2)`
///   `File "train.py", line 12 in main`
///   `#3  0x00007f00 in poll () from /lib/libc.so.6`, `#2 buggy from mismatch.py:8`
///   `sync_buffers at /app/models/splatting.py:650`
/// Frames of a C++ exception (`frame #0: ...`) and of a traceback (`..., line 12, in main`) are not accepted, because
/// they show where an error was raised.
///
/// shape    a line without blanks at its ends
/// returns  whether the line is a frame
bool parse_frame(std::string_view text, FrameLine& frame);

/// A stack that is written in one line.
struct LineStack {
  std::string_view label;  ///< text before it: `rank 3:`, `worker2: 40417`; may be empty
  /// Innermost first; `file` is empty if only the function is written
  std::vector<FrameLine> frames;
};

/// Reads a stack in one line, as people write it, or as a script prints it for each process:
///   `worker2: 40417 poll (selectors.py:416) <- wandb.init (wandb_init.py:1210) <- main`
///   `rank 0: all_reduce (distributed_c10d.py:2501) > step (train.py:88)`
///   `rank 3: train.py:120 in step <- train.py:300 in main`
///   `rank 0: all_reduce (distributed_c10d.py:2501) step (train.py:77)`
/// The end that has `main`, `<module>`, `train` or `run` is the outermost one; without these the last frame is.
///
/// returns  nothing if the line is no stack, or is a single frame without a rank in front
std::optional<LineStack> parse_stack_in_line(std::string_view text);

bool is_stack_in_line(std::string_view text);

inline bool is_frame_line(std::string_view text) {
  FrameLine frame;
  return parse_frame(text, frame);
}

}  // namespace ringside::logs
