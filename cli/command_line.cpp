#include "cli/command_line.h"

#include <algorithm>

#include "base/fd.h"

namespace ringside::cli {

std::vector<std::string> command_words() {
  // The kernel keeps the words with a zero byte after each.
  const Result<std::string> kept = read_file("/proc/self/cmdline");
  std::string text = kept ? *kept : "ringside";
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

std::string command_line() {
  std::string line;
  for (const std::string& word : command_words()) line += (line.empty() ? "" : " ") + word;
  return line;
}

}  // namespace ringside::cli
