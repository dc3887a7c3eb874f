#include "diag/hangdetect/readers/ray_lines.h"

#include <algorithm>
#include <charconv>

#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/log_facts.h"
#include "diag/logparse/cursor.h"

namespace ringside::hang {
namespace {

/// The number behind the last `key` of a text.  returns  -1: there is none
std::int64_t last_number(std::string_view text, std::string_view key) {
  const std::size_t at = text.rfind(key);
  if (at == std::string_view::npos) return -1;
  const std::string_view digits = text.substr(at + key.size());
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() ? number : -1;
}

/// The address behind the last `key`; empty: there is none.
std::string_view last_address(std::string_view text, std::string_view key) {
  const std::size_t at = text.rfind(key);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + key.size());
  std::size_t end = 0;
  while (end < rest.size() && logs::is_host(rest[end])) ++end;
  while (end > 0 && rest[end - 1] == '.') --end;
  return rest.substr(0, end);
}

}  // namespace

void RayLines::take(std::string_view line, int rank) {
  const std::size_t world = line.find("world_rank=");
  if (world != std::string_view::npos) {
    const std::string_view before = line.substr(0, world);
    const std::int64_t number = last_number(line.substr(0, world + 24), "world_rank=");
    if (number >= 0 && number < kMostRanks)
      owners_.ranks().know(last_address(before, "ip="), last_number(before, "pid="),
                           static_cast<int>(number));
  } else if (rank >= 0) {
    constexpr std::size_t kNear = 48;  // a time may stand before it
    const std::size_t open = line.substr(0, kNear).find('(');
    const std::string_view tag =
        open == std::string_view::npos ? "" : line.substr(open, line.find(')', open) - open);
    if (tag.find(" pid=") != std::string_view::npos)
      owners_.ranks().know(last_address(tag, "ip="), last_number(tag, "pid="), rank);
  }
  if (lines_left_ > 0) {
    --lines_left_;
    ask(line);
  }
}

void RayLines::expect_process(std::size_t statement, const logs::Record& record) {
  constexpr int kNear = 12;  // lines: an exception lists its actor's fields
  statement_ = statement;
  lines_left_ = kNear;
  host_.clear();
  ask(record.line);
}

void RayLines::ask(std::string_view line) {
  std::int64_t pid = -1;
  for (const std::string_view key : {"Worker PID: ", ", pid=", "\tpid: ", "    pid: "})
    pid = std::max(pid, last_number(line, key));
  if (pid < 0 && logs::trimmed(line).starts_with("pid: ")) pid = last_number(line, "pid: ");
  for (const std::string_view key : {"Worker IP address: ", "(IP: ", "ip: "}) {
    if (host_.empty()) host_ = last_address(line, key);
  }
  if (pid < 0 || statement_ >= facts_.statements.size()) return;
  owners_.ask_process_of(statement_, pid, host_);
  lines_left_ = 0;
}

}  // namespace ringside::hang
