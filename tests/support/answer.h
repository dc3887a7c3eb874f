#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "engine/channels/job.h"
#include "engine/tuning/select.h"

/// The decisions about a job, in the words of the golden files, so that ours and NCCL's can be compared and summed up
/// by the same few functions. The README next to the golden files explains the words; a row of `choices` is an object
/// here.
namespace ringside::oracle {

/// The parts in the order in which one follows from the other.
enum class Part : std::uint8_t { Systems, Searches, Merged, Counts, Channels, Costs, Choices };
inline constexpr std::array kParts{Part::Systems,  Part::Searches, Part::Merged, Part::Counts,
                                   Part::Channels, Part::Costs,    Part::Choices};
const char* to_string(Part part);

/// Returns NCCL's answer: the values of a part that a golden file holds and we compute.
Json golden_part(const Json& golden, Part part);

/// Returns our answer for a part.
Json our_part(const Job& job, const Tuner& tuner, Part part);

/// Returns the values that need no job: latency, bandwidth and threads of every combination; the choice for every
/// size.
Json our_costs(const Tuner& tuner);
Json our_choices(const Tuner& tuner);

/// The result of comparing two answers: how many numbers and words were compared, and a text of their differences.
struct Comparison {
  int checked = 0;
  std::vector<std::string> differences = {};
};

/// Compares two answers: whole numbers and words must be equal, measured values (rates, times) within a relative error
/// of 1e-5, and near 0 within 1e-8.
Comparison compare(const Json& golden, const Json& ours);

/// Returns whether a number with this key is a measured value, a rate or a time. All other numbers count something.
bool is_measure(const std::string& key);

}  // namespace ringside::oracle
