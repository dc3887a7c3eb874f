#include "diag/hangdetect/readers/line_owners.h"

#include <algorithm>

#include "diag/hangdetect/readers/statements.h"
#include "diag/logparse/message.h"

namespace ringside::hang {

using What = LogStatement::What;

void LineOwners::ask_process(std::size_t before, const logs::Record& record,
                             std::string_view host) {
  std::int64_t pid = logs::message_number(record, "pid");
  if (pid < 0) pid = job::pid_in_kernel_line(record.line);
  if (pid >= 0 && facts_.statements.size() > before)
    open_.push_back({facts_.statements.size() - 1, std::string(host), pid, -1});
}

void LineOwners::ask_process_of(std::size_t statement, std::int64_t pid, std::string_view host) {
  open_.push_back({statement, std::string(host), pid, -1});
}

void LineOwners::ask_gpu(std::size_t before, const logs::Record& record, std::string_view host,
                         std::int64_t bus_id) {
  const std::int64_t pid = job::pid_in_kernel_line(record.line);
  if (facts_.statements.size() > before && (pid >= 0 || bus_id >= 0))
    open_.push_back({facts_.statements.size() - 1, std::string(host), pid, bus_id});
}

void LineOwners::settle() {
  constexpr std::int64_t kKilled = -9;
  for (const Question& one : open_) {
    LogStatement& said = facts_.statements[one.statement];
    int rank = ranks_.rank_of_gpu(one.host, one.bus_id);
    if (rank < 0) rank = ranks_.rank_of(one.host, one.pid);
    if (rank < 0) continue;
    const bool is_local = said.what == What::EndedLocal;
    if (!said.ranks.empty() && !is_local) continue;
    // A launcher's table says the same with the rank, its host and the time.
    const bool is_told =
        is_local &&
        std::any_of(facts_.statements.begin(), facts_.statements.end(),
                    [&](const LogStatement& other) {
                      return other.what == What::Ended && other.code == said.code &&
                             std::count(other.ranks.begin(), other.ranks.end(), rank) > 0;
                    });
    if (is_told) continue;
    said.ranks = {rank};
    if (is_local) said.what = What::Ended;
    if (said.what == What::HostDeath) {
      said.what = What::Ended;
      if (said.code == 0 && said.detail != kNoMemory) said.detail = kNoStatus;
      if (said.code == 0) said.code = said.detail == kNoMemory ? kKilled : 1;
    }
  }
}

}  // namespace ringside::hang
