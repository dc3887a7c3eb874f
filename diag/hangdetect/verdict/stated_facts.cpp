#include "diag/hangdetect/verdict/stated_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/hang_class.h"
#include "diag/hangdetect/readers/statements.h"

namespace ringside::hang {
namespace {

using What = LogStatement::What;
using facts::Activity;
using facts::Basis;
using facts::DeathCause;
using facts::Field;
using facts::LinkState;
using facts::Reporter;

bool says(std::string_view text, std::string_view words) {
  return text.find(words) != std::string_view::npos;
}

/// The fields that every fact has.
template <typename T>
T fact_of(const LogStatement& one, Reporter reporter, Basis basis = Basis::Reported) {
  T fact;
  fact.source = {.file = one.file, .line = one.line, .text = one.text};
  fact.time_us = one.time_us;
  fact.basis = basis;
  fact.reporter = reporter;
  fact.witnesses = one.dump_ranks;
  if (one.ranks.size() == 1) fact.subject.rank = one.ranks.front();
  return fact;
}

class Translation {
 public:
  Translation(const LogFacts& logs, facts::Facts& out) : logs_(logs), out_(out) {}

  void translate() {
    for (const LogStatement& one : logs_.statements) {
      if (take_membership(one) || take_death(one) || take_link(one) || take_busy(one)) continue;
      take_mismatch(one);
    }
    take_rows();
  }

 private:
  void absent(const LogStatement& one, Reporter reporter, Basis basis = Basis::Reported,
              std::int64_t behind = 0) {
    auto fact = fact_of<facts::Member>(one, reporter, basis);
    fact.missing = one.ranks;
    fact.behind = behind;
    out_.members.push_back(std::move(fact));
  }

  bool take_membership(const LogStatement& one) {
    switch (one.what) {
      case What::Laggards:
        absent(one, Reporter::StallInspector);
        return true;
      case What::AnalyserMissing:
        // The first of several entries is the cause: after it, the analyser matches no further calls of the group.
        if (!std::exchange(has_analyser_, true)) absent(one, Reporter::Analyser);
        return true;
      case What::EngineAbsent:
        absent(one, Reporter::Start);
        return true;
      case What::EngineStopped:
        absent(one, Reporter::Engine);
        return true;
      case What::EngineSilent:
        if (!has(What::EngineGone)) absent(one, Reporter::TimeOuts);
        return true;
      case What::StartAbsent:
        absent(one, Reporter::Creation, Basis::Observed);
        return true;
      case What::EndAbsent: {
        auto fact = fact_of<facts::Member>(one, Reporter::Process);
        fact.missing = one.ranks;
        fact.group = fmt::format(
            "no START of ncclCommFinalize or ncclCommDestroy, in which {} of the same host wait",
            one.code == 1 ? "another rank" : fmt::format("{} other ranks", one.code));
        out_.members.push_back(std::move(fact));
        return true;
      }
      case What::NoUniqueId: {
        auto fact = fact_of<facts::Member>(one, Reporter::IdWait, Basis::Observed);
        fact.ranks = one.ranks;
        fact.missing = {0};
        out_.members.push_back(std::move(fact));
        return true;
      }
      case What::RasBehind:
        absent(one, Reporter::Ras, Basis::Reported, std::max<std::int64_t>(one.code, 1));
        return true;
      case What::RasAhead: {
        auto fact = fact_of<facts::Member>(one, Reporter::Ras);
        fact.ranks = one.ranks;
        fact.behind = -1;
        out_.members.push_back(std::move(fact));
        return true;
      }
      case What::RasStatus:
        if (one.detail.starts_with("ABORT")) {
          death(one, Reporter::Ras, DeathCause::Abort, "communicator status " + one.detail);
        } else {
          auto fact = fact_of<facts::Member>(one, Reporter::Ras);
          fact.missing = one.ranks;
          fact.group = "status " + one.detail;
          out_.members.push_back(std::move(fact));
        }
        return true;
      case What::PodWaits: {
        auto fact = fact_of<facts::Member>(one, Reporter::Kubernetes);
        fact.missing = ranks_of_pods(one);
        fact.group = "pod " + one.detail;
        out_.members.push_back(std::move(fact));
        return true;
      }
      case What::LeftGroup: {
        auto fact = fact_of<facts::Member>(one, Reporter::Process, Basis::Observed);
        fact.has_left = true;
        out_.members.push_back(std::move(fact));
        return true;
      }
      default:
        return false;
    }
  }

  /// Returns the ranks of pods. A pod's index is its rank if each pod has one rank; if the job has more ranks, each
  /// pod has an equal number, in order.
  std::vector<int> ranks_of_pods(const LogStatement& one) const {
    const auto pods = static_cast<int>(one.code);
    const bool are_even = pods > 1 && logs_.known_world >= pods && logs_.known_world % pods == 0;
    const int each = are_even ? logs_.known_world / pods : 1;
    std::vector<int> ranks;
    for (const int pod : one.ranks) {
      for (int i = 0; i < each; ++i) ranks.push_back(pod * each + i);
    }
    return ranks;
  }

