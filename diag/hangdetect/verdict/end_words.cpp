#include "diag/hangdetect/verdict/end_words.h"

#include <fmt/format.h>

#include <string_view>

namespace ringside::hang {

bool is_consequence(std::int64_t code) {
  return code == -6 || code == -15 || code == 134 || code == 143 || code == -2 || code == -1;
}

std::string signal_text(std::int64_t code) {
  switch (code) {
    case -9:
    case 137:
      return "signal 9 (killed: often the kernel, for want of host memory)";
    case -11:
    case 139:
      return "signal 11 (segmentation fault)";
    case -7:
    case 135:
      return "signal 7 (bus error: often a full /dev/shm)";
    default:
      return code < 0 ? fmt::format("signal {}", -code) : fmt::format("exit status {}", code);
  }
}

std::string fault_text(const LogStatement& one, const std::string& who) {
  const auto says = [&](std::string_view words) {
    return one.text.find(words) != std::string::npos;
  };
  constexpr std::int64_t kIllegal = 13, kPageFault = 31;
  if (says("out of memory") || says("OutOfMemory"))
    return fmt::format("the memory of the GPU of {} is full, and its process ended of that", who);
  const bool is_own = says("device-side assert") || says("illegal memory access") ||
                      says("illegal instruction") || says("emory access fault") ||
                      says("misaligned address") || one.code == kIllegal || one.code == kPageFault;
  if (is_own) return fmt::format("a kernel of {} failed by what it did itself, not the GPU", who);
  return fmt::format("the GPU of {} failed under it", who);
}

}  // namespace ringside::hang
