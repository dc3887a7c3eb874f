#include "cli/sim/sim_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "base/wording.h"

namespace ringside::cli {
namespace {

using study::LinkUsage;
using study::Profile;
using study::ProfileLeg;

constexpr std::size_t kPhaseColumns = 40;
constexpr std::size_t kFewKinds = 12;
constexpr std::size_t kFewLegs = 8;

/// Returns a bar for each of a few equal parts of the time: its height is the link's utilisation.
std::string bars(const std::vector<double>& use) {
  constexpr std::array<std::string_view, 9> kBars{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string text;
  const std::size_t columns = std::min(kPhaseColumns, use.size());
  for (std::size_t i = 0; i < columns; ++i) {
    const std::size_t first = i * use.size() / columns;
    const std::size_t last = (i + 1) * use.size() / columns;
    double sum = 0;
    for (std::size_t at = first; at < last; ++at) sum += use[at];
    const double mean = sum / static_cast<double>(last - first);
    const double height = std::ceil(mean * (kBars.size() - 1) - 0.05);
    text += kBars[static_cast<std::size_t>(std::clamp(height, 0.0, 8.0))];
  }
  return text;
}

std::string links_text(const Profile& profile) {
  const bool has_times = !profile.links.empty() && !profile.links.front().over_time.empty();
  std::string text = fmt::format("# {:<44}{:>7}{:>14}{:>8}{:>8}  {}\n", "links", "count", "rate",
                                 "busiest", "mean", has_times ? "the busiest over time" : "");
  for (std::size_t i = 0; i < std::min(kFewKinds, profile.links.size()); ++i) {
    const LinkUsage& one = profile.links[i];
    text += fmt::format("#   {:<42}{:>7}{:>14}{:>6.0f} %{:>6.0f} %  {}\n", one.kind, one.links,
                        format_bandwidth(one.busiest.rate), 100 * one.share, 100 * one.mean_share,
                        bars(one.over_time));
  }
  if (profile.links.size() > kFewKinds) {
    text += fmt::format("#   and {} more, less busy (--json has all)\n",
                        profile.links.size() - kFewKinds);
  }
  return text;
}

std::string waited_text(const ProfileLeg& leg) {
  const std::string held =
      leg.crossing.empty() ? std::string() : fmt::format(" over {}", leg.crossing);
  switch (leg.cause) {
    case PathCause::Begin:
      return "nothing: it is the first";
    case PathCause::Own:
      return "its own step before";
    case PathCause::Message:
      return fmt::format("the chunk of rank {}{}", leg.peer, held);
    case PathCause::Link:
      return fmt::format("its previous chunk, in flight to rank {}{}", leg.peer, held);
    case PathCause::Room:
      break;
  }
  return fmt::format("a slot that rank {} had to free", leg.peer);
}

const char* cause_word(PathCause cause) {
  switch (cause) {
    case PathCause::Begin:
      return "begin";
    case PathCause::Own:
      return "own";
    case PathCause::Message:
      return "message";
    case PathCause::Link:
      return "link";
    case PathCause::Room:
      break;
  }
  return "slot";
}

std::string path_text(const Profile& profile) {
  if (!profile.no_path.empty()) return fmt::format("# no critical path: {}\n", profile.no_path);
  const Seconds time = profile.row.result.time;
  std::string text =
      fmt::format("# critical path: {}\n", plural(profile.path.size(), "step", "steps"));
  for (const study::TimeTerm& term : profile.terms) {
    text += fmt::format("#   {:<58}{:>11}{:>7.1f} %\n", term.what, format_time(term.time),
                        100 * (term.time / time));
  }
  text += "# what takes most of it, by phase\n";
  for (const study::Phase& phase : profile.phases) {
    text += fmt::format("#   {:>10} to {:>10}  {} ({:.0f} %)\n", format_time(phase.begin),
                        format_time(phase.end), phase.what, 100 * phase.share);
  }
  std::vector<ProfileLeg> longest = profile.path;
  std::ranges::stable_sort(longest, std::greater{},
                           [](const ProfileLeg& leg) { return leg.end - leg.begin; });
  longest.resize(std::min(kFewLegs, longest.size()));
  std::erase_if(longest, [](const ProfileLeg& leg) { return leg.end <= leg.begin; });
  text += fmt::format("# {:<8}{:>10}{:>6}{:>9}{:>7}  {:<22}waited for\n", "longest", "at", "rank",
                      "channel", "step", "primitive");
  for (const ProfileLeg& leg : longest) {
    text += fmt::format("#   {:>8}{:>10}{:>6}{:>9}{:>7}  {:<22}{}\n",
                        format_time(leg.end - leg.begin), format_time(leg.begin), leg.rank,
                        leg.channel, leg.step, to_string(leg.primitive), waited_text(leg));
  }
  return text;
}

Json link_document(const LinkUsage& one) {
  return {{"kind", one.kind},
          {"links", one.links},
          {"busiest",
           {{"name", one.busiest.name},
            {"bandwidth_gbs", in_gbs(one.busiest.rate)},
            {"bytes", std::llround(one.bytes)},
            {"busy_share", one.share},
            {"use_over_time", one.over_time}}},
          {"mean_busy_share", one.mean_share}};
}

Json leg_document(const ProfileLeg& leg) {
  Json document{{"begin_us", in_us(leg.begin)},
                {"end_us", in_us(leg.end)},
                {"rank", leg.rank},
                {"channel", leg.channel},
                {"step", leg.step},
                {"primitive", to_string(leg.primitive)},
                {"waited_for", cause_word(leg.cause)},
                {"peer", nullptr},
                {"link", nullptr}};
  if (leg.peer >= 0) document["peer"] = leg.peer;
  if (!leg.crossing.empty()) {
    document["link"] = leg.crossing;
    document["on_link_us"] = in_us(leg.carried);
  }
  return document;
}

}  // namespace

std::string profile_text(const Profile& profile) {
  return links_text(profile) + path_text(profile);
}

Json profile_document(const Profile& profile) {
  Json document{{"span_us", in_us(profile.span)}, {"links", Json::array()},
                {"no_critical_path", nullptr},    {"terms", Json::array()},
                {"phases", Json::array()},        {"critical_path", Json::array()}};
  if (!profile.no_path.empty()) document["no_critical_path"] = profile.no_path;
  for (const LinkUsage& one : profile.links) document["links"].push_back(link_document(one));
  for (const study::TimeTerm& term : profile.terms) {
    document["terms"].push_back({{"what", term.what}, {"time_us", in_us(term.time)}});
  }
  for (const study::Phase& phase : profile.phases) {
    document["phases"].push_back({{"begin_us", in_us(phase.begin)},
                                  {"end_us", in_us(phase.end)},
                                  {"what", phase.what},
                                  {"share", phase.share}});
  }
  for (const ProfileLeg& leg : profile.path) document["critical_path"].push_back(leg_document(leg));
  return document;
}

}  // namespace ringside::cli
