#include "diag/audit/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <set>

#include "base/cores.h"
#include "diag/audit/cost.h"
#include "diag/audit/finding_types.h"
#include "diag/audit/findings.h"
#include "diag/audit/join.h"
#include "diag/audit/rules/rule.h"
#include "diag/audit/shard.h"
#include "diag/facts/reader.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// A shard costs memory and a buffer, so small inputs use fewer shards.
int shards_for(Bytes total, int threads) {
  constexpr std::uint64_t kWorthAThread = std::uint64_t{4} << 20;  // bytes of input
  const int most = std::min(worker_count(threads), 64);
  const auto worth = static_cast<int>(std::min<std::uint64_t>(total.value / kWorthAThread + 1, 64));
  return std::min(most, worth);
}

/// Adds the file's name unless the problem already begins with it.
Error error_of(const InputProblem& problem, ErrorCode code) {
  const bool is_named = problem.what.starts_with(problem.file + ":");
  return {code, is_named ? problem.what : fmt::format("{}: {}", problem.file, problem.what),
          problem.help};
}

}  // namespace

std::string Audit::place_text(Place place) const {
  const FileLine at = where(place);
  const std::string name = at.file < files.files.size() ? files.files[at.file].name : "?";
  return fmt::format("{}:{}", name, at.line);
}

bool Audit::has(std::string_view id, Severity at_least) const {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
    return is_a(finding.id, id) && finding.severity >= at_least;
  });
}

Severity Audit::worst() const {
  Severity worst = Severity::Info;
  for (const Finding& finding : findings) worst = std::max(worst, finding.severity);
  return worst;
}

namespace {

struct Rule {
  void (*look)(const JobFacts& facts, Findings& findings);
  std::string_view reference;
};

constexpr Rule kRules[] = {
#define RINGSIDE_RULE(look, reference) {look, reference},
#include "diag/audit/rules/rules.def"
};

/// Several lines may name one rank.
void name_each_once(std::vector<std::int32_t>& ranks) {
  std::set<std::int32_t> named;
  std::erase_if(ranks, [&](std::int32_t rank) { return !named.insert(rank).second; });
}

}  // namespace

std::vector<Finding> judge(const JobFacts& facts) {
  Findings findings(facts);
  for (const Rule& rule : kRules) {
    const std::size_t before = findings.all().size();
    rule.look(facts, findings);
    for (std::size_t i = before; i < findings.all().size(); ++i) {
      Finding& finding = findings.all()[i];
      if (finding.reference.empty()) finding.reference = rule.reference;
      name_tools_of_vendor(facts, finding);
      name_each_once(finding.ranks);
    }
  }
  weigh_against_text(facts, findings);
  return order_by_cause(std::move(findings.all()));
}

namespace {

/// Returns the number of lines that NCCL's own rows match and that have no prefix of its log, such as those of its
/// diagnostics.
std::size_t count_row_lines(const facts::Facts& stated) {
  std::set<logs::Place> places;
  const auto add = [&places](const facts::Fact& fact) {
    if (fact.row.starts_with("nccl_")) places.insert(fact.source.place);
  };
  std::ranges::for_each(stated.warnings, add);
  std::ranges::for_each(stated.capabilities, add);
  std::ranges::for_each(stated.deaths, add);
  return places.size();
}

}  // namespace

void join_and_judge(std::vector<std::unique_ptr<Shard>> shards, Audit& audit) {
  audit.facts = join_shards(std::move(shards));
  facts::settle(audit.facts.stated, [&](Place place) {
    const FileLine at = audit.where(place);
    const std::string name =
        at.file < audit.files.files.size() ? audit.files.files[at.file].name : "?";
    return std::pair(name, static_cast<std::int64_t>(at.line));
  });
  audit.facts.torn_lines = audit.parsed.counts.torn;
  audit.facts.lines = audit.parsed.counts.lines;
  audit.facts.pieces = audit.parsed.pieces;
  for (int kind = 0; kind < kRecordKinds; ++kind) {
    if (static_cast<RecordKind>(kind) < RecordKind::Unknown)
      audit.facts.stack_lines += audit.parsed.counts.records[static_cast<std::size_t>(kind)];
  }
  if (audit.facts.stack_lines == 0) {
    audit.facts.stack_lines = count_row_lines(audit.facts.stated);
  }
  predict_tables(audit.facts, "");
  audit.findings = judge(audit.facts);
  for (const UnreadReport& report : audit.facts.unread_reports) {
    const FileLine at = audit.where(report.place);
    audit.parsed.problems.push_back(
        {audit.files.files[at.file].name,
         report.is_too_large ? fmt::format("the JSON report from line {} on is larger than {} MiB",
                                           at.line, logs::kMaxReport >> 20)
                             : fmt::format("the JSON report from line {} on does not end", at.line),
         report.is_too_large
             ? "let the program report less at once: ncclras without -v, nccl-tests "
               "without the times of single iterations"
             : "the program that wrote it was ended too early; run it again"});
  }
}

