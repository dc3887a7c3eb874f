#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "diag/hangdetect/readers/statements.h"
#include "diag/hangdetect/verdict/confidence.h"
#include "diag/hangdetect/verdict/end_words.h"
#include "diag/hangdetect/verdict/told.h"

namespace ringside::hang {

using What = LogStatement::What;

Evidence evidence_of(const LogStatement& one) { return {one.file, -1, one.line, one.text}; }

std::vector<const LogStatement*> all_of(const LogFacts& facts, What what) {
  std::vector<const LogStatement*> found;
  for (const LogStatement& one : facts.statements) {
    if (one.what == what) found.push_back(&one);
  }
  return found;
}

std::vector<int> ranks_of(const std::vector<const LogStatement*>& statements) {
  std::set<int> ranks;
  for (const LogStatement* one : statements) ranks.insert(one->ranks.begin(), one->ranks.end());
  return {ranks.begin(), ranks.end()};
}

Explanation told(Kind kind, const std::vector<const LogStatement*>& statements,
                 std::vector<int> ranks, double confidence, std::string why) {
  Explanation out;
  out.kind = kind;
  out.culprits = std::move(ranks);
  out.confidence = confidence;
  out.why = std::move(why);
  for (const LogStatement* one : statements) {
    if (out.evidence.size() < 6) out.evidence.push_back(evidence_of(*one));
  }
  return out;
}

bool has_ended_well(const LogFacts& facts) {
  return facts.run.has_ended && facts.timeouts == 0 && facts.run.waits == 0;
}

std::string where_of(const std::vector<const LogStatement*>& statements) {
  for (const LogStatement* one : statements) {
    if (!one->where.empty()) return one->where;
  }
  return {};
}

namespace {

/// Ranks whose watchdog timed out: they waited, and what ended them then is no cause.
bool has_waited(const LogFacts& facts, int rank) {
  return std::any_of(facts.dumps.begin(), facts.dumps.end(), [&](const RankDump& dump) {
    return dump.rank == rank && std::any_of(dump.calls.begin(), dump.calls.end(),
                                            [](const Call& call) { return call.is_pending(); });
  });
}

constexpr std::int64_t kKilled = -9;

/// Who was killed while the kernel or the container ran out of memory was killed for that.
void add_want_of_memory(const LogFacts& facts, const LogStatement& first, Explanation& death) {
  if (first.detail == kNoMemory) return;  // said already
  std::vector<const LogStatement*> said = all_of(facts, What::HostDeath);
  const auto ended = all_of(facts, What::Ended);
  said.insert(said.end(), ended.begin(), ended.end());
  for (const LogStatement* one : said) {
    if (one->detail != kNoMemory) continue;
    if (!one->ranks.empty() && one->ranks != death.culprits) continue;
    death.why += "; its host or container ran out of memory";
    death.evidence.push_back(evidence_of(*one));
    return;
  }
}

}  // namespace

namespace {

/// Of a statement that a node failed: its name.
std::string_view node_of(const LogStatement& one) {
  const std::string_view detail = one.detail;
  const bool is_named = detail.starts_with(kNodeFailed) && detail.size() > kNodeFailed.size() + 2;
  return is_named ? detail.substr(kNodeFailed.size() + 2) : std::string_view();
}

/// The ranks of a node that failed, where the options of the job's script tell which it had.
std::vector<int> ranks_of_failed_node(const LogFacts& facts,
                                      const std::vector<const LogStatement*>& said) {
  for (const LogStatement* one : said) {
    const std::string_view node = node_of(*one);
    if (node.empty()) continue;
    return one == said.front() ? facts.layout.ranks_of(node) : std::vector<int>{};
  }
  return {};
}

}  // namespace

void add_deaths(const LogFacts& facts, std::vector<Explanation>& out) {
  std::vector<const LogStatement*> own;
  for (const LogStatement* one : all_of(facts, What::Ended)) {
    if (is_consequence(one->code) || one->code == 0 || one->ranks.empty()) continue;
    // A status of 1 of many ranks, or of one that waited, is an exception that the hang itself raised.
    if (one->code > 0 && one->ranks.size() > 2) continue;
    if (one->code > 0 && has_waited(facts, one->ranks.front())) continue;
    // So is that of rank 0, where torch's store lies: it alone waits there for all to come.
    const bool has_waited_at_start = !all_of(facts, What::FewerCame).empty();
    if (one->code > 0 && one->ranks.front() == 0 && has_waited_at_start) continue;
    own.push_back(one);
  }
  if (!own.empty()) {
    std::stable_sort(own.begin(), own.end(), [](const auto* a, const auto* b) {
      return a->time_us != 0 && b->time_us != 0 && a->time_us < b->time_us;
    });
    own.resize(1);
    const std::vector<int> ranks = ranks_of(own);
    const std::int64_t code = own.front()->code;
    const bool is_signal = code < 0 || code == 137 || code == 139;
    const bool is_told = own.front()->detail != kNoStatus;
    const std::string how =
        is_told ? fmt::format(", with {}{}", signal_text(code),
                              own.front()->detail.empty() ? "" : ": " + own.front()->detail)
                : fmt::format(": {}", kNoStatus);
    out.push_back(told(Kind::DeadRank, own, ranks,
                       is_signal && is_told ? confidence::kSignal : confidence::kExitStatus,
                       fmt::format("the process of {} ended first{}", ranks_text(ranks), how)));
    out.back().exit_code = is_told ? code : 0;
    if (!is_told || code == kKilled || code == 128 - kKilled)
      add_want_of_memory(facts, *own.front(), out.back());
    return;
  }
  // A launcher of one host knows local ranks only.
  std::vector<const LogStatement*> local = all_of(facts, What::EndedLocal);
  std::erase_if(local, [](const LogStatement* one) { return is_consequence(one->code); });
  if (!local.empty()) {
    local.resize(1);
    out.push_back(
        told(Kind::DeadRank, local, local.front()->ranks, confidence::kLocalRankOnly,
             fmt::format("the process of local rank {} ended first, with {}; it is the global rank "
                         "too if the job has one host",
                         local.front()->ranks.front(), signal_text(local.front()->code))));
    out.back().exit_code = local.front()->code;
    if (local.front()->code == kKilled) add_want_of_memory(facts, *local.front(), out.back());
    return;
  }
  std::vector<const LogStatement*> some = all_of(facts, What::Crashed);
  const auto outside = all_of(facts, What::HostDeath);
  some.insert(some.end(), outside.begin(), outside.end());
  std::erase_if(some, [](const LogStatement* one) { return is_consequence(one->code); });
  // Of a text that is about no job, the process was any.
  if (some.empty() || !facts.is_of_job) return;
  if (const std::vector<int> ranks = ranks_of_failed_node(facts, some); !ranks.empty()) {
    out.push_back(told(Kind::DeadRank, some, ranks, confidence::kNodeOfRanks,
                       fmt::format("a node failed, {}, which had {} by the scheduler's options",
                                   node_of(*some.front()), ranks_text(ranks))));
    return;
  }
  const std::vector<int> ranks = ranks_of(some);
  const std::string& how = some.front()->detail;
  const std::string where = where_of(some);
  out.push_back(told(
      Kind::DeadRank, some, ranks.size() == 1 ? ranks : std::vector<int>{},
      confidence::kDeathOfNobody,
      fmt::format("{} ended from a signal, or from outside{}; nothing says for sure which rank {}",
                  where.empty() ? "a process" : where, how.empty() ? "" : ": " + how,
                  where.empty() || where.starts_with("process") ? "it was" : "that is")));
  out.back().exit_code = some.front()->code;
}

namespace {

/// Connections that end once the job is ended from outside end with it. In one file the order tells; between files, no
/// clock that we know does.
void forget_ended(const LogFacts& facts, std::vector<const LogStatement*>& lost) {
  for (const LogStatement* end : all_of(facts, What::Cancelled)) {
    std::erase_if(lost, [&](const LogStatement* one) {
      return one->file != end->file || one->line > end->line;
    });
  }
}

}  // namespace

void add_lost(const LogFacts& facts, std::vector<Explanation>& out) {
  // Who has come to its end leaves, and who holds the store leaves first: the others' words of it are of no hang.
  if (has_ended_well(facts)) return;
  auto store = all_of(facts, What::StoreLost);
  forget_ended(facts, store);
  if (!store.empty()) {
    const std::vector<int> losers = ranks_of(store);
    const bool has_root = !losers.empty() && losers.front() == 0;
    std::string host;
    for (const LogStatement* one : store) {
      if (host.empty()) host = one->detail;
    }
    const std::string where = host.empty() ? "" : " on " + host;
    const bool may_name = !has_root && !losers.empty() && !has_waited(facts, 0);
    out.push_back(
        told(Kind::DeadRank, store, may_name ? std::vector<int>{0} : std::vector<int>{},
             facts.timeouts > 0 ? confidence::kConsequence : confidence::kStoreLost,
             fmt::format(
                 "{} lost the connection to the store{}, a consequence: the process that holds it, "
                 "rank 0 or its launcher, went away before",
                 losers.empty() ? "ranks" : ranks_text(losers), where)));
    out.back().missing.push_back("the log of that process: why it ended, and when");
  }
  auto peer = all_of(facts, What::PeerLost);
  forget_ended(facts, peer);
  if (peer.empty()) return;
  const std::vector<int> losers = ranks_of(peer);
  std::vector<int> gone;
  for (const LogStatement* one : peer) {
    const auto named = static_cast<int>(one->code);
    if (named >= 0 && !one->detail.empty() &&
        !std::binary_search(losers.begin(), losers.end(), named))
      gone = {named};
  }
  if (gone.empty() && facts.known_world == 2 && losers.size() == 1) gone = {1 - losers.front()};
  out.push_back(told(Kind::DeadRank, peer, gone,
                     gone.empty() ? confidence::kConsequence : confidence::kPeerLost,
                     fmt::format("{} lost the connection to a peer, which ended before{}",
                                 losers.empty() ? "a rank" : ranks_text(losers),
                                 gone.empty() ? "" : ": " + ranks_text(gone))));
  out.back().missing.push_back("the log and exit status of the peer");
}

}  // namespace ringside::hang
