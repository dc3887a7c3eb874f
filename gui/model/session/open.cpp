#include "gui/model/session/open.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/temporary.h"
#include "base/text.h"
#include "base/vocabulary.h"
#include "base/wording.h"
#include "diag/audit/audit.h"
#include "diag/hangdetect/examine.h"
#include "diag/hangdetect/verdict/call_names.h"
#include "diag/report/call_table.h"
#include "diag/report/sentences/hang_sentences.h"
#include "gui/model/call_trace.h"
#include "gui/model/views/surround.h"
#include "harness/scenario/scenario.h"
#include "study/audit_replay.h"
#include "study/host_gpu.h"
#include "study/interchange/recorded_trace.h"
#include "study/scenario/scenario_run.h"
#include "trace/merge.h"
#include "trace/sink.h"

namespace ringside::gui {
namespace {

namespace fs = std::filesystem;

bool is_trace(const std::string& path) { return path.ends_with(".rtrace"); }
bool is_scenario(const std::string& path) {
  return path.ends_with(".yaml") || path.ends_with(".yml");
}

Opened from_bytes(std::string title, std::vector<std::byte> bytes, const OnProgress& on_progress) {
  auto kept = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  RINGSIDE_TRY(TraceFile file, TraceFile::parse(*kept, title));
  RINGSIDE_TRY(Replay replay, Replay::make(std::move(file), on_progress));
  auto document = std::make_shared<Document>(make_document(std::move(title), std::move(replay)));
  document->keeps = kept;
  return std::shared_ptr<const Document>(std::move(document));
}

/// Opens the file; for a long one passes its beginning to on_part() first.
Result<TraceFile> open_file(const std::string& path, const std::string& title,
                            const OnPart& on_part) {
  constexpr std::size_t kFirst = 24U << 20;  // bytes, gone over in a tenth of a second
  std::error_code unknown;
  const std::uintmax_t size = fs::file_size(path, unknown);
  if (!on_part || unknown || size <= 2 * kFirst) return TraceFile::open(path);
  RINGSIDE_TRY(TraceFile first, TraceFile::open_begin(path, kFirst));
  RINGSIDE_TRY(Replay replay, Replay::make(first));
  on_part(std::make_shared<const Document>(make_document(title, std::move(replay))));
  return first.whole();
}

void add_verdict(Document& document, const hang::Examination& all);

/// The verdict on a trace that states that calls never ended.
void judge_hang(Document& document, const std::string& path) {
  if (!document.never_ended_ns) return;
  const auto all = hang::examine({path});
  if (all && all->job != nullptr && all->verdict.best.kind != hang::Kind::NotAHang)
    add_verdict(document, *all);
}

Opened open_trace(const std::string& path, const OnProgress& on_progress, const OnPart& on_part) {
  const std::string title = fs::path(path).filename().string();
  RINGSIDE_TRY(TraceFile file, open_file(path, title, on_part));
  RINGSIDE_TRY(Replay replay, Replay::make(std::move(file), on_progress));
  Document document = make_document(title, std::move(replay));
  if (auto known = surround_of(document)) document.surround = *std::move(known);
  judge_hang(document, path);
  return std::make_shared<const Document>(std::move(document));
}

/// Files of one job, one for each host or process: the clocks of several hosts are aligned.
Opened open_traces(const std::vector<std::string>& paths, const OnProgress& on_progress) {
  std::vector<TraceFile> files;
  std::vector<const TraceFile*> places;
  for (const std::string& path : paths) {
    RINGSIDE_TRY(TraceFile file, TraceFile::open(path));
    files.push_back(std::move(file));
  }
  places.reserve(files.size());
  for (const TraceFile& file : files) places.push_back(&file);
  TraceMemorySink sink;
  RINGSIDE_TRY([[maybe_unused]] const TraceMerge merged, merge_traces(places, paths, sink));
  return from_bytes(
      fmt::format("{} and {} more", fs::path(paths.front()).filename().string(), paths.size() - 1),
      sink.bytes(), on_progress);
}

Finding finding_of(const hang::Examination& all) {
  const hang::Explanation& best = all.verdict.best;
  const bool is_fault = best.kind != hang::Kind::NotAHang;
  std::string kind = hang::to_string(best.kind);
  std::ranges::replace(kind, '_', ' ');
  Finding finding{
      .weight = is_fault ? Finding::Weight::Fault : Finding::Weight::Note,
      .title = fmt::format("{}{}", kind,
                           best.culprits.empty() ? "" : ": rank " + format_ranks(best.culprits)),
      .lines = {fmt::format("{} (confidence {:.2f})", hang::why_of(best), best.confidence)},
      .ranks = best.culprits};
  if (!best.call.empty()) finding.lines.push_back("call: " + best.call);
  for (const std::string& line : hang::details_of(best)) finding.lines.push_back(line);
  if (const std::string next = hang::next_of(best, *all.job, all.facts); !next.empty())
    finding.lines.push_back("next: " + next);
  return finding;
}

/// Where each rank of a hung job waits, and for which ranks.
std::vector<WaitingRank> waits_of(const hang::Examination& all) {
  std::vector<WaitingRank> ranks;
  if (all.verdict.best.kind == hang::Kind::NotAHang) return ranks;
  for (std::size_t rank = 0; rank < all.wait_state.waits.size(); ++rank) {
    WaitingRank one{
        .rank = static_cast<int>(rank), .for_whom = all.wait_state.waits[rank], .at = {}};
    one.is_culprit = std::ranges::binary_search(all.verdict.best.culprits, one.rank);
    one.is_dead = one.is_culprit && all.verdict.best.kind == hang::Kind::DeadRank;
    const auto& block = all.wait_state.blocks[rank];
    const hang::Call* const call =
        block ? all.job->find(one.rank, block->group, block->sequence) : nullptr;
    if (call != nullptr) {
      one.at = hang::call_title(*all.job, block->group, *call);
    } else if (block && all.job->rank(one.rank).dump != nullptr) {  // a send or receive
      const auto& calls = all.job->rank(one.rank).dump->calls;
      if (block->call < calls.size())
        one.at = hang::call_title(*all.job, block->group, calls[block->call]);
    }
    // All arrived, and it cannot begin: the ranks that made the correct call wait for the others.
    if (call != nullptr && one.for_whom.empty() && !one.is_culprit)
      one.for_whom = all.verdict.best.culprits;
    ranks.push_back(std::move(one));
  }
  return ranks;
}

/// The latest calls of each rank, by group.
std::vector<Table> tables_of(const hang::Examination& all) {
  constexpr std::size_t kMostTables = 8;
  constexpr std::size_t kMostRows = 64;
  std::vector<Table> tables;
  for (const hang::CallTable& calls : hang::call_tables(all)) {
    if (tables.size() == kMostTables) break;
    Table table{.title = "Latest collectives of " + calls.group, .head = {"ranks"}, .rows = {}};
    for (std::size_t i = 0; i < calls.numbers.size(); ++i)
      table.head.push_back(fmt::format("{} {}", calls.operations[i], calls.numbers[i]));
    for (const hang::CallTable::Row& row : calls.rows) {
      if (table.rows.size() == kMostRows) {
        table.note = fmt::format("{} more rows", calls.rows.size() - kMostRows);
        break;
      }
      Table::Row line{{{format_ranks(row.ranks)}},
                      {Target::Kind::Rank, static_cast<std::uint32_t>(row.ranks.front()), 0, 0}};
      for (const std::string& cell : row.cells) {
        const Ink ink = cell.starts_with("never")   ? Ink::Bad
                        : cell.starts_with("waits") ? Ink::Warn
                                                    : Ink::Text;
        line.cells.push_back({cell, ink == Ink::Text ? 0.0F : 1.0F, Ink::Text, ink});
      }
      table.rows.push_back(std::move(line));
    }
    tables.push_back(std::move(table));
  }
  for (const hang::TransferTable& transfers : hang::transfer_tables(all)) {
    if (tables.size() == kMostTables) break;
    Table table{.title = "Newest sends and receives in " + transfers.group,
                .head = {"rank", "oldest"},
                .rows = {}};
    std::size_t most = 1;
    for (const auto& row : transfers.rows) most = std::max(most, row.cells.size());
    table.head.resize(1 + most);
    if (most > 1) table.head.back() = "newest";
    for (const auto& row : transfers.rows) {
      if (table.rows.size() == kMostRows) {
        table.note = fmt::format("{} more rows", transfers.rows.size() - kMostRows);
        break;
      }
      Table::Row line{{{fmt::format("{}", row.rank)}},
                      {Target::Kind::Rank, static_cast<std::uint32_t>(row.rank), 0, 0}};
      for (const std::string& cell : row.cells) {
        const bool waits = cell.ends_with("waits");
        line.cells.push_back({cell, waits ? 1.0F : 0.0F, Ink::Text, waits ? Ink::Warn : Ink::Text});
      }
      line.cells.resize(1 + most);
      table.rows.push_back(std::move(line));
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

Result<Document> document_of(CallTrace trace, std::string title) {
  RINGSIDE_TRY(const auto opened, from_bytes(std::move(title), std::move(trace.bytes), {}));
  Document document = *opened;
  document.waits_until = std::move(trace.waits_until);
  name_communicators(document, std::move(trace.communicators));
  for (CallFacts& call : document.calls) call.never_ended = call.time.end_ns == trace.endless_ns;
  return document;
}

void add_verdict(Document& document, const hang::Examination& all) {
  document.findings.insert(document.findings.begin(), finding_of(all));
  document.waits = waits_of(all);
  document.call_tables = tables_of(all);
}

Opened open_dumps(const std::vector<std::string>& paths) {
  RINGSIDE_TRY(const hang::Examination all, hang::examine(paths));
  RINGSIDE_TRY(CallTrace trace, trace_of(*all.job));
  RINGSIDE_TRY(Document document,
               document_of(std::move(trace), fs::path(paths.front()).filename().string()));
  if (document.calls.empty()) {
    return Error{ErrorCode::NotFound, fmt::format("{}: no dump that names a call", paths.front()),
                 "ringside hang shows what else the files contain"};
  }
  add_verdict(document, all);
  return std::make_shared<const Document>(std::move(document));
}

/// Calls that other tools recorded. Their verdict is shown if the job hung.
Opened open_recordings(const std::vector<std::string>& paths, const OnProgress& on_progress) {
  RINGSIDE_TRY(study::RecordedTrace trace, study::trace_of_recordings(paths));
  std::string title = fs::path(paths.front()).filename().string();
  if (paths.size() > 1) title += fmt::format(" and {} more", paths.size() - 1);
  RINGSIDE_TRY(const auto opened, from_bytes(title, std::move(trace.bytes), on_progress));
  auto document = std::make_shared<Document>(*opened);
  document->findings.push_back({.weight = Finding::Weight::Note,
                                .title = "Recorded by " + trace.tools,
                                .lines = std::move(trace.notes),
                                .ranks = {}});
  const auto examined = hang::examine(paths);
  if (examined && examined->job != nullptr && examined->verdict.best.kind != hang::Kind::NotAHang &&
      examined->verdict.best.kind != hang::Kind::Unknown)
    add_verdict(*document, *examined);
  return std::shared_ptr<const Document>(std::move(document));
}

/// more  what is known of it in addition to its calls
Opened open_scenario(Scenario scenario, const std::vector<Finding>& more = {}) {
  RINGSIDE_TRY(const TemporaryFolder folder, TemporaryFolder::make("gui"));
  const std::string name = scenario.name;
  const std::string about = scenario.about;
  const std::string files = folder.path() + "/job";
  RINGSIDE_TRY(
      const study::ScenarioOutcome outcome,
      study::run_scenario({.scenario = std::move(scenario), .folder = files, .keeps_calls = true}));
  Finding said{.weight = Finding::Weight::Note,
               .title = fmt::format("Simulated: {}", name),
               .lines = {},
               .ranks = {}};
  if (!about.empty()) said.lines.push_back(about);
  said.lines.push_back(fmt::format("outcome: {}", study::to_string(outcome.end)));
  if (outcome.times) {
    said.lines.push_back(
        fmt::format("a step takes {}, {} of it in calls that no computation overlaps",
                    format_time(outcome.times->step), format_time(outcome.times->exposed)));
  }
  RINGSIDE_TRY(CallTrace trace, trace_of(outcome));
  RINGSIDE_TRY(Document document, document_of(std::move(trace), name));
  document.findings.push_back(std::move(said));
  document.findings.insert(document.findings.end(), more.begin(), more.end());
  if (outcome.end == study::ScenarioOutcome::End::Hang) {
    RINGSIDE_TRY(const hang::Examination all, hang::examine({files}));
    add_verdict(document, all);
  }
  return std::make_shared<const Document>(std::move(document));
}

// ---- logs --------------------------------------------------------------------------------------

Finding finding_of(const audit::Finding& found) {
  Finding finding{.weight = found.severity >= audit::Severity::Error     ? Finding::Weight::Fault
                            : found.severity >= audit::Severity::Warning ? Finding::Weight::Warning
                                                                         : Finding::Weight::Note,
                  .title = found.title,
                  .lines = {},
                  .ranks = found.ranks};
  if (!found.cause.empty()) finding.lines.push_back(found.cause);
  if (!found.fix.empty()) finding.lines.push_back("fix: " + found.fix);
  return finding;
}

/// Returns the findings in logs whose calls cannot be shown, for the reason `why`.
Opened open_findings(const std::vector<std::string>& paths, const Error& why) {
  const auto audited = audit::audit_logs(paths, {});
  if (!audited || audited->findings.empty()) return why;
  const TraceMemorySink nothing;
  RINGSIDE_TRY(const auto opened,
               from_bytes(fs::path(paths.front()).filename().string(), nothing.bytes(), {}));
  auto document = std::make_shared<Document>(*opened);
  for (const audit::Finding& one : audited->findings) document->findings.push_back(finding_of(one));
  document->findings.push_back({.weight = Finding::Weight::Note,
                                .title = "The calls of the job are not shown",
                                .lines = {why.message, why.help},
                                .ranks = {}});
  return std::shared_ptr<const Document>(std::move(document));
}

/// Logs have no times of a call's steps: the calls are simulated on the hosts that the logs describe.
Opened open_logs(const std::vector<std::string>& paths, const std::string& cluster) {
  RINGSIDE_TRY(const TemporaryFolder folder, TemporaryFolder::make("gui"));
  auto logged =
      study::job_of_logs({.logs = paths, .cluster = cluster, .folder = folder.path() + "/hosts"});
  if (!logged) return open_findings(paths, logged.error());
  study::LoggedJob job = *std::move(logged);
  Finding source{.weight = Finding::Weight::Note,
                 .title = "Simulated: the calls that were logged, on " + job.source,
                 .lines = std::move(job.unknown),
                 .ranks = {}};
  std::vector<Finding> findings{std::move(source)};
  for (const audit::Finding& one : job.findings) findings.push_back(finding_of(one));
  RINGSIDE_TRY(const auto opened, open_scenario(std::move(job.scenario), findings));
  auto document = std::make_shared<Document>(*opened);
  document->title = fs::path(paths.front()).filename().string() + ", simulated";
  return std::shared_ptr<const Document>(std::move(document));
}

}  // namespace

Opened open_paths(const std::vector<std::string>& paths, const OnProgress& on_progress,
                  const OnPart& on_part, const std::string& cluster) {
  if (paths.empty()) {
    return Error{ErrorCode::InvalidArgument, "nothing to show",
                 "name a trace, a scenario, or a folder of dumps or logs"};
  }
  if (std::ranges::all_of(paths, is_trace)) {
    return paths.size() == 1 ? open_trace(paths.front(), on_progress, on_part)
                             : open_traces(paths, on_progress);
  }
  if (paths.size() == 1 && is_scenario(paths.front())) {
    RINGSIDE_TRY(Scenario scenario, load_scenario(paths.front(), study::scenario_reading()));
    return open_scenario(std::move(scenario));
  }
  if (std::ranges::any_of(paths, is_trace)) {
    return Error{ErrorCode::InvalidArgument, "traces and other files of one job at once",
                 "name the traces alone, or the dumps and logs alone"};
  }
  if (study::are_recordings(paths)) return open_recordings(paths, on_progress);
  Opened dumps = open_dumps(paths);
  if (dumps || dumps.error().code != ErrorCode::NotFound) return dumps;
  return open_logs(paths, cluster);
}

Opened open_simulation(const study::SimQuestion& question, const OnProgress& on_progress) {
  RINGSIDE_TRY(const study::SimPlan plan, study::plan_simulation(question));
  if (plan.calls.sizes.size() != 1) {
    return Error{ErrorCode::InvalidArgument, fmt::format("{} sizes", plan.calls.sizes.size()),
                 "give one: --bytes 64M"};
  }
  RINGSIDE_TRY(study::SimCall call, study::tune_call(plan, plan.calls.sizes.front()));
  TraceMemorySink sink;
  const study::SimExtras extras{.progress =
                                    [&](double share) {
                                      if (on_progress) on_progress(share);
                                    },
                                .trace = &sink};
  RINGSIDE_TRY(const study::SimRow row, study::simulate_call(plan, std::move(call), extras));
  RINGSIDE_TRY(const auto opened,
               from_bytes(fmt::format("{} on {}, simulated", to_string(plan.calls.collective),
                                      fs::path(question.job.on).filename().string()),
                          sink.bytes(), {}));
  auto document = std::make_shared<Document>(*opened);
  document->surround = surround_of(plan, row, *document->replay);
  return std::shared_ptr<const Document>(std::move(document));
}

Opened open_lesson(const Lesson& lesson, const OnProgress& on_progress) {
  std::shared_ptr<const Document> opened;
  if (lesson.scenario.empty()) {
    RINGSIDE_TRY(opened, open_simulation(lesson.question, on_progress));
  } else {
    RINGSIDE_TRY(Scenario scenario, parse_scenario(lesson.scenario, lesson.name + ".yaml"));
    RINGSIDE_TRY(opened, open_scenario(std::move(scenario)));
  }
  auto document = std::make_shared<Document>(*opened);
  document->title = lesson.title;
  document->captions = captions_of(lesson, *document);
  return std::shared_ptr<const Document>(std::move(document));
}

}  // namespace ringside::gui
