#include "diag/facts/line_owner.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "diag/job/line_rank.h"
#include "diag/job/world_size.h"
#include "diag/logparse/cursor.h"
#include "diag/logparse/torch_lines.h"

namespace ringside::facts {

namespace {

/// Returns `3` for srun's `  3: text`. Other tools print a host's number in that form.  returns  -1: none
int number_before(std::string_view line) {
  logs::Cursor cursor(line);
  int number = -1;
  cursor.skip_blanks();
  return logs::is_digit(cursor.peek()) && cursor.number(number) && cursor.eat(':') ? number : -1;
}

/// Returns `trainer-2` for a row of kubectl: `trainer-2   0/1   OOMKilled   2   20m`.  returns  empty: another line
std::string_view pod_of_row(std::string_view line) {
  const std::string_view name = line.substr(0, line.find(' '));
  const std::string_view rest = logs::trimmed_left(line.substr(name.size()));
  const bool is_row = name.find('-') != std::string_view::npos && logs::is_letter(name.front()) &&
                      rest.size() > 3 && logs::is_digit(rest[0]) && rest[1] == '/' &&
                      logs::is_digit(rest[2]) && rest[3] == ' ';
  return is_row ? name : std::string_view();
}

}  // namespace

std::optional<ProcessLine> read_process_line(std::string_view line) {
  constexpr std::size_t kLongest = 300;
  line = line.substr(0, kLongest);
  const auto has = [&](std::string_view word) { return line.find(word) != std::string_view::npos; };
  // Few lines of a large log pass this check.
  if (!has("pid") && !has("PID") && !has("0000:")) return std::nullopt;
  if (!has("ank") && !has("ANK")) return std::nullopt;
  const std::string text = lower_case(line);
  // A number after a separate word: not after `local_rank` or `ranks`.
  const auto number_behind = [&](std::string_view word, bool& is_twice) {
    std::int64_t found = -1;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      const std::string_view before = std::string_view(text).substr(0, at);
      const bool is_own = before.empty() ||
                          (!logs::is_letter(before.back()) && before.back() != '_') ||
                          before.ends_with("global_") || before.ends_with("world_");
      const std::size_t digits = text.find_first_not_of(" =:#\"'", at + word.size());
      if (!is_own || before.ends_with("local ") || digits == std::string::npos ||
          !logs::is_digit(text[digits]))
        continue;
      std::int64_t number = -1;
      std::from_chars(text.data() + digits, text.data() + text.size(), number);
      is_twice = is_twice || (found >= 0 && found != number);
      found = number;
    }
    return found;
  };
  bool is_twice = false;
  ProcessLine out;
  const std::int64_t rank = number_behind("rank", is_twice);
  if (rank < 0 || rank >= job::kMostRanks || is_twice) return std::nullopt;
  out.rank = static_cast<int>(rank);
  out.pid = number_behind("pid", is_twice);
  // `0000:4c:00.0`
  for (std::size_t at = text.find("0000:"); at != std::string::npos && out.device.empty();
       at = text.find("0000:", at + 1)) {
    const std::string_view bus = std::string_view(text).substr(at + 5, 7);
    const bool is_bus = bus.size() == 7 && bus[2] == ':' && bus[5] == '.' &&
                        logs::kHexDigits[static_cast<unsigned char>(bus[0])] < 16 &&
                        logs::kHexDigits[static_cast<unsigned char>(bus[1])] < 16;
    if (!is_bus) continue;
    out.device = std::string(bus.substr(0, 2)) + std::string(bus.substr(3, 2)) + bus[6];
    out.device.erase(0, std::min(out.device.find_first_not_of('0'), out.device.size()));
  }
  if (is_twice || (out.pid < 0 && out.device.empty())) return std::nullopt;
  return out;
}

std::string torch_group_name(std::string_view guid, std::string_view description, int number) {
  std::string name(guid);
  if (!description.empty()) name += "(" + std::string(description) + ")";
  if (name.empty() && number >= 0) name = "pg " + std::to_string(number);
  return name;
}

Subject owner_of(const logs::Record& record, const logs::Speaker& speaker) {
  Subject subject;
  subject.host = speaker.host;
  subject.pid = speaker.pid;
  subject.local_rank = speaker.local_rank;
  subject.rank = speaker.launcher_rank;
  subject.label = number_before(record.line);
  subject.process = pod_of_row(record.text());
  // The launcher's rank was read from the same number, which may be another tool's: resolve_ranks() decides.
  if (subject.label == subject.rank) subject.rank = -1;
  if (record.level != logs::Level::None) return subject;
  logs::TorchPrefix torch = logs::torch_prefix(record);
  if (torch.global_rank >= 0) subject.rank = torch.global_rank;
  if (torch.group_rank < 0) logs::find_torch_group(record.line, torch);
  if (torch.group_rank >= 0) {
    subject.group = torch_group_name(torch.pg_guid, torch.pg_desc, torch.pg_id);
    subject.group_rank = torch.group_rank;
    const bool is_default = torch.pg_guid == "0" || torch.pg_desc == "default_pg";
    if (is_default && subject.rank < 0) subject.rank = torch.group_rank;
  }
  // `rank 3: Fatal Python error: Bus error`, as people and programs write it.
  if (subject.rank < 0) subject.rank = job::rank_before_text(record.line);
  return subject;
}

}  // namespace ringside::facts