  void death(const LogStatement& one, Reporter reporter, DeathCause cause, std::string reason,
             Basis basis = Basis::Reported) {
    auto fact = fact_of<facts::Died>(one, reporter, basis);
    fact.cause = cause;
    fact.code = one.code;
    fact.reason = std::move(reason);
    fact.ranks = one.ranks;
    fact.subject.process = one.where;
    out_.deaths.push_back(std::move(fact));
  }

  bool take_death(const LogStatement& one) {
    switch (one.what) {
      case What::Exception:
        death(one, Reporter::Process, DeathCause::Exception, "", Basis::Observed);
        return true;
      case What::RasDead:
        death(one, Reporter::Ras, DeathCause::Unknown, one.detail);
        return true;
      case What::EngineGone:
        death(one, Reporter::Peers, DeathCause::Unknown, "");
        return true;
      case What::RasSilent:
        death(one, Reporter::Ras, DeathCause::Unknown, one.detail);
        out_.deaths.back().is_presumed = true;
        return true;
      case What::RasError:
        death(one, Reporter::Ras, DeathCause::Abort, one.detail);
        return true;
      case What::PodEnded:
        death(one, Reporter::Kubernetes, DeathCause::Evicted, one.detail);
        out_.deaths.back().ranks = ranks_of_pods(one);
        return true;
      default:
        return false;
    }
  }

  bool take_link(const LogStatement& one) {
    const auto fault = [&](LinkState state, std::string what) -> facts::LinkFault& {
      auto fact = fact_of<facts::LinkFault>(one, Reporter::Process);
      fact.state = state;
      fact.what = std::move(what);
      fact.code = one.code;
      out_.link_faults.push_back(std::move(fact));
      return out_.link_faults.back();
    };
    switch (one.what) {
      case What::PeerLost:
        fault(LinkState::Closed, "peer").peer =
            one.detail.empty() ? -1 : static_cast<int>(one.code);
        return true;
      case What::StoreLost:
        fault(LinkState::Closed, "store").peer_host = one.detail;
        return true;
      case What::EngineCut:
        fault(LinkState::Reset, one.text).reporter = Reporter::Engine;
        return true;
      default:
        return false;
    }
  }

  void busy(const LogStatement& one, Activity activity, std::string what, Reporter reporter) {
    auto fact = fact_of<facts::Busy>(one, reporter, Basis::Observed);
    fact.activity = activity;
    fact.what = std::move(what);
    if (one.ranks.empty()) out_.busy.push_back(fact);
    for (const int rank : one.ranks) {
      fact.subject.rank = rank;
      out_.busy.push_back(fact);
    }
  }

  bool take_busy(const LogStatement& one) {
    switch (one.what) {
      case What::Busy:
        busy(one, says(one.detail, "kernel") ? Activity::FileSystem : Activity::Unknown, one.detail,
             Reporter::Process);
        return true;
      case What::Stopped:
        if (one.code == 'Z') {
          death(one, Reporter::ProcessTable, DeathCause::Unknown,
                one.detail.empty() ? "defunct" : one.detail);
        } else {
          busy(one, one.code == 'D' ? Activity::FileSystem : Activity::Stopped, one.detail,
               Reporter::ProcessTable);
        }
        return true;
      case What::GpuIdle:
        busy(one, Activity::Unknown, "", Reporter::GpuTool);
        return true;
      case What::Slow:
        busy(one, Activity::Compute, one.detail,
             one.detail.starts_with("nvidia-smi") ? Reporter::GpuTool : Reporter::Timer);
        return true;
      case What::WatchdogStuck:
        busy(one, Activity::Lock, "", Reporter::Watchdog);
        return true;
      default:
        return false;
    }
  }

  void mismatch(const LogStatement& one, Field field, Reporter reporter) {
    auto fact = fact_of<facts::Mismatch>(one, reporter);
    fact.field = field;
    fact.ranks = one.ranks;
    out_.mismatches.push_back(std::move(fact));
  }

  void take_mismatch(const LogStatement& one) {
    switch (one.what) {
      case What::TensorsCross:
        mismatch(one, Field::Count, Reporter::StallInspector);
        break;
      case What::RasOdd:
        mismatch(one, Field::Operation, Reporter::Ras);
        break;
      case What::Analyser: {
        const bool is_type = says(one.detail, "DTYPE");
        const bool is_op = says(one.detail, "TYPE_MISMATCH") || says(one.detail, "type mismatch");
        mismatch(one,
                 is_type ? Field::DType
                 : is_op ? Field::Operation
                         : Field::Size,
                 Reporter::Analyser);
        break;
      }
      case What::EngineDiffers:
        mismatch(one, Field::Operation, Reporter::Engine);
        break;
      case What::Failure: {
        auto fact = fact_of<facts::Warning>(one, Reporter::Process);
        fact.severity = one.code == kRaised ? facts::Severity::Error : facts::Severity::Warning;
        fact.meaning = one.detail;
        out_.warnings.push_back(std::move(fact));
        break;
      }
      default:
        break;
    }
  }

