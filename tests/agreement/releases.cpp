#include "tests/agreement/releases.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/support/answer.h"
#include "tests/support/golden_shape.h"
#include "tests/support/oracle.h"

namespace ringside::oracle {
namespace {

/// Figures of one file, with a few of the differences in words.
class FileComparison {
 public:
  FileComparison(std::string name, int most, ReleaseAgreement& into)
      : name_(std::move(name)), most_(most), into_(into) {}

  void check(Figure figure, bool agrees, const std::string& where, const Json& golden,
             const Json& ours) {
    auto& count = into_.counts[static_cast<std::size_t>(figure)];
    ++count.checked;
    if (agrees) return;
    ++count.differing;
    int& said = said_[static_cast<std::size_t>(figure)];
    if (++said > most_) return;
    into_.differences.push_back(fmt::format("{} {}: {} {}, ours {}", name_, where,
                                            to_string(figure), golden.dump(), ours.dump()));
  }

 private:
  std::string name_;
  int most_;
  std::array<int, kFigures.size()> said_{};
  ReleaseAgreement& into_;
};

bool is_within(const Json& golden, const Json& ours, double share) {
  if (!golden.is_number() || !ours.is_number()) return golden == ours;
  const auto value = golden.get<double>();
  return std::abs(value - ours.get<double>()) <= share * std::abs(value) + 1e-9;
}

void compare_costs(const Json& golden, const Json& ours, FileComparison& comparison) {
  for (const auto& [collective, algorithms] : golden.at("lat_bw").items()) {
    const Json& own = ours.at("lat_bw").at(collective);
    for (const Json* one : {&algorithms, &own}) {
      for (const auto& [algorithm, unused] : one->items()) {
        if (one == &own && algorithms.contains(algorithm)) continue;  // seen already
        const Json theirs = algorithms.value(algorithm, Json{nullptr, nullptr, nullptr});
        const Json mine = own.value(algorithm, Json{nullptr, nullptr, nullptr});
        const std::string where = collective + " " + algorithm;
        for (std::size_t p = 0; p < 3; ++p) {
          const bool both = theirs[p].is_array() && mine[p].is_array();
          const bool agrees = both ? is_within(theirs[p][0], mine[p][0], 1e-5) &&
                                         is_within(theirs[p][1], mine[p][1], 1e-5)
                                   : theirs[p] == mine[p];
          comparison.check(Figure::Costs, agrees, where, theirs[p], mine[p]);
        }
      }
    }
  }
  for (const char* const key : {"maxThreads", "threadThresholds"}) {
    for (const auto& [algorithm, values] : golden.at(key).items()) {
      const Json& mine = ours.at(key).at(algorithm);
      comparison.check(Figure::Threads, values == mine, algorithm, values, mine);
    }
  }
}

void compare_choices(const Json& golden, const Json& ours, FileComparison& comparison) {
  for (const auto& [collective, rows] : golden.items()) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Json& theirs = rows[i];
      const Json& mine = ours.at(collective).at(i);
      const std::string where = fmt::format("{} {} B", collective, theirs.at("bytes").dump());
      const auto same = [&](const char* key) { return theirs.at(key) == mine.value(key, Json()); };
      const bool chosen = same("algo") && same("proto");
      comparison.check(Figure::Algorithm, chosen, where, theirs, mine);
      comparison.check(Figure::Channels, same("nMaxChannels") && same("nThreads"), where, theirs,
                       mine);
      comparison.check(Figure::Time,
                       is_within(theirs.at("timeUs"), mine.value("timeUs", Json()), 0.005), where,
                       theirs, mine);
      comparison.check(Figure::ChannelsUsed, same("channelsUsed"), where, theirs, mine);
      comparison.check(Figure::Chunk, same("chunkBytes"), where, theirs, mine);
    }
  }
}

}  // namespace

const char* to_string(Figure figure) {
  constexpr const char* kNames[] = {"cost",
                                    "threads of a kernel",
                                    "algorithm and protocol",
                                    "channels and threads",
                                    "time",
                                    "channels used",
                                    "chunk"};
  return kNames[static_cast<std::size_t>(figure)];
}

ReleaseAgreement compare_release(const std::string& release, int most) {
  ReleaseAgreement agreement;
  for (const std::string& name : golden_names(release)) {
    const Json golden = load_golden(name, release);
    const auto tuner = Tuner::make(golden_shape(golden), {}, release);
    if (!tuner) throw std::runtime_error(release + ": " + tuner.error().message);
    FileComparison comparison(name, most, agreement);
    compare_costs(golden_part(golden, Part::Costs), our_costs(*tuner), comparison);
    compare_choices(golden_part(golden, Part::Choices), our_choices(*tuner), comparison);
    ++agreement.files;
  }
  return agreement;
}

}  // namespace ringside::oracle
