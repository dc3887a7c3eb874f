#include "gui/model/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "base/vocabulary.h"
#include "base/wording.h"

namespace ringside::gui {
namespace {

constexpr std::size_t kMostPairs = 40;

std::int64_t length_of(const CallFacts& call) { return call.time.end_ns - call.time.begin_ns; }

struct Pair {
  const CallFacts* here;
  const CallFacts* there;
  double ratio;
};

using Numbered = std::map<std::pair<std::size_t, std::size_t>, const CallFacts*>;

/// Numbers calls by the communicator's position in the file and the call's position in it, because ids differ between
/// jobs.
Numbered numbered(const Document& document) {
  std::map<std::uint32_t, std::vector<const CallFacts*>> calls;
  for (const CallFacts& call : document.calls) calls[call.communicator].push_back(&call);
  Numbered all;
  std::size_t communicator = 0;
  for (auto& [number, own] : calls) {
    std::ranges::sort(own, {}, &CallFacts::sequence);
    for (std::size_t i = 0; i < own.size(); ++i) all[{communicator, i}] = own[i];
    ++communicator;
  }
  return all;
}

/// Returns the sum over all channels; as a file's times may be absurd, nanoseconds could overflow.
Seconds sum_of(const TraceStatistics& all, Nanoseconds ChannelStatistics::*time) {
  Seconds sum{0};
  for (const ChannelStatistics& one : all.channels) sum += one.*time;
  return sum;
}

/// Returns the mean time per step of that kind.
std::string a_step(const TraceStatistics& all, Nanoseconds ChannelStatistics::*time) {
  return all.primitives == 0 ? std::string("-")
                             : format_time(sum_of(all, time) / static_cast<double>(all.primitives));
}
std::string mean_step(const TraceStatistics& all) { return a_step(all, &ChannelStatistics::busy); }
std::string mean_waiting(const TraceStatistics& all) {
  return a_step(all, &ChannelStatistics::waiting);
}

/// If as many steps take longer, each message is slower, and the path is the same.
std::string longer_steps(const TraceStatistics& a, const TraceStatistics& b) {
  const double first = sum_of(a, &ChannelStatistics::busy).count();
  const double second = sum_of(b, &ChannelStatistics::busy).count();
  if (a.primitives != b.primitives || first <= 0 || second <= 0) return {};
  const double ratio = std::max(first, second) / std::min(first, second);
  if (ratio < 1.1) return {};
  return fmt::format("As many steps in both, and one takes {:.2f} x as long in the {}", ratio,
                     second > first ? "second" : "first");
}

Cell ratio_cell(double ratio) {
  const Ink ink = ratio > 1.1 ? Ink::Bad : ratio < 0.9 ? Ink::Good : Ink::Text;
  return {fmt::format("{:.2f} x", ratio),
          static_cast<float>(std::min(1.0, std::abs(std::log2(ratio)) / 4)), Ink::Text,
          ink == Ink::Text ? Ink::Send : ink};
}

}  // namespace

void prepare_compare(const Document& document, const Document* other, const State&, Panel& into) {
  if (other == nullptr) {
    into.lines.emplace_back(
        "Open a second trace to compare with: ringside gui A.rtrace --beside B.rtrace, or drop it "
        "here.");
    return;
  }
  const Numbered here = numbered(document);
  const Numbered there = numbered(*other);
  std::vector<Pair> pairs;
  std::size_t alone = 0;
  std::size_t unlike = 0;
  for (const auto& [place, call] : here) {
    const auto found = there.find(place);
    if (found == there.end()) {
      ++alone;
      continue;
    }
    if (found->second->collective != call->collective) {
      ++unlike;
      continue;
    }
    const auto a = static_cast<double>(std::max<std::int64_t>(length_of(*call), 1));
    const auto b = static_cast<double>(std::max<std::int64_t>(length_of(*found->second), 1));
    pairs.push_back({call, found->second, b / a});
  }
  const std::size_t more =
      there.size() > pairs.size() + unlike ? there.size() - pairs.size() - unlike : 0;
  std::ranges::stable_sort(pairs, std::ranges::greater{},
                           [](const Pair& pair) { return std::abs(std::log(pair.ratio)); });
  into.lines.push_back(fmt::format("{} and {}: {} in both", document.title, other->title,
                                   plural(pairs.size(), "call", "calls")));
  if (alone + more + unlike > 0) {
    into.lines.push_back(
        fmt::format("{} only in the first, {} only in the second, {} where the collectives differ",
                    alone, more, unlike));
  }
  Table table{
      .title = "Calls, the largest difference first",
      .head = {"call", "collective", "bytes", "first", "second", "second / first", "changed"},
      .rows = {}};
  for (std::size_t i = 0; i < std::min(pairs.size(), kMostPairs); ++i) {
    const auto& [a, b, ratio] = pairs[i];
    std::vector<std::string> changed;
    if (a->algorithm != b->algorithm)
      changed.push_back(fmt::format("{} -> {}", to_string(a->algorithm), to_string(b->algorithm)));
    if (a->protocol != b->protocol)
      changed.push_back(fmt::format("{} -> {}", to_string(a->protocol), to_string(b->protocol)));
    if (a->bytes != b->bytes)
      changed.push_back(fmt::format("{} -> {}", format_bytes(a->bytes), format_bytes(b->bytes)));
    if (a->ranks != b->ranks) changed.push_back(fmt::format("{} -> {} ranks", a->ranks, b->ranks));
    std::string text;
    for (const std::string& one : changed) text += (text.empty() ? "" : ", ") + one;
    table.rows.push_back({{{fmt::format("{}", a->sequence)},
                           {to_string(a->collective)},
                           {format_bytes(a->bytes)},
                           {format_time(Seconds{Nanoseconds{length_of(*a)}})},
                           {format_time(Seconds{Nanoseconds{length_of(*b)}})},
                           ratio_cell(ratio),
                           {text}},
                          {Target::Kind::Call, a->communicator, a->sequence, a->time.begin_ns}});
  }
  if (pairs.size() > kMostPairs) table.note = fmt::format("{} more", pairs.size() - kMostPairs);
  into.tables.push_back(std::move(table));
  Table sums{.title = "All of it", .head = {"", "first", "second"}, .rows = {}};
  const TraceStatistics& a = document.replay->statistics();
  const TraceStatistics& b = other->replay->statistics();
  const auto row = [&](const char* name, std::string x, std::string y) {
    sums.rows.push_back({{{name}, {std::move(x)}, {std::move(y)}}});
  };
  row("ranks", fmt::format("{}", a.ranks), fmt::format("{}", b.ranks));
  row("steps", fmt::format("{}", a.primitives), fmt::format("{}", b.primitives));
  row("a step in the mean", mean_step(a), mean_step(b));
  row("of that waiting", mean_waiting(a), mean_waiting(b));
  row("from the first event to the last", format_time(Seconds{a.span()}),
      format_time(Seconds{b.span()}));
  into.tables.push_back(std::move(sums));
  const bool is_other_protocol = std::ranges::any_of(
      pairs, [](const Pair& pair) { return pair.here->protocol != pair.there->protocol; });
  if (const std::string longer = longer_steps(a, b); !longer.empty()) {
    into.lines.push_back(longer +
                         (is_other_protocol ? "; key 4: what a message of each is made of." : "."));
  }
}

void prepare_findings(const Document& document, const Canvas& canvas, Panel& into) {
  draw_waits(document.waits, canvas, into.picture);
  if (document.findings.empty()) {
    into.lines.emplace_back(
        "Nothing was found: every rank finished its calls, and the file is whole.");
    return;
  }
  const bool has_lanes = !document.replay->lanes().empty();
  for (const Finding& finding : document.findings) {
    Table table{.title = finding.title, .head = {}, .rows = {}};
    const Ink ink = finding.weight == Finding::Weight::Fault     ? Ink::Bad
                    : finding.weight == Finding::Weight::Warning ? Ink::Warn
                                                                 : Ink::Text;
    for (const std::string& line : finding.lines) {
      table.rows.push_back({{{line, 0, table.rows.empty() ? ink : Ink::Text}},
                            finding.ranks.empty() || !has_lanes
                                ? Target{}
                                : Target{Target::Kind::Rank,
                                         static_cast<std::uint32_t>(finding.ranks.front()), 0, 0}});
    }
    if (!finding.ranks.empty()) {
      table.note = (has_lanes ? "marked in the timeline: rank " : "rank ") +
                   format_ranks(finding.ranks) + (has_lanes ? "; click a line to go there" : "");
    }
    into.tables.push_back(std::move(table));
  }
  into.tables.insert(into.tables.end(), document.call_tables.begin(), document.call_tables.end());
}

}  // namespace ringside::gui
