#include "tests/agreement/releases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/support/answer.h"
#include "tests/support/golden_job.h"
#include "tests/support/golden_shape.h"
#include "tests/support/oracle.h"

namespace ringside::oracle {
namespace {

/// The figures of one file, with a few of the differences in words.
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

/// Replaces the types of paths by our numbers: older releases have fewer types and number them consecutively.
void renumber_types(Json& matrix, const Json& names) {
  for (Json& value : matrix) {
    if (value.is_array()) {
      renumber_types(value, names);
    } else {
      value =
          static_cast<int>(*parse_path_type(names.at(value.get<std::size_t>()).get<std::string>()));
    }
  }
}

/// A value that the release did not have yet is null in its answer; it is removed from both.
void leave_out_missing(Json& golden, Json& ours) {
  if (golden.is_array() && ours.is_array()) {
    for (std::size_t i = 0; i < std::min(golden.size(), ours.size()); ++i) {
      leave_out_missing(golden[i], ours[i]);
    }
  }
  if (!golden.is_object() || !ours.is_object()) return;
  std::vector<std::string> missing;
  for (auto& [key, value] : golden.items()) {
    const bool has_no_list = key == "directHeads" && value.empty();
    // Up to 2.19, of the channels that one rank begins, only the last one has a head.
    if (key == "heads") {
      value.erase(std::remove(value.begin(), value.end(), Json::array()), value.end());
    }
    if (value.is_null() || has_no_list) {
      missing.push_back(key);
    } else if (ours.contains(key)) {
      leave_out_missing(value, ours[key]);
    }
  }
  for (const std::string& key : missing) {
    // For a job without NVLS or CollNet both answers say that it has none.
    if (key == "nvls" || key == "collnet") continue;
    golden.erase(key);
    ours.erase(key);
  }
}

/// Compares a part that has no figures of its own: every number and word.
Comparison compare_words(const Json& golden, const Job& job, const Tuner& tuner, Part part) {
  Json theirs = golden_part(golden, part);
  Json ours = our_part(job, tuner, part);
  if (part == Part::Systems) {
    for (Json& system : theirs) {
      for (const char* const matrix : {"gpuGpu", "gpuNet", "netGpu", "gpuCpu"}) {
        renumber_types(system.at(matrix).at("type"), golden.at("pathTypes"));
      }
    }
  }
  if (part != Part::Systems) leave_out_missing(theirs, ours);
  return compare(theirs, ours);
}

Comparison compare_figures(const std::string& name, const Json& golden, const Tuner& tuner,
                           Part part, int most) {
  ReleaseAgreement agreement;
  FileComparison comparison(name, most, agreement);
  if (part == Part::Costs) {
    compare_costs(golden_part(golden, part), our_costs(tuner), comparison);
  } else {
    compare_choices(golden_part(golden, part), our_choices(tuner), comparison);
  }
  Comparison result;
  int differing = 0;
  for (const auto& count : agreement.counts) {
    result.checked += count.checked;
    differing += count.differing;
  }
  result.differences = std::move(agreement.differences);
  result.differences.resize(static_cast<std::size_t>(differing));
  return result;
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

std::span<const KnownDifference> known_differences() {
  static const std::vector<Part> kFromSystems(kParts.begin(), kParts.end());
  constexpr const char* kOneProcess =
      "the first host has 4 of its 8 NICs there; it has 8 in 2.23 and 2.28. Presumably the number "
      "of devices, which "
      "these releases keep by process: all ranks were one, and the second host has 4";
  static const std::vector<KnownDifference> kKnown{
      {"2.22.3",
       "aws-p5-efa32",
       {Part::Systems},
       "bandwidths of NICs as the search for NVLS left them: this release does not give back what "
       "a repeated head "
       "took"},
      {"2.22.3", "h100-vm-8socketnic", {Part::Systems}, "the same"},
      {"2.22.3",
       "dgx-a100-sharp",
       {Part::Searches},
       "what CollNetDirect's search found is listed under CollNetChain; the merged graphs of both "
       "are right"},
      {"2.24.3", "mix-h100-8nic-4nic", kFromSystems, kOneProcess},
      {"2.25.1", "mix-h100-8nic-4nic", kFromSystems, kOneProcess},
      {"2.26.2", "mix-h100-8nic-4nic", kFromSystems, kOneProcess},
      {"2.27.5", "mix-h100-8nic-4nic", kFromSystems, kOneProcess}};
  return kKnown;
}

bool is_known(const std::string& release, const std::string& name, Part part) {
  return std::ranges::any_of(known_differences(), [&](const KnownDifference& known) {
    return release == known.release && name.starts_with(std::string(known.topology) + "-") &&
           std::ranges::find(known.parts, part) != known.parts.end();
  });
}

WholeAgreement compare_whole_release(const std::string& release, std::span<const std::string> names,
                                     int most) {
  const std::vector<std::string> all = golden_names(release);
  if (names.empty()) names = all;
  WholeAgreement agreement;
  for (const std::string& name : names) {
    const Json golden = load_golden(name, release);
    const Job job = solve(golden, release);
    const auto tuner = Tuner::make(job.connection.shape, {}, release);
    if (!tuner) throw std::runtime_error(release + ": " + tuner.error().message);
    bool agrees = true;
    for (const Part part : kParts) {
      const bool has_figures = part == Part::Costs || part == Part::Choices;
      const Comparison compared = has_figures ? compare_figures(name, golden, *tuner, part, most)
                                              : compare_words(golden, job, *tuner, part);
      auto& count = agreement.counts[static_cast<std::size_t>(part)];
      ++count.files;
      count.checked += compared.checked;
      count.differing += static_cast<int>(compared.differences.size());
      if (compared.differences.empty()) continue;
      ++count.differing_files;
      agrees = false;
      for (std::size_t i = 0; i < compared.differences.size() && i < static_cast<std::size_t>(most);
           ++i) {
        agreement.differences.push_back(
            fmt::format("{}, {}: {}", name, to_string(part), compared.differences[i]));
        if (!is_known(release, name, part)) {
          agreement.unknown.push_back(agreement.differences.back());
        }
      }
    }
    ++agreement.files;
    if (agrees) ++agreement.agreeing;
  }
  return agreement;
}

}  // namespace ringside::oracle
