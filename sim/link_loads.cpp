#include "sim/link_loads.h"

#include <algorithm>
#include <utility>

namespace ringside {

void LineTimes::reach(double end) {
  constexpr auto kMost = static_cast<double>(kMostSpans);
  while (end > span_ * kMost) {
    span_ *= 2;
    for (std::vector<float>& spans : lines_) {
      for (std::size_t i = 0; 2 * i < spans.size(); ++i) {
        const float second = 2 * i + 1 < spans.size() ? spans[2 * i + 1] : 0;
        spans[i] = spans[2 * i] + second;
      }
      std::fill(spans.begin() + static_cast<std::ptrdiff_t>((spans.size() + 1) / 2), spans.end(),
                0.0F);
    }
  }
}

void LineTimes::add(std::size_t line, double bytes, double begin, double end) {
  reach(end);
  std::vector<float>& spans = lines_[line];
  if (spans.empty()) spans.resize(kMostSpans);
  const auto at = [this](double time) {
    return std::min(kMostSpans - 1, static_cast<std::size_t>(time / span_));
  };
  const std::size_t last = at(end);
  const double rate = end > begin ? bytes / (end - begin) : 0;
  double left = bytes;
  for (std::size_t i = at(begin); i < last; ++i) {
    const double share = rate * (static_cast<double>(i + 1) * span_ - begin);
    begin = static_cast<double>(i + 1) * span_;
    spans[i] += static_cast<float>(share);
    left -= share;
  }
  spans[last] += static_cast<float>(left);
}

void LoadSums::add(std::size_t line, double bytes, std::span<const int> links) {
  if (bytes == 0) return;
  for (const int link : links) {
    bytes_[link] += bytes;
    if (times_ == nullptr) continue;
    std::vector<double>& sums = over_time_[link];
    sums.resize(LineTimes::kMostSpans);
    const std::span<const float> spans = times_->of(line);
    for (std::size_t i = 0; i < spans.size(); ++i) sums[i] += static_cast<double>(spans[i]);
  }
}

LinkLoads LoadSums::loads() && {
  LinkLoads loads;
  if (times_ == nullptr) return loads;
  loads.span = times_->span();
  std::size_t used = 0;
  for (const auto& [link, sums] : over_time_) {
    for (std::size_t i = used; i < sums.size(); ++i) {
      if (sums[i] > 0) used = i + 1;
    }
  }
  for (auto& [link, sums] : over_time_) {
    sums.resize(used);
    loads.links.push_back({.link = link, .bytes = bytes_.at(link), .over_time = std::move(sums)});
  }
  return loads;
}

}  // namespace ringside
