#include <fmt/format.h>

#include "harness/hangs/hang_logs.h"

namespace ringside::hangs {

std::string stack_text(const HangCase& hang, int rank) {
  const RankEnd& end = hang.play.ranks[static_cast<std::size_t>(rank)].end;
  if (end.halt != Halt::Busy && end.halt != Halt::GilHeld) return {};
  constexpr int kFirstLine = 40;  // line of the script with the first step of the training loop
  return fmt::format(
      "Thread 0x00007f52a1c0{:04x} [python3] (most recent call first):\n"
      "  File \"/workspace/model.py\", line 118 in forward\n"
      "  File \"/workspace/train.py\", line {} in train_step\n"
      "  File \"/workspace/train.py\", line 21 in main\n"
      "  File \"/workspace/train.py\", line 12 in <module>\n",
      rank & 0xffff, kFirstLine + end.site);
}

}  // namespace ringside::hangs
