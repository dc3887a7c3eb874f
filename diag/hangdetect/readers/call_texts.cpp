#include "diag/hangdetect/readers/call_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "diag/hangdetect/readers/dump_keys.h"
#include "diag/logparse/frame_line.h"
#include "diag/logparse/torch_lines.h"

namespace ringside::hang {

void add_fingerprints(const logs::Record& record, Statements& statements) {
  std::string_view rest = record.line;
  constexpr std::string_view kOpen = "CollectiveFingerPrint(";
  for (std::size_t at = rest.find(kOpen); at != std::string_view::npos; at = rest.find(kOpen)) {
    const std::size_t who = rest.substr(0, at).rfind("Rank ");
    const std::string_view body = rest.substr(at + kOpen.size());
    if (who != std::string_view::npos) {
      const std::string_view number = rest.substr(who + 5, at - who - 5);
      const std::size_t end = number.find_first_not_of("0123456789");
      const auto rank = parse_whole(number.substr(0, end));
      std::string detail;
      for (const std::string_view key :
           {"SequenceNumber=", "OpType=", "TensorShape=", "TensorDtypes="}) {
        const std::size_t from = body.find(key);
        if (from == std::string_view::npos) continue;
        std::string_view value = body.substr(from + key.size());
        value = value.substr(0, value.starts_with('[')
                                    ? value.find(']') + 1
                                    : std::min(value.find_first_of(",)"), value.find("OpType=")));
        detail += fmt::format("{}{}{}", detail.empty() ? "" : " ", key, value.substr(0, 120));
      }
      if (rank && *rank < kMostRanks)
        statements.state(record, LogStatement::What::Fingerprint, {static_cast<int>(*rank)}, 0,
                         std::move(detail));
    }
    rest = body;
  }
}

void add_culprits(const logs::Record& record, Statements& statements) {
  const std::string_view line = record.line;
  // `type of mismatch: COLLECTIVE_TYPE_MISMATCH`: the difference has its own line, before the ranks.
  const bool says_what = line.find("type of mismatch:") != std::string_view::npos ||
                         line.find("op type mismatch") != std::string_view::npos;
  if (says_what)
    statements.state(record, LogStatement::What::Analyser, {}, 0, std::string(line.substr(0, 80)));
  for (std::size_t at = line.find("Culprit rank "); at != std::string_view::npos;
       at = line.find("Culprit rank ", at + 1)) {
    const auto ranks = logs::parse_rank_list(line.substr(at + 13, line.substr(at + 13).find(';')));
    if (!ranks.empty())
      statements.state(record, LogStatement::What::Analyser, {ranks.front()}, 0,
                       std::string(line.substr(at, 80)));
  }
}

int peer_in(std::string_view line) {
  for (const std::string_view call : {"recv(", "send("}) {
    const std::size_t at = line.find(call);
    if (at == std::string_view::npos) continue;
    const std::size_t comma = line.find(',', at);
    if (comma == std::string_view::npos || comma - at > 64) continue;
    std::string_view rest = line.substr(comma + 1);
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    if (rest.starts_with("src=") || rest.starts_with("dst=")) rest.remove_prefix(4);
    const std::size_t end = std::min(rest.find_first_not_of("0123456789"), rest.size());
    const auto peer = parse_whole(rest.substr(0, end));
    const bool is_whole = end < rest.size() && (rest[end] == ')' || rest[end] == ',');
    if (peer && is_whole && *peer < kMostRanks) return static_cast<int>(*peer);
  }
  return -1;
}

void extract_call_stack(std::vector<PasteLine>& lines, LogFacts& facts) {
  bool is_in = false;
  std::erase_if(lines, [&](const PasteLine& line) {
    if (line.text.find("tack trace of the failed collective:") != std::string::npos ||
        line.text.starts_with("collective stack trace:")) {
      is_in = true;
      return false;
    }
    logs::FrameLine frame;
    if (!is_in || !logs::parse_frame(line.text, frame)) {
      is_in = false;
      return false;
    }
    constexpr std::size_t kMostFrames = 64;  // chosen: deeper than a training loop
    if (facts.call_stack.size() < kMostFrames) {
      facts.call_stack.push_back({std::string(frame.function), std::string(frame.file),
                                  std::max<std::int64_t>(0, frame.line)});
    }
    return true;
  });
}

}  // namespace ringside::hang
