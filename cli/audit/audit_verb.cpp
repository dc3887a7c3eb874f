#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/json.h"
#include "base/text.h"
#include "base/write_file.h"
#include "cli/audit/audit_follow.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "diag/audit/audit.h"
#include "diag/audit/cost.h"
#include "diag/audit/expected_job.h"
#include "diag/report/audit_report.h"
#include "engine/topology/sources/nccl_xml.h"

namespace ringside::cli {
namespace {

struct AuditArguments {
  std::vector<std::string> logs;
  std::vector<std::string> diff;
  std::string html;
  std::string about;
  std::string topo;
  std::string cluster;
  std::string color = "auto";
  int threads = 0;
  bool json = false, facts = false, matrix = false, explain_unparsed = false;
  bool follow = false, verbose = false;
};

audit::TextStyle style_of(const AuditArguments& arguments) {
  audit::TextStyle style;
  winsize window{};
  const bool is_terminal = ::isatty(STDOUT_FILENO) == 1;
  constexpr int kNarrowest = 40, kWidest = 160;
  if (is_terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0) {
    style.width = std::clamp(static_cast<int>(window.ws_col), kNarrowest, kWidest);
  }
  style.has_colour = arguments.color == "always" ||
                     (arguments.color == "auto" && is_terminal && !env_text("NO_COLOR"));
  style.is_verbose = arguments.verbose;
  return style;
}

/// Shows how much has been read, once reading has taken a second; nothing where stderr is no terminal.
class ReadProgress {
 public:
  void operator()(Bytes done) {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (!is_terminal_ || now < next_) return;
    next_ = now + std::chrono::milliseconds{200};
    is_drawn_ = true;
    const double gb = static_cast<double>(done.value) / 1e9;
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    fmt::print(stderr, "\r{:6.2f} GB read, {:5.2f} GB/s ", gb, gb / seconds);
  }
  void erase() {
    if (is_drawn_) fmt::print(stderr, "\r{:40}\r", "");
  }

