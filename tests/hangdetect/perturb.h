#pragma once

#include <string>
#include <vector>

namespace ringside::hang {

/// Damage to the files of a job that happens before a user reads them.
enum class Harm {
  LostDump,       ///< the dump of one rank is gone; its log and stack are there
  LostRank,       ///< all files of one rank are gone
  DumpsOnly,      ///< no log and no stack
  LogsOnly,       ///< no dump
  ShortHistory,   ///< every rank kept only its newest calls
  UnevenHistory,  ///< one rank kept only its newest calls
  TornDump,       ///< the dump of one rank ends in its middle
  StrangeFiles,   ///< files next to it that belong to no job, or to another one
};

inline constexpr Harm kHarms[] = {Harm::LostDump, Harm::LostRank,     Harm::DumpsOnly,
                                  Harm::LogsOnly, Harm::ShortHistory, Harm::UnevenHistory,
                                  Harm::TornDump, Harm::StrangeFiles};

/// Returns e.g. "one dump lost".
const char* to_string(Harm harm);

/// A damaged copy of a case of `corpus/fr-torch`. The folder is removed with the object.
class HarmedCase {
 public:
  /// variant  selects the damaged rank and how much is kept: 0 .. variants_of() - 1
  HarmedCase(const std::string& folder, Harm harm, int variant);
  ~HarmedCase();
  HarmedCase(const HarmedCase&) = delete;
  HarmedCase& operator=(const HarmedCase&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Returns the number of variants of the damage for the case.
int variants_of(const std::string& folder, Harm harm);

}  // namespace ringside::hang
