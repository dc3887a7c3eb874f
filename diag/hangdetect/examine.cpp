#include "diag/hangdetect/examine.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "diag/hangdetect/readers/dump_reasons.h"
#include "diag/hangdetect/readers/ras_report.h"
#include "diag/hangdetect/readers/statements.h"
#include "diag/hangdetect/recordings/recording_dumps.h"
#include "diag/hangdetect/verdict/decide.h"
#include "diag/job/nccl_result.h"

namespace ringside::hang {
namespace {

/// ncclRemoteError: a peer failed, so this rank did not fail first.  source  nccl.h, ncclResult_t
constexpr std::int64_t kRemoteError = 6;

void add_absent(std::vector<RankDump>& dumps, const std::vector<RankDump>& more) {
  const std::size_t known = dumps.size();
  for (const RankDump& dump : more) {
    const bool has_dump = std::any_of(
        dumps.begin(), dumps.begin() + static_cast<std::ptrdiff_t>(known),
        [&](const RankDump& one) { return one.rank == dump.rank && !one.is_newest_lost; });
    if (!has_dump) dumps.push_back(dump);
  }
}

/// States what reports of ncclras show directly, for single ranks and for the whole job.
void state_reports(const std::vector<RasReport>& reports, LogFacts& facts) {
  if (reports.empty()) return;
  const RasReport& report = reports.back();
  const auto state = [&](LogStatement::What what, const RasMember& member,
                         const std::string& text) {
    LogStatement one;
    one.what = what;
    one.ranks = {member.global};
    one.code = member.error;
    one.text = text;
    one.file = report.path;
    facts.statements.push_back(std::move(one));
  };
  std::set<int> named;
  constexpr std::size_t kMost = Statements::kMost;
  for (const RasCommunicator& communicator : report.communicators) {
    facts.world = std::max(facts.world, communicator.size);
    facts.known_world = std::max(facts.known_world, communicator.size);
    const std::vector<int> odd = odd_launchers(communicator);
    for (const RasMember& member : communicator.members) {
      if (member.global >= 0 && member.pid >= 0)
        facts.processes.try_emplace(member.global, ProcessPlace{member.host, member.pid});
      if (std::binary_search(odd.begin(), odd.end(), member.global)) {
        state(LogStatement::What::RasOdd, member, "launched other operations than the others");
      }
    }
    // If most ranks have called the end of the communicator, they wait for the other ranks.
    const auto leaving = std::ranges::count_if(communicator.members, &RasMember::has_left);
    const auto staying = std::ranges::count_if(communicator.members, [](const RasMember& member) {
      return !member.has_left && !member.is_missing && member.global >= 0;
    });
    for (const RasMember& member : communicator.members) {
      const bool stays = !member.has_left && !member.is_missing && member.global >= 0;
      if (leaving < staying || leaving == 0 || !stays) continue;
      state(LogStatement::What::RasStatus, member, "has not called ncclCommFinalize");
      facts.statements.back().detail = "no call of ncclCommFinalize or ncclCommDestroy";
    }
    for (const RasMember& member : communicator.members) {
      const bool is_odd = member.is_missing || member.error != 0;
      if (!is_odd || member.global < 0 || named.size() >= kMost) continue;
      if (!named.insert(member.global).second) continue;
      if (member.is_dead) {
        state(LogStatement::What::RasDead, member, "considered_dead");
      } else if (member.is_missing) {
        state(LogStatement::What::RasSilent, member, "among missing_ranks");
      } else if (member.error != kRemoteError) {
        state(LogStatement::What::RasError, member, "holds " + job::nccl_result_text(member.error));
        facts.statements.back().detail = job::nccl_result_text(member.error);
      }
    }
  }
  if (has_moved(reports)) {
    facts.moved =
        "ranks launched or completed more calls between the first report of ncclras and the last";
  }
}

/// Adds calls from logs for ranks without a dump. Without any dump, COLL lines come first: they list every call. With
/// dumps, a watchdog's line comes first, as it shows the call that the rank waits in; a COLL line shows only that a
/// call was made.
void add_from_logs(std::vector<RankDump>& dumps, const LogFacts& facts) {
  if (dumps.empty()) {
    add_absent(dumps, facts.lines_as_dumps);
    // Watchdogs report which call has not ended; the program's own lines, if they are of more ranks, show how these
    // calls differ.
    const bool has_more =
        facts.stated_calls.size() > facts.dumps.size() &&
        std::all_of(facts.stated_calls.begin(), facts.stated_calls.end(), [](const RankDump& one) {
          return one.calls.empty() || !one.calls.back().is_p2p;
        });
    if (!has_more) add_absent(dumps, facts.dumps);
    if (dumps.empty()) add_absent(dumps, facts.stated_calls);
  } else {
    add_absent(dumps, facts.dumps);
    std::vector<RankDump> lines = facts.lines_as_dumps;
    for (RankDump& dump : lines) {
      for (Call& call : dump.calls) call.state = CallState::Completed;
    }
    add_absent(dumps, lines);
  }
  std::stable_sort(dumps.begin(), dumps.end(),
                   [](const RankDump& a, const RankDump& b) { return a.rank < b.rank; });
}

/// Draws the conclusions. `all` already contains its files, names, dumps and facts.
void conclude(Examination& all, std::vector<RasReport> reports) {
  reports.insert(reports.end(), all.facts.reports.begin(), all.facts.reports.end());
  sort_by_time(reports);
  drop_aftermath(reports);
  state_reports(reports, all.facts);
  all.facts.reports = reports;
  const bool has_dumps = !all.dumps.empty();
  if (has_dumps) all.facts.moved.clear();  // the reports were made later than the dumps
  std::vector<RankDump> launched = ras_dumps(reports, *all.names, all.dumps);
  add_from_logs(all.dumps, all.facts);
  // With logs alone, no line shows which group of the dumps a communicator is.
  if (has_dumps || all.dumps.empty()) add_absent(all.dumps, launched);
  std::stable_sort(all.dumps.begin(), all.dumps.end(),
                   [](const RankDump& a, const RankDump& b) { return a.rank < b.rank; });
  if (all.dumps.empty()) {
    for (const auto& [rank, notes] : all.facts.notes) {
      if (notes.has_stack) all.facts.world = std::max(all.facts.world, rank + 1);
    }
  }
  all.job = std::make_unique<Job>(*all.names, all.dumps, all.later, all.facts.world);
  for (const auto& [rank, notes] : all.facts.notes) {
    if (rank >= 0 && rank < all.job->world()) all.job->rank(rank).notes = notes;
  }
  all.wait_state = wait_state_of(*all.job);
  all.verdict = decide(*all.job, all.facts, {all.connections, all.has_both_ends});
}

}  // namespace

Result<Examination> examine(const std::vector<std::string>& arguments) {
  Examination all;
  RINGSIDE_TRY(Inputs inputs, find_inputs(arguments));
  all.files = std::move(inputs.files);
  const bool is_all_unknown = std::ranges::all_of(
      all.files, [](const InputFile& file) { return file.kind == FileKind::Other; });
  if (is_all_unknown && !inputs.unread.empty()) return inputs.unread.front().error;
  all.names = std::make_unique<Names>();
  Dumps read = load_dumps(all.files, *all.names);
  Traces traces = load_traces(all.files, *all.names);
  read.bad.insert(read.bad.end(), traces.bad.begin(), traces.bad.end());
  if (read.dumps.empty() && traces.recorded.empty() && traces.dumps.empty() && !read.bad.empty()) {
    return read.bad.front().error;
  }
  all.dumps = std::move(read.dumps);
  if (all.dumps.empty()) all.dumps = load_recording_dumps(all.files, *all.names, read.bad);
  // Traces replace the dumps of a job that has none: the two number their calls differently. Dumps in a trace precede
  // its events, which lack calls that were queued.
  if (all.dumps.empty()) all.dumps = std::move(traces.recorded);
  if (all.dumps.empty()) {
    all.dumps = std::move(traces.dumps);
    all.connections = std::move(traces.connections);
  }
  all.later = std::move(read.later);
  all.bad = std::move(read.bad);
  all.bad.insert(all.bad.end(), inputs.unread.begin(), inputs.unread.end());
  all.facts = read_log_facts(all.files, *all.names, all.dumps);
  std::vector<LogStatement> reasons = reasons_of(all.dumps, *all.names);
  all.facts.statements.insert(all.facts.statements.end(), std::make_move_iterator(reasons.begin()),
                              std::make_move_iterator(reasons.end()));
  if (all.connections.empty()) {
    all.connections = connections_of(all.dumps);
    all.has_both_ends = !all.connections.empty();
  }
  read_stacks(all.files, all.facts, all.bad);
  conclude(all, load_ras_reports(all.files, all.bad));
  const auto show = [&](Explanation& one) {
    for (Evidence& evidence : one.evidence) evidence.file = shown_name(all.files, evidence.file);
  };
  show(all.verdict.best);
  for (Explanation& other : all.verdict.others) show(other);
  return all;
}

Status check_anything_read(const Examination& all, const std::vector<std::string>& arguments) {
  const bool says_nothing = all.facts.notes.empty() && all.facts.statements.empty() &&
                            all.facts.stacks.empty() && all.facts.reports.empty();
  if (!all.dumps.empty() || all.facts.lines != 0 || !says_nothing) return {};
  return Error{
      ErrorCode::NotFound,
      (arguments.front() == "-" ? "standard input" : arguments.front()) + ": no dump and no log",
      "dumps are PyTorch's Flight Recorder files (nccl_trace_rank_0, comm_lib_trace_rank_0, "
      "or their JSON)"};
}

Examination examine_records(std::span<const AttributedRecord> records, const WhereFunction& where,
                            const KnownJob& known) {
  Examination all;
  all.names = std::make_unique<Names>();
  all.facts = read_log_records(records, where, known, *all.names);
  conclude(all, {});
  return all;
}

}  // namespace ringside::hang
