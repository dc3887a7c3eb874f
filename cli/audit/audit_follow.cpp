#include "cli/audit/audit_follow.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <set>

#include "diag/audit/live_audit.h"

namespace ringside::cli {
namespace {

volatile std::sig_atomic_t g_interrupted = 0;

void interrupt(int) { g_interrupted = 1; }

/// Shows a user at a terminal, once, what is being read and how to end.
void print_state(const audit::LiveAudit& live, const audit::Audit& now) {
  if (::isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "following {} of {} lines; Ctrl-C gives the report\n",
             live.files().files.size() == 1 ? "1 file"
                                            : fmt::format("{} files", live.files().files.size()),
             now.parsed.counts.lines);
}

void print_new(const audit::Audit& now, std::set<std::string>& reported, std::FILE* out) {
  for (const audit::Finding& finding : now.findings) {
    if (finding.severity < audit::Severity::Warning || !reported.insert(finding.id).second)
      continue;
    fmt::print(out, "{}: {}: {}\n", audit::to_string(finding.severity), finding.id, finding.title);
    if (!finding.fix.empty()) fmt::print(out, "  fix: {}\n", finding.fix);
  }
  std::fflush(out);
}

}  // namespace

Result<audit::Audit> follow_logs(const std::vector<std::string>& logs, std::FILE* out,
                                 Clock& clock) {
  RINGSIDE_TRY(const auto live, audit::LiveAudit::make(logs));
  g_interrupted = 0;
  std::signal(SIGINT, interrupt);
  std::signal(SIGTERM, interrupt);
  std::set<std::string> reported;
  bool is_new = false, has_noted = false;
  // A pipe holds 64 KiB: a long sleep after each read makes the writer wait.
  constexpr std::chrono::milliseconds kShortest{1}, kLongest{500};
  std::chrono::milliseconds pause = kShortest;
  // Judging a large job takes long: limit it to a fifth of all time.
  Clock::Time next{};
  while (g_interrupted == 0 && !live->is_over()) {
    if (live->poll().value > 0) {
      is_new = true;
      pause = kShortest;
    } else {
      if (live->files().files.empty() && !has_noted) {
        fmt::print(stderr, "waiting for {}: there is no such file yet\n", logs.front());
        has_noted = true;
      }
      clock.sleep(pause);
      pause = std::min(2 * pause, kLongest);
    }
    if (!is_new || clock.now() < next) continue;
    is_new = false;
    const Clock::Time begin = clock.now();
    const audit::Audit now = live->judge();
    print_new(now, reported, out);
    if (next == Clock::Time{}) print_state(*live, now);
    next = clock.now() + 4 * (clock.now() - begin);
  }
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  live->finish();
  // Report what came after the last look, too.
  audit::Audit last = live->judge();
  RINGSIDE_TRY(check_anything_read(last));
  print_new(last, reported, out);
  return last;
}

}  // namespace ringside::cli
