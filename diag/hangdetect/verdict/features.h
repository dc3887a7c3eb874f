#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ringside::hang {

/// A reason for or against a hypothesis. weights.def defines each with its weight and its explanation.
enum class Feature : std::uint8_t {
#define WEIGHT(name, weight) name,
#include "diag/hangdetect/verdict/weights.def"
#undef WEIGHT
};

/// The features of a hypothesis, each once. The first is its ground: the evidence that made a generator add it.
using Features = std::vector<Feature>;

/// Returns the feature's name in weights.def.
std::string_view to_string(Feature feature);

/// Returns the feature's weight in weights.def; a negative one weakens the hypothesis.
double weight_of(Feature feature);

/// returns  1 / (1 + exp(-sum of the weights)), rounded to 1/1000 so that equal evidence ranks equal everywhere
double confidence_of(const Features& features);

}  // namespace ringside::hang
