#include "cli/command_line.h"

#include <algorithm>

#include "base/fd.h"

namespace ringside::cli {

std::string command_line() {
  // The kernel keeps the words with a zero byte after each.
  const Result<std::string> kept = read_file("/proc/self/cmdline");
  std::string words = kept ? *kept : "ringside";
  while (!words.empty() && words.back() == '\0') words.pop_back();
  std::replace(words.begin(), words.end(), '\0', ' ');
  return words;
}

}  // namespace ringside::cli
