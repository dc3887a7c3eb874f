#include "diag/logparse/line_parser.h"

// Lines that are not plain lines of a program: pieces of lines, JSON objects that contain lines, lines with control
// characters.
namespace ringside::logs {

/// Joins the pieces of a container's long line.
void LineParser::join_partial(std::string_view text, bool goes_on) {
  if (partial_.size() < kMaxLine) partial_ += text.substr(0, kMaxLine - partial_.size());
  if (goes_on) return;
  std::string whole;
  whole.swap(partial_);
  parse_clean(kept(whole));
}

/// Parses the unescaped text of an object: whole lines, or a piece of a line.
void LineParser::parse_json(const std::string& text, std::int64_t time_us) {
  std::string_view rest = text;
  if (time_us != 0) time_us_ = time_us;
  const bool is_whole = rest.ends_with('\n');
  // Collectors other than docker omit the line end of every line; only docker's long pieces continue.
  constexpr std::size_t kDockerPiece = 16 << 10;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    const bool is_last = end == std::string_view::npos;
    if (is_last && !is_whole && text.size() >= kDockerPiece) {
      join_partial(line, true);
      return;
    }
    if (!partial_.empty()) {
      join_partial(line, false);
    } else {
      parse_odd(kept(line));
    }
    if (is_last) break;
    rest.remove_prefix(end + 1);
  }
}

namespace {

/// Removes colours, other escape sequences of a terminal, and NUL bytes from a line.
/// returns  whether there were NUL bytes
bool clean_into(std::string_view line, std::string& clean) {
  bool has_nul = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (c == '\0') {
      has_nul = true;
    } else if (c != '\x1b') {
      clean += c;
    } else if (at + 1 < line.size() && line[at + 1] == '[') {
      at += 2;
      while (at < line.size() && !(line[at] >= '@' && line[at] <= '~')) ++at;
    } else if (at + 1 < line.size() && line[at + 1] == ']') {
      while (at < line.size() && line[at] != '\a') ++at;
    } else {
      ++at;
    }
  }
  return has_nul;
}

}  // namespace

/// Parses a line with control characters: it is split at CR (a progress bar before a log line); NUL bytes and escape
/// sequences of a terminal are removed.
void LineParser::parse_odd(std::string_view line) {
  while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  const bool is_dirty = line.find_first_of(std::string_view("\0\x1b", 2)) != std::string_view::npos;
  if (is_dirty) {
    std::string clean;
    if (clean_into(line, clean)) ++counts_.binary;
    line = kept(clean);
  }
  while (!line.empty()) {
    const std::size_t end = line.find('\r');
    const std::string_view part = line.substr(0, end);
    if (!part.empty()) parse_clean(part);
    if (end == std::string_view::npos) break;
    line.remove_prefix(end + 1);
  }
}

}  // namespace ringside::logs
