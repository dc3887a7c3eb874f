#pragma once

#include <string>
#include <vector>

namespace ringside::hang {

/// Damage to the files of a job before a user looks at them.
enum class Harm {
  LostDump,       ///< the dump of one rank is gone; its log and stack are there
  LostRank,       ///< all files of one rank are gone
  DumpsOnly,      ///< no log and no stack
  LogsOnly,       ///< no dump
  ShortHistory,   ///< every rank kept its newest calls only
  UnevenHistory,  ///< one rank kept its newest calls only
  TornDump,       ///< the dump of one rank ends in its middle
  StrangeFiles,   ///< files next to it that are of no job, or of another one
};

inline constexpr Harm kHarms[] = {Harm::LostDump, Harm::LostRank,     Harm::DumpsOnly,
                                  Harm::LogsOnly, Harm::ShortHistory, Harm::UnevenHistory,
                                  Harm::TornDump, Harm::StrangeFiles};

/// "one dump lost"
const char* to_string(Harm harm);

/// A copy of a case of `corpus/fr-torch` to which it happened. The folder goes with the object.
class HarmedCase {
 public:
  /// variant  which rank it happens to, how much is kept: 0 .. variants_of() - 1
  HarmedCase(const std::string& folder, Harm harm, int variant);
  ~HarmedCase();
  HarmedCase(const HarmedCase&) = delete;
  HarmedCase& operator=(const HarmedCase&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The number of variants of the damage for the case.
int variants_of(const std::string& folder, Harm harm);

}  // namespace ringside::hang
