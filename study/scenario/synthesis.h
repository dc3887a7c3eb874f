#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diag/hangdetect/examine.h"

/// Diagnosis by synthesis: searches for the fault that would have left the evidence.
namespace ringside::study {

/// One fault, with the match between the evidence that it would leave and the recorded evidence.
struct Hypothesis {
  hang::Kind kind = hang::Kind::Unknown;
  std::vector<int> culprits = {};  ///< empty: none
  double likelihood = 0;           ///< relative to all tried faults, whose likelihoods sum to 1
  /// Number of calls whose state would differ from the recorded one.
  double misfit = 0;
  std::string what = {};  ///< "rank 3 skips all_reduce of tensor"
};

/// Simulates each plausible fault of each rank from the last call that all ranks made. Compares the
/// resulting records of the culprit's calls and of all pending calls with the recorded ones.
///
/// To bound the time, it tries the first 128 plausible ranks, and faults in the first 12 calls of each.
/// returns  the 8 best matches, the best first, one for each kind and culprit; empty if no dump has calls, no call is
///          pending, or the verdict is that the job does not hang
std::vector<Hypothesis> synthesize(const hang::Examination& evidence);

/// The agreement of synthesis with a verdict. It never changes the verdict: alone, synthesis is
/// less reliable.
enum class Support : std::uint8_t {
  Nothing,    ///< synthesize() returned nothing
  Agrees,     ///< same culprits
  Undecided,  ///< faults of different ranks match equally well, or none matches exactly
  Differs,    ///< other culprits
};
const char* to_string(Support support);  ///< nothing, agrees, undecided, differs

/// Compares the verdict with the hypotheses that synthesize() returned.
Support support_of(const hang::Explanation& verdict, const std::vector<Hypothesis>& tried);

}  // namespace ringside::study
