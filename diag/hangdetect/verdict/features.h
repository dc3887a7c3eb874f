#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ringside::hang {

/// What supports or weakens a hypothesis. weights.def has the reasons and the weights.
enum class Feature : std::uint8_t {
#define WEIGHT(name, weight) name,
#include "diag/hangdetect/verdict/weights.def"
#undef WEIGHT
};

/// The features of a hypothesis, its ground first. Each counts once.
using Features = std::vector<Feature>;

/// The name in weights.def.
std::string_view to_string(Feature feature);

double weight_of(Feature feature);

/// returns  1 / (1 + exp(-sum of the weights)), rounded to 1/1000 so that equal evidence ranks equal everywhere
double confidence_of(const Features& features);

}  // namespace ringside::hang
