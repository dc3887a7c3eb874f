#include "diag/hangdetect/verdict/features.h"

#include <array>
#include <cmath>

namespace ringside::hang {
namespace {

struct FeatureWeight {
  std::string_view name;
  double weight;
};

constexpr std::array kFeatureWeights{
#define WEIGHT(name, weight) FeatureWeight{#name, weight},
#include "diag/hangdetect/verdict/weights.def"
#undef WEIGHT
};

}  // namespace

std::string_view to_string(Feature feature) {
  return kFeatureWeights[static_cast<std::size_t>(feature)].name;
}

double weight_of(Feature feature) {
  return kFeatureWeights[static_cast<std::size_t>(feature)].weight;
}

double confidence_of(const Features& features) {
  double sum = 0;
  for (const Feature one : features) sum += weight_of(one);
  return std::round(1000 / (1 + std::exp(-sum))) / 1000;
}

}  // namespace ringside::hang
