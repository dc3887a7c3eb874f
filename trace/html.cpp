#include "trace/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <ostream>
#include <tuple>
#include <vector>

#include "base/json.h"
#include "base/markup.h"
#include "base/vocabulary.h"
#include "trace/group_names.h"
#include "trace/match.h"

namespace ringside {
namespace {

/// Numbers as bytes: seven bits each, the low ones first.
class Packer {
 public:
  void add(std::uint64_t number) {
    for (; number >= 128; number >>= 7) bytes_.push_back(static_cast<char>((number & 127) | 128));
    bytes_.push_back(static_cast<char>(number));
  }
  /// Small numbers of either sign stay short.
  void add_signed(std::int64_t number) {
    add((static_cast<std::uint64_t>(number) << 1) ^ static_cast<std::uint64_t>(number >> 63));
  }
  void add_difference(std::uint64_t now, std::uint64_t& before) {
    add_signed(static_cast<std::int64_t>(now - before));
    before = now;
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

std::string base64(std::string_view bytes) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      three = three << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += i + k <= bytes.size() ? kLetters[three >> (18 - 6 * k) & 63U] : '=';
    }
  }
  return text;
}

using Lane = std::tuple<std::uint32_t, std::int32_t, std::int32_t>;

/// Lane by lane, in the order recorded; values that change little are stored as differences.
std::string packed(const std::map<Lane, std::vector<TraceEvent>>& lanes, std::int64_t origin) {
  Packer packer;
  packer.add(lanes.size());
  for (const auto& [key, events] : lanes) {
    packer.add(std::get<0>(key));
    packer.add(static_cast<std::uint64_t>(std::get<1>(key)));
    packer.add_signed(std::get<2>(key));
    packer.add(events.size());
    std::int64_t begin = origin;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint64_t sequence = 0;
    std::uint64_t step = 0;
    for (const TraceEvent& event : events) {
      packer.add((event.is_modelled ? 64U : 0U) + static_cast<std::uint64_t>(event.kind) * 16 +
                 static_cast<std::uint64_t>(event.primitive));
      packer.add_signed(event.begin_ns - begin);
      begin = event.begin_ns;
      packer.add(static_cast<std::uint64_t>(event.end_ns - event.begin_ns));
      packer.add_signed(event.recv_peer);
      packer.add_signed(event.send_peer);
      packer.add_difference(event.offset, offset);
      packer.add_difference(event.bytes, bytes);
      packer.add_difference(event.sequence, sequence);
      packer.add_difference(event.step, step);
      packer.add(static_cast<std::uint64_t>(event.collective) * 256 +
                 static_cast<std::uint64_t>(event.algorithm) * 8 +
                 static_cast<std::uint64_t>(event.protocol));
    }
  }
  return packer.bytes();
}

/// Returns the names of the numeric codes, and the parts of each primitive: the page has no table of its own.
///
/// groups    names by communicator
/// stuck_ns  time from the trace's beginning at which calls that never ended end; nullopt: none
std::string words_json(const std::string& title, const std::vector<std::string>& groups,
                       std::optional<std::int64_t> stuck_ns) {
  std::string primitives;
  for (int i = 0; i <= static_cast<int>(Primitive::RecvSend); ++i) {
    const auto one = static_cast<Primitive>(i);
    const PrimitiveParts parts = parts_of(one);
    primitives +=
        fmt::format("{}[{},{:d},{:d},{:d},{:d}]", i == 0 ? "" : ",", quoted_json(to_string(one)),
                    parts.receives, parts.reads_input, parts.writes_output, parts.sends);
  }
  std::string collectives;
  for (int i = 0; i < kCollectiveCount; ++i) {
    const auto one = static_cast<Collective>(i);
    const NetworkEnds ends = network_ends_of(one);
    collectives +=
        fmt::format("{}[{},{:d},{:d},{:d}]", i == 0 ? "" : ",", quoted_json(to_string(one)),
                    is_reduction(one), ends.sends, ends.receives);
  }
  std::string algorithms;
  for (int i = 0; i < kAlgorithmCount; ++i) {
    TraceEvent event;
    event.algorithm = static_cast<Algorithm>(i);
    algorithms +=
        fmt::format("{}[{},{:d},{:d}]", i == 0 ? "" : ",", quoted_json(to_string(event.algorithm)),
                    is_matched_by_place(event), uses_switch(event));
  }
  std::string names;
  for (const std::string& name : groups) {
    names += fmt::format("{}[{},{}]", names.empty() ? "" : ",", quoted_json(name),
                         quoted_json(std::string(kind_of_group(name))));
  }
  return fmt::format(
      R"({{"title":{},"groups":[{}],"computeChannel":{},"primitives":[{}],"collectives":[{}],"algorithms":[{}],"protocols":["ll","ll128","simple"],"recvSend":{},"allReduce":{},"stuck":{}}})",
      quoted_json(title), names, kComputeChannel, primitives, collectives, algorithms,
      static_cast<int>(Primitive::RecvSend), static_cast<int>(Collective::AllReduce),
      stuck_ns ? fmt::format("{}", *stuck_ns) : "null");
}

}  // namespace

Result<HtmlCounts> export_html(const TraceFile& file, const std::string& title, std::ostream& out) {
  if (file.counts().events > kMostEventsOfPage) {
    return Error{ErrorCode::Unsupported,
                 fmt::format("{} events: a page takes {}", file.counts().events, kMostEventsOfPage),
                 "ringside gui opens any number of them"};
  }
  std::map<Lane, std::vector<TraceEvent>> lanes;
  std::int64_t origin = INT64_MAX;
  HtmlCounts counts;
  file.for_each_event([&](const TraceEvent& event) {
    const std::int32_t channel = event.kind == EventKind::Collective ? -1 : event.channel;
    lanes[{event.communicator, event.rank, channel}].push_back(event);
    origin = std::min(origin, event.begin_ns);
    ++counts.events;
  });
  if (counts.events == 0) origin = 0;
  constexpr std::string_view kWordsHere = "/*WORDS*/null";
  constexpr std::string_view kEventsHere = "/*EVENTS*/";
  std::string page(kTracePages.front().text);
  const auto never_ended_ns =
      file.processes().empty() ? std::nullopt : never_ended_at(file.processes().front());
  std::optional<std::int64_t> stuck_ns;
  std::int64_t since = 0;
  if (never_ended_ns && !__builtin_sub_overflow(*never_ended_ns, origin, &since)) stuck_ns = since;
  std::vector<std::string> groups;
  if (!file.processes().empty()) groups = communicator_names(file.processes().front());
  std::string words = words_json(title, groups, stuck_ns);
  // Text inside of a script must neither end it nor begin a comment in it, which would swallow the script's end.
  constexpr std::string_view kEscaped = "\\u003c";
  for (std::size_t at = 0; (at = words.find('<', at)) != std::string::npos; at += kEscaped.size())
    words.replace(at, 1, kEscaped);
  page.replace(page.find(kWordsHere), kWordsHere.size(), words);
  page.replace(page.find(kEventsHere), kEventsHere.size(), base64(packed(lanes, origin)));
  counts.bytes = page.size();
  out << page << std::flush;
  if (!out)
    return Error{ErrorCode::System, "the page cannot be written",
                 "free space, or give another path"};
  return counts;
}

}  // namespace ringside
