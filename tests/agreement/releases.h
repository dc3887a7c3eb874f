#pragma once

#include <array>
#include <string>
#include <vector>

/// How the tuner of a release compares with that release's own code, fed with its own graphs: what differs is the
/// tuner's.
namespace ringside::oracle {

/// What is compared, over the table (rows of latency and bandwidth) and the choices (a size of a collective).
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

}  // namespace ringside::oracle