  /// Adds the statements of the catalogue's rows.
  void take_rows() {
    for (const facts::Died& one : logs_.facts.deaths) {
      // An exception is also stored as a LogStatement, with details of its traceback.
      if (one.cause == DeathCause::Exception || one.cause == DeathCause::Abort) continue;
      out_.deaths.push_back(one);
      facts::Died& death = out_.deaths.back();
      death.is_consequence = death.is_consequence || follows_barrier(death);
      if (death.cause == DeathCause::NodeFailure && death.ranks.empty())
        death.ranks = logs_.layout.ranks_of(death.subject.host);
    }
    for (const facts::Member& one : logs_.facts.members) take_member(one);
    conclude_barrier();
    for (const facts::Mismatch& one : logs_.facts.mismatches) {
      if (is_report(one)) out_.mismatches.push_back(one);
    }
    for (const facts::LinkFault& one : logs_.facts.link_faults) {
      if (is_report(one)) out_.link_faults.push_back(one);
    }
    take_people();
    for (const facts::Busy& one : logs_.facts.busy) {
      if (one.activity == Activity::FileSystem) out_.busy.push_back(one);
    }
  }

  /// Returns whether the death follows from a barrier: when the coordination service has named the ranks that missed
  /// it, the other ranks end, and with them their heartbeats.
  bool follows_barrier(const facts::Died& death) const {
    if (death.cause != DeathCause::Unknown || !death.row.starts_with("jax_")) return false;
    return std::ranges::any_of(logs_.facts.members, [&](const facts::Member& one) {
      const bool is_before =
          one.source.file == death.source.file && one.source.line < death.source.line;
      return one.reporter == Reporter::Coordinator && !one.missing.empty() && is_before &&
             std::ranges::count(one.missing, death.subject.rank) == 0;
    });
  }

  /// Returns whether a library or a service reports the fact, as its row states: then the inference uses that meaning.
  static bool is_report(const facts::Fact& one) { return one.reporter > Reporter::Scheduler; }

  /// Adds reports of a library or a service about which ranks arrived. Other facts about members show which ranks
  /// exist.
  void take_member(facts::Member one) {
    if (!is_report(one) || one.basis == Basis::Person) return;
    one.group.clear();  // the group for which the line is written
    if (one.reporter == Reporter::Barrier && !one.missing.empty()) {
      // Rank 0 counts the others: if the line names rank 0 as missing, rank 0 itself has not arrived.
      std::erase(one.missing, 0);
      if (one.missing.empty()) one.ranks = {0};
      has_barrier_ = has_barrier_ || !one.missing.empty();
    } else if (one.reporter == Reporter::Barrier && one.count < 0) {
      arrivals_.push_back(std::move(one));
      return;
    }
    if (one.missing.empty() && one.count < 0)
      one.count = static_cast<std::int64_t>(one.ranks.size());
    const bool have_all_come = one.missing.empty() && one.size >= 0 && one.count >= one.size;
    if (have_all_come) return;
    out_.members.push_back(std::move(one));
  }

  /// Computes the absent ranks, because monitored_barrier lists the ranks that arrived.
  void conclude_barrier() {
    const auto waiter = std::ranges::find_if(
        arrivals_, [](const facts::Member& one) { return one.subject.is_known(); });
    if (waiter == arrivals_.end() || has_barrier_) return;
    std::set<int> came{waiter->subject.rank};
    bool is_listed = false;
    for (const facts::Member& one : arrivals_) {
      came.insert(one.ranks.begin(), one.ranks.end());
      is_listed = is_listed || !one.subject.is_known();
    }
    facts::Member fact = *waiter;
    for (int rank = 0; is_listed && rank < logs_.known_world; ++rank) {
      if (!came.contains(rank)) fact.missing.push_back(rank);
    }
    fact.ranks.clear();
    if (fact.missing.empty()) {
      fact.ranks = {came.begin(), came.end()};
      fact.count = static_cast<std::int64_t>(came.size());
    }
    out_.members.push_back(std::move(fact));
  }

  /// A person who names two sets of ranks corrects an earlier sentence, or means two jobs: then neither set is used.
  void take_people() {
    std::set<std::vector<int>> named;
    for (const facts::Member& one : logs_.facts.members) {
      if (one.basis == Basis::Person) named.insert(one.missing);
    }
    for (const facts::Member& one : logs_.facts.members) {
      if (one.basis == Basis::Person && named.size() == 1) out_.members.push_back(one);
    }
  }

  [[nodiscard]] bool has(What what) const {
    return std::ranges::any_of(logs_.statements,
                               [what](const LogStatement& one) { return one.what == what; });
  }

  const LogFacts& logs_;
  facts::Facts& out_;
  bool has_analyser_ = false;
  std::vector<facts::Member> arrivals_;  ///< listed by monitored_barrier
  bool has_barrier_ = false;             ///< a report names the ranks that did not arrive
};

}  // namespace

facts::Facts facts_of(const LogFacts& logs) {
  facts::Facts out;
  Translation(logs, out).translate();
  return out;
}

}  // namespace ringside::hang
