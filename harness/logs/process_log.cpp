#include "harness/logs/process_log.h"

#include <algorithm>

#include "harness/logs/incident_log.h"
#include "harness/logs/rank_view.h"
#include "harness/logs/write_begin.h"
#include "harness/logs/write_communicator.h"

namespace ringside {
namespace {

/// Monday, 2 March 2026, 10:00:00 UTC: when every job starts.
constexpr std::int64_t kStart = 1'772'445'600;
/// Number of collectives that a process writes before the next process writes.
constexpr int kCallsAtOnce = 64;

using Kind = LogPhase::Kind;

/// Returns the seconds since the start of the job.
std::int64_t time_of(const LogPhase& phase) {
  constexpr std::int64_t kGeneration = 10;
  return phase.generation * kGeneration + static_cast<std::int64_t>(phase.kind) + phase.end_call;
}

}  // namespace

std::vector<LogPhase> phases_of(const LogJob& job) {
  const bool is_late = connects_late(job);
  const int generations = static_cast<int>(job.generations().size());
  std::vector<LogPhase> all{{Kind::Begin}};
  for (int generation = 0; generation < generations; ++generation) {
    all.push_back({Kind::Start, generation});
    all.push_back({Kind::Graphs, generation});
    all.push_back({is_late ? Kind::Complete : Kind::Connect, generation});
    all.push_back({is_late ? Kind::Connect : Kind::Complete, generation});
  }
  for (int first = 0; first < job.request().calls; first += kCallsAtOnce) {
    const int end = std::min(first + kCallsAtOnce, job.request().calls);
    for (int generation = 0; generation < generations; ++generation) {
      all.push_back({Kind::Calls, generation, first, end});
    }
  }
  for (int generation = 0; generation < generations; ++generation) {
    all.push_back({Kind::Run, generation});
  }
  for (int generation = 0; generation < generations; ++generation) {
    all.push_back({Kind::End, generation});
  }
  const auto last =
      std::ranges::find_if(all, [&job](const LogPhase& phase) { return ends_in(job, phase); });
  if (last != all.end()) all.erase(last + 1, all.end());
  return all;
}

void write_phase(const LogJob& job, int process, const LogPhase& phase, DebugLog& log) {
  const RankView rank{job, process, phase.generation};
  log.set_time({.seconds = kStart + time_of(phase)});
  if (!rank.is_member() && phase.kind != Kind::Begin) return;
  switch (phase.kind) {
    case Kind::Begin:
      return write_begin(rank, log);
    case Kind::Start:
      return write_start(rank, log);
    case Kind::Graphs:
      return write_graphs(rank, log);
    case Kind::Connect:
      return write_connect(rank, log);
    case Kind::Complete:
      return write_complete(rank, log);
    case Kind::Calls:
      return write_calls(rank, phase, log);
    case Kind::Run:
      return write_incident(rank, Kind::Run, log);
    case Kind::End:
      return write_end(rank, log);
  }
}

DebugLog log_of(const LogJob& job, int process) {
  const LogHost& host = job.host_of(process);
  return {host.version, job.shown(host), host.name,
          job.processes()[static_cast<std::size_t>(process)].pid};
}

}  // namespace ringside
