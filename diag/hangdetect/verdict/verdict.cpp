#include "diag/hangdetect/verdict/verdict.h"

#include <algorithm>

namespace ringside::hang {

bool Explanation::has(Feature feature) const {
  return std::find(features.begin(), features.end(), feature) != features.end();
}

void Explanation::add(Feature feature) {
  if (!has(feature)) features.push_back(feature);
}

}  // namespace ringside::hang
