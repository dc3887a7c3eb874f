#include "diag/hangdetect/readers/tool_lines.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "base/text.h"
#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/dump_keys.h"
#include "diag/logparse/cursor.h"
#include "diag/logparse/line_begins.h"

namespace ringside::hang {
namespace {

using logs::is_digit;

/// Returns the number after `key`, or after it and one more character.  returns  -1: there is none
std::int64_t number_behind(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return -1;
  std::string_view rest = text.substr(at + key.size());
  if (!rest.empty() && !is_digit(rest.front())) rest.remove_prefix(1);
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  return error == std::errc() ? number : -1;
}

}  // namespace

PsLine read_ps_line(std::string_view line) {
  PsLine out;
  std::int64_t rank = -1;
  for (const std::string_view key : {"--local_rank", "--local-rank", "LOCAL_RANK"}) {
    if (rank < 0) rank = number_behind(line, key);
  }
  if (rank < 0 || rank > kMostRanks) return {};
  constexpr int kNear = 9;  // words: STAT is the eighth of `ps aux`
  std::string_view rest = line;
  for (int i = 0; i < kNear; ++i) {
    rest = logs::trimmed_left(rest);
    const std::string_view word = rest.substr(0, rest.find(' '));
    if (word.empty()) break;
    const bool is_number = word.find_first_not_of("0123456789") == std::string_view::npos;
    if (is_number && out.pid < 0) out.pid = parse_whole(word).value_or(-1);
    if (out.pid >= 0 && logs::is_ps_state(word)) {
      out.state = word.front();
      break;
    }
    rest.remove_prefix(word.size());
  }
  if (out.state == 0) return {};
  out.local_rank = static_cast<int>(rank);
  return out;
}

int gpu_utilisation(std::string_view line) {
  const std::size_t memory = line.find("MiB |");
  if (memory == std::string_view::npos || line.find("W / ") == std::string_view::npos) return -1;
  std::string_view rest = logs::trimmed_left(line.substr(memory + 5));
  int percent = -1;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), percent);
  const bool is_percent = error == std::errc() && end != rest.data() + rest.size() && *end == '%';
  return is_percent && percent >= 0 && percent <= 100 ? percent : -1;
}

PodLine read_pod_line(std::string_view line) {
  std::array<std::string_view, 3> words;
  std::string_view rest = logs::trimmed_left(line);
  for (std::string_view& word : words) {
    word = rest.substr(0, rest.find(' '));
    rest = logs::trimmed_left(rest.substr(word.size()));
  }
  const auto& [name, ready, status] = words;
  const bool is_ready = ready.size() >= 3 && is_digit(ready.front()) && is_digit(ready.back()) &&
                        ready.find('/') != std::string_view::npos;
  if (!is_ready || status.empty() || !logs::is_letter(status.front())) return {};
  // `-2`, `-2-p7dnc`: an indexed job puts five letters after the number.
  std::string_view own = name;
  constexpr std::size_t kSuffix = 5;
  std::size_t hyphen = own.rfind('-');
  if (hyphen == std::string_view::npos) return {};
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (!is_number(own.substr(hyphen + 1)) && own.size() - hyphen - 1 == kSuffix) {
    own = own.substr(0, hyphen);
    hyphen = own.rfind('-');
    if (hyphen == std::string_view::npos) return {};
  }
  const auto index =
      is_number(own.substr(hyphen + 1)) ? parse_whole(own.substr(hyphen + 1)) : std::nullopt;
  if (!index || *index >= kMostRanks) return {};
  const std::string_view owner = own.substr(0, hyphen);
  const std::string_view role = owner.substr(owner.rfind('-') + 1);
  return {static_cast<int>(*index), status, role};
}

}  // namespace ringside::hang
