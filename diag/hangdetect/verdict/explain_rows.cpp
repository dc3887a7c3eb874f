#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "diag/hangdetect/readers/op_name.h"
#include "diag/hangdetect/verdict/confidence.h"
#include "diag/hangdetect/verdict/told.h"

namespace ringside::hang {
namespace {

using RowSides = std::map<std::string, std::vector<int>>;

bool is_row_of_transfer(const RowCall& call) { return call.op == Op::Send || call.op == Op::Recv; }

/// Those that are not with most; empty where most do not agree.
std::vector<int> few_of(const RowSides& sides) {
  std::size_t all = 0;
  const std::vector<int>* most = nullptr;
  for (const auto& [value, ranks] : sides) {
    all += ranks.size();
    if (most == nullptr || ranks.size() > most->size()) most = &ranks;
  }
  if (most == nullptr || most->size() * 2 <= all) return {};
  std::vector<int> few;
  for (const auto& [value, ranks] : sides) {
    if (&ranks != most) few.insert(few.end(), ranks.begin(), ranks.end());
  }
  std::sort(few.begin(), few.end());
  return few;
}

}  // namespace

void add_rows(const LogFacts& facts, std::vector<Explanation>& out) {
  std::vector<int> transfers, collectives, idle;
  RowSides sequences, ops, shapes;
  bool are_sequences_told = true;
  for (const auto& [rank, row] : facts.rows) {
    const auto pending = std::find_if(row.calls.begin(), row.calls.end(),
                                      [](const RowCall& call) { return call.is_pending; });
    if (pending == row.calls.end()) {
      idle.push_back(rank);
      continue;
    }
    (is_row_of_transfer(*pending) ? transfers : collectives).push_back(rank);
    if (is_row_of_transfer(*pending)) continue;
    are_sequences_told = are_sequences_told && pending->sequence >= 0;
    sequences[fmt::format("{:012}", pending->sequence)].push_back(rank);
    ops[to_string(pending->op)].push_back(rank);
    shapes[pending->shape].push_back(rank);
  }
  if (facts.rows.size() < 3 || collectives.size() < 2) return;
  Explanation one;
  const auto are_few = [&](const std::vector<int>& some) {
    return !some.empty() && some.size() < collectives.size();
  };
  if (are_few(transfers)) {
    one.kind = Kind::P2pUnmatched;
    one.culprits = transfers;
    one.why = fmt::format(
        "{} in a transfer whose other half nobody makes: the others are past it, in a collective",
        ranks_that(transfers, "stands", "stand"));
  } else if (are_few(idle)) {
    one.kind = Kind::MissingRank;
    one.culprits = idle;
    one.why = fmt::format("{} ended all that is listed, and the others wait in a collective",
                          ranks_that(idle, "has", "have"));
  } else if (are_sequences_told && sequences.size() > 1) {
    one.culprits = few_of(sequences);
    const bool are_behind = one.culprits == sequences.begin()->second;
    one.kind = are_behind ? Kind::MissingRank : Kind::DivergedControlFlow;
    one.why = fmt::format("{} in another call than most, by the rows of their dumps",
                          ranks_that(one.culprits, "stands", "stand"));
  } else if (ops.size() > 1 || shapes.size() > 1) {
    one.kind = ops.size() > 1 ? Kind::OpMismatch : Kind::ShapeMismatch;
    one.culprits = few_of(ops.size() > 1 ? ops : shapes);
    one.why = fmt::format("{} called something else than most, by the rows of their dumps",
                          ranks_text(one.culprits));
  }
  if (one.culprits.empty()) return;
  one.confidence = confidence::kRowsOfCalls;
  for (const int rank : {one.culprits.front(), collectives.front()}) {
    const CallRow& row = facts.rows.at(rank);
    one.details.push_back(fmt::format("rank {}: {}", rank, row.text));
    one.evidence.push_back({row.file, -1, row.line, row.text});
  }
  one.missing.push_back("the dumps themselves");
  out.push_back(std::move(one));
}

}  // namespace ringside::hang
