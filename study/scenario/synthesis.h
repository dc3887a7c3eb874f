#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diag/hangdetect/examine.h"

/// Verdict by synthesis: which fault would have left what is there?
namespace ringside::study {

/// What one fault would have to be, and how well what it would leave fits.
struct Hypothesis {
  hang::Kind kind = hang::Kind::Unknown;
  std::vector<int> culprits = {};  ///< empty: nobody's
  double likelihood = 0;           ///< of all that were tried: they sum to 1
  double misfit = 0;               ///< calls that would stand otherwise than they do
  std::string what = {};           ///< "rank 3 leaves out all_reduce of tensor"
};

/// Plays each plausible fault of each rank from the last call that all made on, and compares what ranks would have recorded
/// with what they did: which calls the culprit made, and which of everybody's stand.
///
/// returns  those that fit best first, one for each kind and culprit; empty where no dump has calls, or nothing stands
std::vector<Hypothesis> synthesize(const hang::Examination& evidence);

/// What synthesis says of a verdict. It changes none: by itself it is right less often.
enum class Support : std::uint8_t {
  Nothing,    ///< no dump has calls that stand
  Agrees,     ///< it blames the same ranks
  Undecided,  ///< faults of different ranks would leave as much the same, or none leaves just this
  Differs,    ///< it blames others
};
const char* to_string(Support support);  ///< nothing, agrees, undecided, differs

/// tried  as synthesize() returns them
Support support_of(const hang::Explanation& verdict, const std::vector<Hypothesis>& tried);

}  // namespace ringside::study
