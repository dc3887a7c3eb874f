#include "diag/hangdetect/readers/comm_starts.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "diag/logparse/init_records.h"

namespace ringside::hang {

void CommStarts::take(const logs::Record& record, const std::string& host) {
  constexpr std::size_t kMost = 4'096;  // communicators: of foreign text
  constexpr int kWidest = 1 << 16;      // ranks: each takes an entry of a set
  const auto& comm = record.as<logs::CommEvent>();
  if (comm.comm_id == 0 || comm.nranks > kWidest || comm.rank >= comm.nranks) return;
  if (starts_.size() >= kMost && starts_.count(comm.comm_id) == 0) return;
  Start& start = starts_[comm.comm_id];
  start.nranks = comm.nranks;
  start.is_through = start.is_through || comm.event != logs::CommEventType::InitStart;
  start.begun.insert(comm.rank);
  start.place = record.place;
  start.line = record.text();
  take_end(record, start.ends[host]);
}

/// source  docs/formats D.1: the START lines are of 2.31, since which ranks of a host wait for each other at the end
void CommStarts::take_end(const logs::Record& record, End& end) {
  using Event = logs::CommEventType;
  const auto& comm = record.as<logs::CommEvent>();
  end.known.insert(comm.rank);
  const bool is_start = comm.event == Event::FinalizeStart || comm.event == Event::DestroyStart;
  if (is_start) {
    end.place = record.place;
    end.line = record.text();
  }
  const bool aborts = comm.event == Event::AbortStart || comm.event == Event::AbortComplete;
  const bool destroys = comm.event == Event::DestroyStart || comm.event == Event::DestroyComplete;
  // A rank that destroys a communicator finalizes it as well.
  if (is_start) end.finalize.begun.insert(comm.rank);
  if (destroys) end.destroy.begun.insert(comm.rank);
  if (aborts || comm.event == Event::FinalizeComplete || comm.event == Event::DestroyComplete) {
    end.finalize.is_through = true;
  }
  if (aborts || comm.event == Event::DestroyComplete) end.destroy.is_through = true;
}

void CommStarts::state_end(const End& end, Statements& said) {
  const Stage& stage = end.destroy.begun.empty() ? end.finalize : end.destroy;
  if (stage.is_through) return;
  std::vector<int> ranks;
  std::set_difference(end.known.begin(), end.known.end(), stage.begun.begin(), stage.begun.end(),
                      std::back_inserter(ranks));
  // Where most ranks go on, those few are early.
  if (ranks.empty() || ranks.size() > stage.begun.size()) return;
  logs::Record line;
  line.place = end.place;
  line.line = end.line;
  said.state(line, LogStatement::What::EndAbsent, std::move(ranks),
             static_cast<std::int64_t>(stage.begun.size()));
}

void CommStarts::state(Statements& said) const {
  constexpr std::size_t kQuarter = 4;  // with fewer, the log does not cover the job
  // A rank in the widest communicator is the rank in the job.
  int widest = 0;
  for (const auto& [id, start] : starts_) widest = std::max(widest, start.nranks);
  for (const auto& [id, start] : starts_) {
    for (const auto& [host, end] : start.ends) {
      if (start.nranks == widest) state_end(end, said);
    }
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
