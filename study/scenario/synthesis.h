#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diag/hangdetect/examine.h"

/// Verdict by synthesis: which fault would have left the evidence?
namespace ringside::study {

/// One fault, and how well the evidence that it would leave matches.
struct Hypothesis {
  hang::Kind kind = hang::Kind::Unknown;
  std::vector<int> culprits = {};  ///< empty: none
  double likelihood = 0;           ///< among all tried faults: they sum to 1
  double misfit = 0;               ///< calls whose state would differ from the recorded one
  std::string what = {};           ///< "rank 3 skips all_reduce of tensor"
};

/// Plays each plausible fault of each rank from the last call that all made, and compares the calls that ranks would
/// have recorded with the recorded ones: the calls of the culprit, and the pending calls of all ranks.
///
/// returns  the best matches first, one for each kind and culprit; empty if no dump has calls, or no call is pending
std::vector<Hypothesis> synthesize(const hang::Examination& evidence);

/// The result of synthesis for a verdict. It never changes the verdict: alone it is right less often.
enum class Support : std::uint8_t {
  Nothing,    ///< no dump has pending calls
  Agrees,     ///< it names the same culprits
  Undecided,  ///< faults of different ranks match equally well, or none matches exactly
  Differs,    ///< it names other culprits
};
const char* to_string(Support support);  ///< nothing, agrees, undecided, differs

/// tried  as synthesize() returns them
Support support_of(const hang::Explanation& verdict, const std::vector<Hypothesis>& tried);

}  // namespace ringside::study
