#include "diag/facts/line_owner.h"

#include "diag/job/line_rank.h"
#include "diag/logparse/cursor.h"
#include "diag/logparse/torch_lines.h"

namespace ringside::facts {

namespace {

/// `3` of srun's `  3: text`, which other tools print, too, with the number of a host.  returns  -1: there is none
int number_before(std::string_view line) {
  logs::Cursor cursor(line);
  int number = -1;
  cursor.skip_blanks();
  return logs::is_digit(cursor.peek()) && cursor.number(number) && cursor.eat(':') ? number : -1;
}

/// `trainer-2` of a row of kubectl: `trainer-2   0/1   OOMKilled   2   20m`.  returns  empty: another line
std::string_view pod_of_row(std::string_view line) {
  const std::string_view name = line.substr(0, line.find(' '));
  const std::string_view rest = logs::trimmed_left(line.substr(name.size()));
  const bool is_row = name.find('-') != std::string_view::npos && logs::is_letter(name.front()) &&
                      rest.size() > 3 && logs::is_digit(rest[0]) && rest[1] == '/' &&
                      logs::is_digit(rest[2]) && rest[3] == ' ';
  return is_row ? name : std::string_view();
}

}  // namespace

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
