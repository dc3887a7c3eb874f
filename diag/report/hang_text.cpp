#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/one_line.h"
#include "base/wording.h"
#include "diag/hangdetect/verdict/call_names.h"
#include "diag/hangdetect/verdict/compare_stacks.h"
#include "diag/hangdetect/verdict/decide.h"
#include "diag/report/hang_report.h"
#include "diag/report/sentences/hang_sentences.h"
#include "diag/report/stack_text.h"

namespace ringside::hang {
namespace {

constexpr std::size_t kRows = 40;  ///< rows of the table that fit on a screen
constexpr std::size_t kOthers = 4;

std::string folded(const std::vector<int>& ranks) {
  return ranks.empty() ? "none" : fold_ranks(ranks);
}

/// Returns a name, a path or a line from a file, for use in a line of the report.
std::string shown(std::string text) {
  std::replace(text.begin(), text.end(), '\t', ' ');
  return one_line(text);
}

std::string headline(const Explanation& best) {
  std::string who;
  if (!best.culprits.empty()) {
    who = (best.culprits.size() == 1 ? ": rank " : ": ranks ") + folded(best.culprits);
  } else if (best.kind != Kind::NotAHang) {
    who = ": no single culprit";
  }
  const std::string where = best.call.empty() || best.kind == Kind::NotAHang
                                ? ""
                                : fmt::format(", at {}", shown(best.call));
  return fmt::format("{}{}{} (confidence {:.2f})\n", to_string(best.kind), who, where,
                     best.confidence);
}

std::string wrapped(const std::string& text) {
  constexpr int kWidth = 100;
  return wrap(shown(text), "  ", "  ", kWidth);
}

/// Returns `1st`, `2nd`, `11th`.
std::string ordinal(std::int64_t number) {
  const std::int64_t last = number / 10 % 10 == 1 ? 0 : number % 10;
  return fmt::format("{}{}", number, last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th");
}

std::string evidence_text(const Evidence& one) {
  std::string where = one.file;
  // Calls and lines count from 1, as sequence numbers do.
  if (one.record >= 0) where += fmt::format(", {} record", ordinal(one.record + 1));
  if (one.line > 0) where += fmt::format(":{}", one.line);
  return fmt::format("  {}: {}\n", shown(where), shown(one.text.substr(0, 160)));
}

std::string table_text(const Examination& all) {
  std::vector<PlaceRow> rows = place_rows(all);
  for (PlaceRow& row : rows) row.call = shown(std::move(row.call));
  std::size_t ranks = 5;
  std::size_t call = 9;
  for (const PlaceRow& row : rows) {
    ranks = std::max(ranks, std::min<std::size_t>(24, folded(row.ranks).size()));
    call = std::max(call, row.call.size());
  }
  std::string out = fmt::format("  {:<{}}  {:<{}}  {:<8}  {}\n", "ranks", ranks, "last call", call,
                                "state", "waits for");
  for (std::size_t i = 0; i < rows.size() && i < kRows; ++i) {
    out += fmt::format("  {:<{}}  {:<{}}  {:<8}  {}\n", folded(rows[i].ranks), ranks, rows[i].call,
                       call, rows[i].state, rows[i].waits);
  }
  if (rows.size() > kRows)
    out += fmt::format("  and {} more rows: --json has them\n", rows.size() - kRows);
  return out;
}

std::string read_text(const Examination& all) {
  const std::size_t dumps = dumps_read(all);
  const bool is_trace = std::any_of(all.dumps.begin(), all.dumps.end(),
                                    [](const RankDump& dump) { return dump.version == "trace"; });
  int stacks = 0;
  for (const ProcessStack& one : all.facts.stacks) stacks += one.count;
  // The highest rank that a line names is not evidence of the job's size.
  const std::string ranks = is_world_known(*all.job, all.facts)
                                ? fmt::format("{} of {} ranks", dumps, all.job->world())
                                : fmt::format("{} ranks", dumps);
  std::string out =
      fmt::format("\nread: {} of {}, {}{} lines of logs\n", is_trace ? "traces" : "dumps", ranks,
                  stacks > 0 ? fmt::format("{} stacks, ", stacks) : "", all.facts.lines);
  // With dumps, the logs are additional, and most of their lines are the program's own.
  if (dumps == 0 && all.facts.unread > 0 && all.verdict.best.confidence < 0.8) {
    out += fmt::format("  {} of {} lines not understood\n", all.facts.unread, all.facts.lines);
  }
  std::vector<int> lost;
  for (int rank = 0; rank < all.job->world(); ++rank) {
    const RankView& view = all.job->rank(rank);
    if (view.dump == nullptr || view.is_from_log) lost.push_back(rank);
  }
  if (!lost.empty() && dumps > 0) out += fmt::format("  no dump of {}\n", ranks_text(lost));
  for (const RankDump& dump : all.dumps) {
    if (dump.torn_at)
      out += fmt::format("  {}: ends in the middle of a record\n", shown(dump.path));
  }
  for (const BadFile& bad : all.bad)
    out += fmt::format("  skipped: {}\n", shown(bad.error.message));
  return out;
}

/// Returns the ranks that exist by some evidence. The highest rank that lines name is not the job's size, so lower
/// ranks may not exist.
std::vector<bool> known_ranks(const Examination& all) {
  const Job& job = *all.job;
  const auto world = static_cast<std::size_t>(job.world());
  std::vector<bool> known(world, is_world_known(job, all.facts));
  const auto mark = [&](const std::vector<int>& ranks) {
    for (const int rank : ranks) {
      if (rank >= 0 && rank < job.world()) known[static_cast<std::size_t>(rank)] = true;
    }
  };
  for (const LogStatement& one : all.facts.statements) mark(one.ranks);
  for (const facts::Died& one : all.facts.facts.deaths) {
    mark(one.ranks);
    mark({one.subject.rank});
  }
  for (const ProcessStack& one : all.facts.stacks) mark(one.ranks);
  for (const auto& [rank, notes] : all.facts.notes) mark({rank});
  for (std::size_t rank = 0; rank < world; ++rank)
    known[rank] = known[rank] || job.rank(static_cast<int>(rank)).dump != nullptr;
  mark(all.verdict.best.culprits);
  return known;
}

/// Returns the ranks whose call differs from that of this rank where the verdict's calls do: theirs never matches its own.
std::vector<int> ranks_of_other_calls(const Explanation& best, int rank) {
  std::set<int> others;
  bool is_of_call = false;
  if (best.ground() != Feature::CallsDiffer) return {};
  for (const RanksAt& side : best.places) {
    const bool is_own = std::ranges::find(side.ranks, rank) != side.ranks.end();
    is_of_call |= is_own;
    if (!is_own) others.insert(side.ranks.begin(), side.ranks.end());
  }
  return is_of_call ? std::vector<int>{others.begin(), others.end()} : std::vector<int>{};
}

}  // namespace

std::vector<PlaceRow> place_rows(const Examination& all) {
  const Explanation& best = all.verdict.best;
  const Job& job = *all.job;
  const std::vector<bool> known = known_ranks(all);
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<int>> rows;
  for (int rank = 0; rank < job.world(); ++rank) {
    if (!known[static_cast<std::size_t>(rank)]) continue;
    const RankView& view = job.rank(rank);
    const auto& block = all.wait_state.blocks[static_cast<std::size_t>(rank)];
    std::string call = "-";
    std::string state = "no dump";
    if (view.dump != nullptr) {
      state = "idle";
      std::size_t last = view.group_of_call.size();
      while (last > 0 && view.group_of_call[last - 1] < 0) --last;
      if (block) {
        state = block->is_guess ? "failed" : has_gone_on(job, rank, *block) ? "pending" : "waits";
        call = call_title(job, block->group, view.dump->calls[block->call]);
      } else if (last > 0) {
        call = call_title(job, view.group_of_call[last - 1], view.dump->calls[last - 1]);
      }
    }
    std::vector<int> waits = all.wait_state.waits[static_cast<std::size_t>(rank)];
    std::erase_if(waits, [&](int other) {
      return other < job.world() && !known[static_cast<std::size_t>(other)];
    });
    if (waits.empty() && block) waits = ranks_of_other_calls(best, rank);
    rows[{call, state, waits.empty() ? "" : folded(waits)}].push_back(rank);
  }
  std::vector<PlaceRow> out;
  for (auto& [key, ranks] : rows) {
    out.push_back({std::move(ranks), std::get<0>(key), std::get<1>(key), std::get<2>(key)});
  }
  std::sort(out.begin(), out.end(),
            [](const PlaceRow& a, const PlaceRow& b) { return a.ranks.front() < b.ranks.front(); });
  return out;
}

std::size_t dumps_read(const Examination& all) {
  return static_cast<std::size_t>(
      std::count_if(all.dumps.begin(), all.dumps.end(),
                    [](const RankDump& dump) { return !dump.is_inferred(); }));
}

std::string report_text(const Examination& all) {
  const Explanation& best = all.verdict.best;
  std::string out = headline(best) + wrapped(why_of(best));
  for (const std::string& detail : details_of(best)) out += wrapped("- " + detail);
  if (!best.stack.empty()) {
    const std::string owner = owner_of_stack(best, *all.job, all.facts);
    out += owner.empty() ? "  called from\n" : fmt::format("  stack of {}\n", shown(owner));
    out += stack_text(best.stack);
  }
  out += parting_text(all);
  if (!all.dumps.empty()) out += "\n" + table_text(all);
  if (!best.evidence.empty()) out += "\nevidence\n";
  for (const Evidence& one : best.evidence) out += evidence_text(one);
  if (!all.verdict.others.empty()) out += "\nother hypotheses\n";
  for (std::size_t i = 0; i < all.verdict.others.size() && i < kOthers; ++i) {
    const Explanation& other = all.verdict.others[i];
    out += wrapped(fmt::format("{} {} ({:.2f}): {}", to_string(other.kind), folded(other.culprits),
                               other.confidence, against_of(best, other)));
  }
  const std::string next = next_of(best, *all.job, all.facts);
  if (!next.empty()) out += "\nnext\n" + wrapped(next);
  const std::vector<std::string> missing = missing_of(best, all.job.get());
  if (!missing.empty()) out += "\nto increase confidence, collect\n";
  for (const std::string& one : missing) out += wrapped("- " + one);
  out += read_text(all);
  out += fmt::format("  what {0} means: ringside hang --about {0}\n", to_string(best.kind));
  return out;
}

}  // namespace ringside::hang