Status check_anything_read(const Audit& audit) {
  const ParseCounts& counts = audit.parsed.counts;
  if (counts.bytes == 0) {
    for (const auto* problems : {&audit.files.problems, &audit.parsed.problems}) {
      if (!problems->empty()) return error_of(problems->front(), ErrorCode::Corrupt);
    }
  }
  const auto text = counts.records[static_cast<std::size_t>(RecordKind::Text)];
  const auto all = std::accumulate(counts.records.begin(), counts.records.end(), std::uint64_t{0});
  const bool is_known = all > text;
  // A quarter of the lines or more: in a log only single lines are damaged.
  const bool is_binary = counts.binary > 0 && counts.binary * 4 >= counts.lines;
  if (is_known || (text > 0 && !is_binary)) return {};
  const std::vector<LogFile>& files = audit.files.files;
  std::string where = files.empty() ? "no file" : files.front().name;
  if (where == "-") where = "stdin";
  if (files.size() > 1) where += fmt::format(" and {} more", files.size() - 1);
  if (is_binary) {
    return Error{ErrorCode::Corrupt, where + ": binary data, no log",
                 "omit it, or unpack it first"};
  }
  return Error{ErrorCode::Corrupt,
               where + (counts.bytes == 0 ? ": empty" : ": there is no line with text"),
               "was the job started with NCCL_DEBUG=INFO, and is this where its output goes?"};
}

namespace {

/// Returns the error for logs of several jobs: judged together, their ranks, hosts and settings would be mixed up.
Error several_jobs_error(const Audit& audit, const std::vector<JobOfFiles>& jobs) {
  const auto first_file = [&](const JobOfFiles& job) {
    return audit.files.files[job.files.front()].name;
  };
  constexpr std::size_t kListed = 3;
  std::vector<std::string> names;
  for (const JobOfFiles& job : jobs) {
    const bool is_one = job.files.size() == 1;
    names.push_back(fmt::format("{}{} ({})", first_file(job),
                                is_one ? "" : fmt::format(" and {} more", job.files.size() - 1),
                                plural(static_cast<std::size_t>(job.nranks), "rank", "ranks")));
  }
  return Error{ErrorCode::InvalidArgument,
               fmt::format("these are logs of {} jobs that share no communicator: {}", jobs.size(),
                           list_of(names, kListed)),
               fmt::format("name the files of one job, such as: ringside audit {}",
                           first_file(jobs.front()))};
}

}  // namespace

Result<Audit> audit_logs(const std::vector<std::string>& arguments, const AuditOptions& options) {
  Audit audit;
  audit.files = find_logs(arguments);
  if (audit.files.files.empty()) {
    if (!audit.files.problems.empty())
      return error_of(audit.files.problems.front(), ErrorCode::NotFound);
    return Error{ErrorCode::NotFound, "no logs were named",
                 "name files, folders or globs; - is stdin"};
  }
  std::vector<std::unique_ptr<Shard>> shards;
  std::vector<RecordSink*> sinks;
  for (int i = 0; i < shards_for(audit.files.total(), options.threads); ++i) {
    shards.push_back(std::make_unique<Shard>());
    sinks.push_back(shards.back().get());
  }
  ParseOptions parse;
  parse.progress = options.progress;
  parse.stop = options.stop;
  RINGSIDE_TRY(audit.parsed, parse_logs(audit.files, sinks, parse));
  RINGSIDE_TRY(check_anything_read(audit));
  join_and_judge(std::move(shards), audit);
  const std::vector<JobOfFiles> jobs = separate_jobs(audit.facts);
  if (jobs.size() > 1) return several_jobs_error(audit, jobs);
  return audit;
}

Audit audit_text(std::string_view text, const std::string& name) {
  Audit audit;
  audit.files.files.push_back({.name = name, .size = Bytes{text.size()}});
  std::vector<std::unique_ptr<Shard>> shards;
  shards.push_back(std::make_unique<Shard>());
  audit.parsed = parse_text(text, *shards.front());
  join_and_judge(std::move(shards), audit);
  return audit;
}

}  // namespace ringside::audit
