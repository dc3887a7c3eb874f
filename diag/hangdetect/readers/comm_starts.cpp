#include "diag/hangdetect/readers/comm_starts.h"

#include <vector>

#include "diag/logparse/init_records.h"

namespace ringside::hang {

void CommStarts::take(const logs::Record& record) {
  constexpr std::size_t kMost = 4'096;  // communicators: of foreign text
  constexpr int kWidest = 1 << 16;
  const auto& comm = record.as<logs::CommEvent>();
  if (comm.comm_id == 0 || comm.nranks > kWidest || comm.rank >= comm.nranks) return;
  if (starts_.size() >= kMost && starts_.count(comm.comm_id) == 0) return;
  Start& start = starts_[comm.comm_id];
  start.nranks = comm.nranks;
  start.is_through = start.is_through || comm.event != logs::CommEventType::InitStart;
  start.begun.insert(comm.rank);
  start.place = record.place;
  start.line = record.text();
}

void CommStarts::state(Statements& said) const {
  constexpr std::size_t kQuarter = 4;  // of fewer than the rest, the log is not that of the job
  for (const auto& [id, start] : starts_) {
    const auto nranks = static_cast<std::size_t>(start.nranks);
    const std::size_t absent = nranks - start.begun.size();
    const bool are_few = absent > 0 && start.begun.size() > 1 && absent * kQuarter <= nranks;
    if (start.is_through || !are_few) continue;
    std::vector<int> ranks;
    for (int rank = 0; rank < start.nranks; ++rank) {
      if (start.begun.count(rank) == 0) ranks.push_back(rank);
    }
    logs::Record line;
    line.place = start.place;
    line.line = start.line;
    said.state(line, LogStatement::What::StartAbsent, std::move(ranks));
  }
}

}  // namespace ringside::hang
