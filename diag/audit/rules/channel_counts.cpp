#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "diag/audit/expected_channels.h"
#include "diag/audit/rules/rule.h"

namespace ringside::audit {

using namespace logs;  // its records are this folder's daily words

namespace {

/// A variable that the logs echo and that bounds channels; nullptr: none.
const Setting* bound_of_channels(const JobFacts& facts) {
  constexpr std::array kNames{"NCCL_MAX_NCHANNELS", "NCCL_MAX_NRINGS", "NCCL_MAX_CTAS"};
  for (const char* name : kNames) {
    const Setting* setting = facts.setting(name);
    if (setting != nullptr) return setting;
  }
  return nullptr;
}

}  // namespace

void look_for_fewer_channels(const JobFacts& facts, Findings& findings) {
  constexpr int kMuch = 2;  // from half of them on it is a fault, not a choice
  if (findings.has("few_channels", Severity::Warning)) return;
  const std::optional<ExpectedChannels> expected = expected_channels(facts);
  if (!expected || expected->logged >= expected->without) return;
  const bool is_much = expected->logged * kMuch <= expected->without;
  Finding& finding = findings.add(
      "few_channels", is_much ? Severity::Warning : Severity::Info,
      fmt::format("{} where {} are made ({})",
                  plural(static_cast<std::size_t>(expected->logged), "channel", "channels"),
                  expected->without, expected->judged_by));
  std::vector<std::uint32_t> who;
  for (const Member& member : facts.world()->members) {
    if (member.coll_channels >= 1) who.push_back(member.process);
  }
  std::ranges::sort(who);
  for (const auto& [channels, said] : facts.channel_counts) {
    if (channels >= expected->logged) finding.evidence.mix(said.evidence);
  }
  findings.say_who(finding, who);
  const Setting* bound = bound_of_channels(facts);
  if (expected->with_settings > expected->logged) {
    finding.cause =
        "not the variables that the logs have: the program bounds them (ncclConfig_t: maxCTAs), or "
        "a variable whose line is missing";
    finding.fix = "look for maxCTAs in the program's ncclConfig_t; compare `ringside topo`";
  } else if (bound != nullptr) {
    finding.evidence.mix(bound->evidence);
    finding.cause = fmt::format("{}={} limits the channels", bound->name, bound->value);
    finding.fix = "unset " + bound->name;
  } else {
    finding.cause = "a variable that the logs echo leads to other channels";
    finding.fix = "unset what is set; `ringside topo --set NAME=VALUE` tells which it is";
  }
}

}  // namespace ringside::audit
