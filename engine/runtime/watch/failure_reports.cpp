#include "engine/runtime/watch/failure_reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "base/text.h"

namespace ringside {
namespace {

/// Returns the order of preference among causes of the same moment; equal for the same cause that arrives twice.
std::tuple<int, int> precedence(const WatchMessage& report) {
  if (report.dead != kNoRank) return {0, to_int(report.dead)};
  switch (report.error.code) {
    case ErrorCode::PeerGone:
      return {3, to_int(report.origin)};
    case ErrorCode::Aborted:
      return {2, to_int(report.origin)};  // why a peer is gone
    default:
      return {1, to_int(report.origin)};
  }
}

}  // namespace

Error death_of(const std::vector<int>& dead) {
  std::string text =
      fmt::format("rank {} is gone: its process or host ended without a goodbye", dead.front());
  if (dead.size() > 1) {
    const std::span<const int> rest = std::span(dead).subspan(1);
    text += fmt::format(", and so did rank{} {}", rest.size() > 1 ? "s" : "", format_ranks(rest));
  }
  return {ErrorCode::PeerGone, std::move(text),
          "look at that rank's own messages and exit status; the others stopped because of it"};
}

Error lost_contact(Rank rank, Rank peer, const Error& why) {
  return {ErrorCode::Unreachable,
          fmt::format("rank {} lost rank {} on the watch's connection: {}", to_int(rank),
                      to_int(peer), why.message),
          why.help};
}

bool FailureReports::add(const WatchMessage& report) {
  if (!reports_.emplace(precedence(report), report).second) return false;
  if (report.error.code == ErrorCode::Unreachable) {
    lost_contacts_[to_int(report.origin)] = report.error.message;
  }
  return true;
}

std::vector<int> FailureReports::absent() const {
  std::vector<int> absent;
  if (preferred().error.code != ErrorCode::Timeout) return absent;
  for (int rank = 0; rank < nranks_; ++rank) {
    if (!present_.contains(rank)) absent.push_back(rank);
  }
  return absent;
}

Error FailureReports::cause() const {
  const std::vector<int> dead = deaths();
  const std::vector<int> no_sign = absent();
  const WatchMessage& report = preferred();
  Error cause = dead.size() > 1 ? death_of(dead) : report.error;
  if (!no_sign.empty()) cause = no_answer(no_sign, report.error);
  if (cause.code == ErrorCode::Unreachable) {
    // Both neighbours of a host that is cut off report it.
    for (const auto& [origin, text] : lost_contacts_) {
      if (origin != to_int(report.origin)) cause.message += fmt::format("; {}", text);
    }
  }
  cause.is_reported_elsewhere = !is_reporter(no_sign.empty() ? dead : no_sign);
  return cause;
}

/// Returns whether the report names the death of a rank that itself reports a lost contact, and so is alive.
bool FailureReports::is_denied(const WatchMessage& report) const {
  return report.dead != kNoRank && has_lost_contact(report.dead);
}

/// Returns the ranks whose death is reported and not denied, ascending.
std::vector<int> FailureReports::deaths() const {
  std::vector<int> dead;
  for (const auto& [order, report] : reports_) {
    if (report.dead != kNoRank && !is_denied(report)) dead.push_back(to_int(report.dead));
  }
  return dead;
}

/// Returns the first report that is not denied. A rank that denies its death does so by another report, so there is one.
const WatchMessage& FailureReports::preferred() const {
  return std::ranges::find_if(reports_, [&](const auto& one) { return !is_denied(one.second); })
      ->second;
}

/// Returns the error of ranks that did not report that they are alive. A stopped rank passes nothing on, so only the
/// neighbours of ranks that answered are known to be silent themselves; the ranks behind them may be alive.
/// timeout  what the rank that timed out had waited for
Error FailureReports::no_answer(const std::vector<int>& absent, const Error& timeout) const {
  std::vector<int> silent;
  std::vector<int> unknown;
  for (const int rank : absent) {
    const bool is_next_to_answer = present_.contains((rank + 1) % nranks_) ||
                                   present_.contains((rank + nranks_ - 1) % nranks_);
    (is_next_to_answer ? silent : unknown).push_back(rank);
  }
  const bool are_many = silent.size() > 1;
  std::string text =
      fmt::format("rank{} {} {} not answer: {} stopped, or cannot be reached", are_many ? "s" : "",
                  format_ranks(silent), are_many ? "do" : "does", are_many ? "they are" : "it is");
  if (!unknown.empty()) {
    text += fmt::format("; the state of rank{} {} between them is unknown",
                        unknown.size() > 1 ? "s" : "", format_ranks(unknown));
  }
  return {timeout.code, fmt::format("{} ({})", text, timeout.message),
          "look at its process: ps shows T where it is stopped (kill -CONT), D where the kernel "
          "holds it; then at its host and the network"};
}

/// Returns whether this rank reports to the user: rank 0, and for failed ranks also the next other ranks on both sides
/// of the first one, because one of these may be failing too.
bool FailureReports::is_reporter(const std::vector<int>& failed) const {
  if (failed.empty()) return me_ == Rank{0};
  const auto next_other = [&](int step) {
    int rank = failed.front();
    for (std::size_t i = 0; i < failed.size() && std::ranges::binary_search(failed, rank); ++i) {
      rank = (rank + step + nranks_) % nranks_;
    }
    return rank;
  };
  return to_int(me_) == next_other(1) || to_int(me_) == next_other(-1);
}

}  // namespace ringside
