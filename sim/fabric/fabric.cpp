#include "sim/fabric/fabric.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "base/mixed.h"
#include "base/suggest.h"

namespace ringside {
namespace {

/// Returns whether the pattern has the same words as the end, whatever its numbers.
bool has_words(const std::vector<LinkRule::Part>& pattern, const FabricEnd& end) {
  return pattern.size() == end.count &&
         std::equal(pattern.begin(), pattern.end(), end.parts.begin(),
                    [](const LinkRule::Part& asked, const FabricEnd::Part& is) {
                      return asked.word == is.word;
                    });
}

/// Returns a text such as "rail N leaf N".
std::string words_of(const FabricEnd& end) {
  std::string all;
  for (std::size_t i = 0; i < end.count; ++i) {
    all += fmt::format("{}{} N", i == 0 ? "" : " ", end.parts[i].word);
  }
  return all;
}

}  // namespace

Fabric::Fabric(FabricSettings settings, std::vector<FabricHosts> hosts)
    : settings_(std::move(settings)), hosts_(std::move(hosts)) {
  for (const FabricHosts& run : hosts_) {
    first_host_.push_back(nhosts_);
    nhosts_ += run.count;
    most_nics_ = std::max(most_nics_, static_cast<int>(run.nics.size()));
  }
  is_any_down_ =
      std::ranges::any_of(settings_.rules, [](const LinkRule& rule) { return rule.share == 0; });
}

int Fabric::nics_of(int host) const {
  const auto after = std::ranges::upper_bound(first_host_, host);
  return static_cast<int>(
      hosts_[static_cast<std::size_t>(after - first_host_.begin()) - 1].nics.size());
}

BytesPerSecond Fabric::rate_of_nic(FabricPort port) const {
  const auto after = std::ranges::upper_bound(first_host_, port.host);
  const FabricHosts& run = hosts_[static_cast<std::size_t>(after - first_host_.begin()) - 1];
  if (port.nic >= static_cast<int>(run.nics.size())) return {};
  return settings_.nic_rate.value_or(run.nics[static_cast<std::size_t>(port.nic)]);
}

BytesPerSecond Fabric::fastest_nic() const {
  BytesPerSecond fastest{};
  for (const FabricHosts& run : hosts_) {
    for (const BytesPerSecond rate : run.nics) fastest = std::max(fastest, rate);
  }
  return settings_.nic_rate.value_or(fastest);
}

BytesPerSecond Fabric::all_nics() const {
  double sum = 0;
  for (const FabricHosts& run : hosts_) {
    for (const BytesPerSecond rate : run.nics) {
      sum += settings_.nic_rate.value_or(rate).value * run.count;
    }
  }
  return {sum};
}

BytesPerSecond Fabric::left_of(const Wire& wire) const {
  double rate = wire.rate.value;
  for (const LinkRule& rule : settings_.rules) {
    if (rule.fits(wire.from, wire.to, wire.number)) rate *= rule.share;
  }
  return {rate};
}

bool Fabric::is_up(int id) const {
  const Wire one = wire(id);
  return std::ranges::none_of(settings_.rules, [&](const LinkRule& rule) {
    return rule.share == 0 && rule.fits(one.from, one.to, one.number);
  });
}

bool Fabric::are_up(const std::vector<int>& ids) const {
  return std::ranges::all_of(ids, [this](int id) { return is_up(id); });
}

FabricLink Fabric::link(int id) const {
  if (id >= nlinks()) {
    const Trunk one = trunk(id);
    double sum = 0;
    for (const int member : one.links) sum += left_of(wire(member)).value;
    return {.rate = {sum}, .name = one.name, .tier = one.tier};
  }
  const Wire one = wire(id);
  std::string name =
      one.name.empty() ? fmt::format("{} -> {}", one.from.text(), one.to.text()) : one.name;
  if (one.number >= 0) name += fmt::format(" link {}", one.number);
  return {.rate = left_of(one), .name = std::move(name), .tier = one.tier};
}

Fabric::Trunk Fabric::trunk(int id) const {
  RINGSIDE_ASSERT(false, "link {} of {}", id, nlinks());
  return {};
}

FabricRoute Fabric::route(FabricPort from, FabricPort to, std::uint64_t flow) const {
  FabricRoute found = find_route(from, to, mixed_with(settings_.seed, flow));
  if (found.links.empty()) return {};
  found.latency += std::max(found.switches - kSwitchesInStep, 0) * settings_.hop_latency;
  return found;
}

Fabric::Match Fabric::match(const LinkRule& rule) const {
  Match found;
  const std::vector<int> starts = tier_starts();
  for (std::size_t tier = 0; tier + 1 < starts.size(); ++tier) {
    if (starts[tier] == starts[tier + 1]) continue;
    const Wire first = wire(starts[tier]);
    found.tiers.push_back(fmt::format("{} <-> {}", words_of(first.from), words_of(first.to)));
    for (const FabricEnd* end : {&first.from, &first.to}) {
      for (std::size_t i = 0; i < end->count; ++i) found.words.insert(end->parts[i].word);
    }
    const bool fits = (has_words(rule.from, first.from) && has_words(rule.to, first.to)) ||
                      (has_words(rule.from, first.to) && has_words(rule.to, first.from));
    if (!fits) continue;
    found.has_words = true;
    for (int id = starts[tier]; id < starts[tier + 1]; ++id) {
      const Wire one = wire(id);
      found.is_there = one.is_there && rule.fits(one.from, one.to, one.number);
      if (found.is_there) return found;
    }
  }
  return found;
}

Status Fabric::check_rules() const {
  for (const LinkRule& rule : settings_.rules) {
    const Match found = match(rule);
    if (found.is_there) continue;
    const std::string cables = fmt::format("cables: {}", fmt::join(found.tiers, ", "));
    const auto fail = [&](const std::string& what, const std::string& help) {
      return Error{ErrorCode::Corrupt, fmt::format("{}: {}", rule.where, what), help};
    };
    if (found.has_words) {
      return fail(fmt::format("no cable has the numbers of '{}'", rule.text),
                  "topo shows how many there are of each; " + cables);
    }
    const std::vector<std::string_view> known(found.words.begin(), found.words.end());
    for (const auto* end : {&rule.from, &rule.to}) {
      for (const LinkRule::Part& part : *end) {
        if (found.words.contains(part.word)) continue;
        return fail(fmt::format("this fabric has no '{}'", part.word),
                    suggestion(part.word, known) + "; " + cables);
      }
    }
    return fail(fmt::format("no cable joins the ends of '{}'", rule.text), cables);
  }
  return {};
}

}  // namespace ringside