 private:
  std::mutex mutex_;
  bool is_terminal_ = ::isatty(STDERR_FILENO) == 1;
  bool is_drawn_ = false;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point next_ = begin_ + std::chrono::seconds{1};
};

Result<audit::Audit> read_logs(const std::vector<std::string>& logs, int threads) {
  ReadProgress progress;
  audit::AuditOptions options;
  options.threads = threads;
  options.progress = [&progress](Bytes done) { progress(done); };
  Result<audit::Audit> audited = audit::audit_logs(logs, options);
  progress.erase();
  return audited;
}

VerbResult run_diff(const AuditArguments& arguments) {
  RINGSIDE_TRY(const audit::Audit before, read_logs({arguments.diff[0]}, arguments.threads));
  RINGSIDE_TRY(const audit::Audit after, read_logs({arguments.diff[1]}, arguments.threads));
  fmt::print("{}", arguments.json ? to_text(audit::diff_json(before, after))
                                  : audit::diff_text(before, after, style_of(arguments)));
  return after.worst() >= audit::Severity::Warning && before.worst() < after.worst() ? kFinding
                                                                                     : kFine;
}

/// Writes the host that the logs describe as a file that --on takes.
VerbResult write_topology(const audit::Audit& audited, const AuditArguments& arguments) {
  RINGSIDE_TRY(const audit::ExpectedJob job, audit::expected_job(audited.facts, arguments.cluster));
  const std::string xml = to_nccl_xml(job.hosts.runs.front().host);
  if (arguments.topo == "-") {
    fmt::print("{}", xml);
    return kFine;
  }
  RINGSIDE_TRY(write_file(arguments.topo, xml));
  const int domain = job.hosts.hosts_per_nvl_domain;
  fmt::print("{}: from {}\nringside topo --on {} --nodes {}{}{}\n", arguments.topo, job.source,
             arguments.topo, job.hosts.runs.front().count,
             domain > 1 ? fmt::format(" --nvl-domain {}", domain) : std::string(),
             job.release.is_said ? " --nccl " + job.release.name : std::string());
  return kFine;
}

VerbResult run_audit(const AuditArguments& arguments) {
  if (!arguments.about.empty()) {
    RINGSIDE_TRY(const std::string page, audit::about_text(arguments.about));
    fmt::print("{}", page);
    return kFine;
  }
  if (!arguments.diff.empty()) return run_diff(arguments);
  if (arguments.logs.empty()) {
    return Error{ErrorCode::InvalidArgument, "no logs were named",
                 "ringside audit logs/ (files, folders, globs, - for stdin)"};
  }
  const audit::TextStyle style = style_of(arguments);
  // With --json, messages must not mix with the document.
  RINGSIDE_TRY(audit::Audit audited,
               arguments.follow ? follow_logs(arguments.logs, arguments.json ? stderr : stdout)
                                : read_logs(arguments.logs, arguments.threads));
  if (arguments.follow && !arguments.json) fmt::print("\n");
  if (!arguments.topo.empty()) return write_topology(audited, arguments);
  const Result<std::string> costs = audit::add_costs(audited, arguments.cluster);
  if (!costs && !arguments.cluster.empty()) return costs.error();
  if (!arguments.html.empty())
    RINGSIDE_TRY(write_file(arguments.html, audit::report_html(audited)));
  if (arguments.json) {
    fmt::print("{}", to_text(audit::report_json(audited)));
  } else if (arguments.facts) {
    fmt::print("{}", audit::facts_text(audited, style));
  } else if (arguments.matrix) {
    fmt::print("{}", audit::matrix_text(audited, style));
  } else if (arguments.explain_unparsed) {
    fmt::print("{}", audit::unparsed_text(audited, style));
  } else {
    fmt::print("{}", audit::report_text(audited, style));
  }
  return audited.worst() >= audit::Severity::Warning ? kFinding : kFine;
}

}  // namespace

Verb audit_verb() {
  return {
      "audit",
      "Read the debug logs of a whole job: what is wrong, what it costs, what to change",
      {"ringside audit logs/*.log", "ringside audit --facts logs/"},
      [](Options& app) {
        auto arguments = std::make_shared<AuditArguments>();
        AuditArguments& a = *arguments;
        app.add_option("logs", a.logs,
                       "files, folders, globs, or - for stdin; gzip and zstd are read");
        app.add_flag("--json", a.json, "one JSON document on stdout");
        app.add_output("--html", a.html, ContentKind::WebPage,
                       "also write the report as one page to this file");
        app.add_option("--cluster", a.cluster,
                       "the hosts that are expected: a preset, an XML or host YAML (default: as "
                       "the logs show)");
        app.add_output("--topo", a.topo, ContentKind::TopologyXml,
                       "write the host's topology to this file (- is stdout), for --on");
        app.add_flag("--facts", a.facts,
                     "the facts of the job in the logs, instead of what is wrong");
        app.add_flag("--matrix", a.matrix, "rank by rank, the transport from one to the other");
        app.add_flag("--explain-unparsed", a.explain_unparsed, "what was not understood, by kind");
        app.add_option("--about", a.about,
                       "print what a finding means, how to confirm and fix it: its id, or all");
        app.add_option("--diff", a.diff, "GOOD BAD: what changed between the logs of two runs")
            ->expected(2);
        app.add_flag("-f,--follow", a.follow, "go on reading while the files grow");
        app.add_flag("-v,--verbose", a.verbose, "notes in full, and all lines that are quoted");
        app.add_option("--threads", a.threads, "workers (default: one a core)")->check_range(1, 64);
        app.add_option("--color", a.color, "auto, always, never")
            ->check_words({"auto", "always", "never"})
            ->capture_default_str();
        return [arguments] { return run_audit(*arguments); };
      }};
}

}  // namespace ringside::cli
