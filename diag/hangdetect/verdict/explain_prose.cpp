#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/hang_class.h"
#include "diag/hangdetect/verdict/confidence.h"
#include "diag/hangdetect/verdict/explain.h"
#include "diag/hangdetect/verdict/told.h"

namespace ringside::hang {

std::vector<Explanation> explain_prose(const LogFacts& facts) {
  const auto said = all_of(facts, LogStatement::What::Person);
  if (said.empty()) return {};
  // Who says two things of one job means the later one, or speaks of two jobs.
  const LogStatement& first = *said.front();
  const bool do_agree = std::all_of(
      said.begin(), said.end(), [&](const LogStatement* one) { return one->ranks == first.ranks; });
  if (!do_agree) return {};
  constexpr std::size_t kShown = 160;
  Explanation out = told(static_cast<Kind>(first.code), said, first.ranks, confidence::kPerson,
                         fmt::format("somebody who watched says so of {}: {}",
                                     ranks_text(first.ranks), first.text.substr(0, kShown)));
  out.missing.push_back("the stacks or logs that this was seen in");
  return {std::move(out)};
}

}  // namespace ringside::hang
