#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "tests/support/answer.h"

/// Compares the tuner of a release with that release's own code, run on its own graphs: all differences found are the
/// tuner's.
namespace ringside::oracle {

/// The compared values of the table (rows of latency and bandwidth) and of the choices (one per size of a collective).
enum class Figure { Costs, Threads, Algorithm, Channels, Time, ChannelsUsed, Chunk };
inline constexpr std::array kFigures{Figure::Costs,    Figure::Threads, Figure::Algorithm,
                                     Figure::Channels, Figure::Time,    Figure::ChannelsUsed,
                                     Figure::Chunk};
const char* to_string(Figure figure);

struct ReleaseAgreement {
  struct Count {
    int checked = 0, differing = 0;
  };
  int files = 0;
  std::array<Count, kFigures.size()> counts;
  std::vector<std::string> differences;  ///< in words, at most `most` of each figure and file
};

/// release  one of golden_releases()
ReleaseAgreement compare_release(const std::string& release, int most = 2);

/// A golden file with a difference that this project does not intend to remove.
struct KnownDifference {
  const char* release;
  const char* topology;  ///< of the file; applies to every number of nodes
  std::vector<Part> parts;
  const char* reason;
};
std::span<const KnownDifference> known_differences();

/// Returns whether a difference in this part of the file is known.
bool is_known(const std::string& release, const std::string& name, Part part);

/// The result of comparing our whole computation for a release, from the topology on, with that release's own answers.
struct WholeAgreement {
  struct Count {
    int files = 0, differing_files = 0;
    int checked = 0, differing = 0;
  };
  int files = 0, agreeing = 0;
  std::array<Count, kParts.size()> counts;
  std::vector<std::string> differences;  ///< in words, at most `most` of each part and file
  std::vector<std::string> unknown;      ///< those of them that are not in known_differences()
};

/// release  one of golden_releases()
/// names    of golden_names(release); empty: all
WholeAgreement compare_whole_release(const std::string& release,
                                     std::span<const std::string> names = {}, int most = 1);

}  // namespace ringside::oracle
