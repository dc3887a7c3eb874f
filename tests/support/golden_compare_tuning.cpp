#include "tests/support/golden_compare_tuning.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace ringside::oracle {
namespace {

/// The golden files carry some seven digits; times near 0 are compared to a nanosecond.
bool is_near(double golden, double ours) {
  return std::abs(golden - ours) <= 1e-5 * std::max(std::abs(golden), 1e-3);
}

void compare_cost(Comparison& comparison, const std::string& what, const Json& golden,
                  const Cost& cost) {
  ++comparison.checked;
  const bool is_there = cost.bandwidth_gbs > 0;
  if (golden.is_null() && !is_there) return;
  if (!golden.is_null() && is_there && is_near(golden[0].get<double>(), cost.latency_us) &&
      is_near(golden[1].get<double>(), cost.bandwidth_gbs)) {
    return;
  }
  comparison.differences.push_back(fmt::format("{}: {}, ours {} us at {} GB/s ({})", what,
                                               golden.dump(), cost.latency_us, cost.bandwidth_gbs,
                                               to_string(cost.obstacle)));
}

/// Our row in the golden columns; `golden` says whether there is anything to cut.
bool is_same_row(const Json& golden, const TunedChoice& ours) {
  if (golden[1] != nccl_name(ours.algorithm) || golden[2] != nccl_name(ours.protocol)) return false;
  if (golden[3] != ours.max_channels || golden[4] != ours.nthreads) return false;
  if (!is_near(golden[5].get<double>(), ours.prediction.time_us)) return false;
  return golden[6].is_null() ||
         (golden[6] == ours.channels.nchannels() && golden[7] == ours.chunk.value);
}

}  // namespace

Comparison compare_table(const Json& golden, const Tuner& tuner) {
  Comparison comparison;
  const Json& tuning = golden.at("tuning");
  for (int a = 0; a < kAlgorithms; ++a) {
    const auto algorithm = static_cast<Algorithm>(a);
    const auto index = static_cast<std::size_t>(a);
    const char* const name = nccl_name(algorithm);
    for (int c = 0; c < kTunedCollectives; ++c) {
      const auto collective = static_cast<Collective>(c);
      const Json& costs = tuning.at("lat_bw").at(nccl_name(collective));
      for (std::size_t p = 0; p < kProtocols; ++p) {
        const auto protocol = static_cast<Protocol>(p);
        compare_cost(comparison,
                     fmt::format("{} {}/{}", nccl_name(collective), name, nccl_name(protocol)),
                     costs.contains(name) ? costs.at(name).at(p) : Json(),
                     tuner.table().cost(collective, algorithm, protocol));
      }
    }
    const auto compare = [&](const char* what, const auto& ours) {
      ++comparison.checked;
      if (tuning.at(what).at(name) == Json(ours)) return;
      comparison.differences.push_back(fmt::format(
          "{} {}: {}, ours {}", what, name, tuning.at(what).at(name).dump(), Json(ours).dump()));
    };
    compare("maxThreads", tuner.table().max_threads[index]);
    compare("threadThresholds", tuner.table().thread_thresholds[index]);
  }
  return comparison;
}

Comparison compare_choices(const Json& golden, const Tuner& tuner) {
  Comparison comparison;
  for (int c = 0; c < kTunedCollectives; ++c) {
    const auto collective = static_cast<Collective>(c);
    for (const Json& row : golden.at("choices").at(nccl_name(collective))) {
      ++comparison.checked;
      const auto ours =
          tuner.choose({.collective = collective, .bytes = Bytes{row[0].get<std::uint64_t>()}});
      if (ours && is_same_row(row, *ours)) continue;
      comparison.differences.push_back(fmt::format(
          "{} {}: ours {}", nccl_name(collective), row.dump(),
          ours ? fmt::format("{} {} x{} {} threads {} us, {} used, chunk {}",
                             nccl_name(ours->algorithm), nccl_name(ours->protocol),
                             ours->max_channels, ours->nthreads, ours->prediction.time_us,
                             ours->channels.nchannels(), ours->chunk.value)
               : ours.error().message));
    }
  }
  return comparison;
}

}  // namespace ringside::oracle
