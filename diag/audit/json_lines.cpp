#include "diag/audit/json_lines.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text_parts.h"
#include "diag/job/nccl_result.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

using Json = nlohmann::json;

const Json& member(const Json& object, const char* key) {
  static const Json kNothing;
  if (!object.is_object()) return kNothing;
  const auto found = object.find(key);
  return found == object.end() ? kNothing : *found;
}

/// Reads a number, or a text that contains one: nccl-tests writes both.
double number(const Json& value, double otherwise = -1) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return otherwise;
  const std::string& text = value.get_ref<const std::string&>();
  char* end = nullptr;
  const double parsed = std::strtod(text.c_str(), &end);
  return end == text.c_str() || parsed != parsed ? otherwise : parsed;
}

std::int32_t whole(const Json& value, std::int32_t otherwise = -1) {
  const double read = number(value, otherwise);
  return read >= -1 && read < 2e9 ? static_cast<std::int32_t>(read) : otherwise;
}

std::string words(const Json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

bool truth(const Json& value) {
  return value.is_boolean() ? value.get<bool>() : words(value) == "true";
}

/// Returns whether it may be a report: a report names the library or its own version among its first keys.
bool may_be_report(std::string_view text) {
  constexpr std::size_t kHead = 400;
  const std::string_view head = text.substr(0, kHead);
  return contains(head, "\"nccl_version\"") || contains(head, "\"version\"");
}

}  // namespace

void JsonLines::forget() {
  text_.clear();
  text_.shrink_to_fit();
  lines_.clear();
  depth_ = 0;
  is_in_text_ = is_escaped_ = false;
}

QuotedLine JsonLines::quote_at(std::size_t at) const {
  auto line = std::upper_bound(lines_.begin(), lines_.end(), at,
                               [](std::size_t value, const Line& one) { return value < one.at; });
  if (line != lines_.begin()) --line;
  const std::size_t end = std::next(line) == lines_.end() ? text_.size() : std::next(line)->at;
  const std::size_t begin = lines_.size() == 1 ? at : line->at;  // of one long line, this part
  return {line->place, speaker_, quotable(std::string_view(text_).substr(begin, end - begin))};
}

QuotedLine JsonLines::quote_key(std::string_view key, std::size_t& from) const {
  const std::size_t at = text_.find(key, from);
  if (at == std::string::npos) return quote_at(0);
  from = at + key.size();
  return quote_at(at);
}

void JsonLines::take(const Record& record, std::vector<BenchmarkTable>& tables,
                     std::vector<RasFact>& ras) {
  if (!text_.empty() && record.speaker != speaker_) return;
  speaker_ = record.speaker;
  lines_.push_back({text_.size(), record.place});
  // Reports have fewer than ten levels. The JSON library calls itself for each level, so that text from a hostile log
  // could exhaust the stack.
  constexpr int kDeepest = 64;
  bool is_too_deep = false;
  for (const char c : record.text()) {
    if (is_escaped_) {
      is_escaped_ = false;
    } else if (is_in_text_) {
      is_escaped_ = c == '\\';
      is_in_text_ = c != '"';
    } else if (c == '"') {
      is_in_text_ = true;
    } else if (c == '{' || c == '[') {
      if (++depth_ > kDeepest) is_too_deep = true;
    } else if (c == '}' || c == ']') {
      --depth_;
    }
  }
  text_.append(record.text());
  text_ += '\n';
  constexpr std::size_t kKnownByThen = 8;  // lines
  const bool is_done = depth_ <= 0;
  const bool is_other = (is_done || lines_.size() >= kKnownByThen) && !may_be_report(text_);
  constexpr std::size_t kMostUnread = 100;
  const bool is_too_large = record.is_cut || text_.size() > kMaxReport;
  if (is_too_large && may_be_report(text_) && unread_.size() < kMostUnread) {
    unread_.push_back({lines_.front().place, true});
  }
  if (is_other || is_too_large || is_too_deep) return forget();
  if (!is_done) return;
  const Json report = Json::parse(text_, nullptr, false);
  if (member(report, "results").is_array() && member(report, "config").is_object()) {
    read_benchmark(report, tables);
  } else if (member(report, "communicators").is_array()) {
    read_ras(report, ras);
  }
  forget();
}

std::vector<UnreadReport> JsonLines::unread() const {
  std::vector<UnreadReport> all = unread_;
  if (!text_.empty() && may_be_report(text_)) all.push_back({lines_.front().place, false});
  return all;
}

void JsonLines::read_benchmark(const Json& report, std::vector<BenchmarkTable>& tables) const {
  constexpr std::size_t kMost = 20'000;
  BenchmarkTable table{.is_announced = true,
                       .has_heading = true,
                       .has_redop = true,
                       .is_concluded = true,
                       .speaker = speaker_};
  const Json& args = member(report, "args");
  if (args.is_array() && !args.empty()) {
    std::string name = words(args.front());
    name = name.substr(name.rfind('/') + 1);
    table.collective = name.substr(0, name.rfind("_perf"));
  }
  const QuotedLine begin = quote_at(0);
  table.begin.add(begin);
  for (const Json& device : member(member(report, "config"), "devices")) {
    if (table.devices.size() >= kMost) break;
    table.devices.push_back({whole(member(device, "rank")), whole(member(device, "pid")),
                             whole(member(device, "device")), words(member(device, "hostname")),
                             words(member(device, "device_hex")),
                             words(member(device, "device_info")), begin});
  }
  std::size_t at = text_.find("\"results\"");
  for (const Json& result : member(report, "results")) {
    if (table.rows.size() >= kMost) break;
    BenchmarkLine row;
    const double bytes = number(member(result, "size"), 0);
    row.bytes = bytes >= 0 && bytes < 1e18 ? static_cast<std::uint64_t>(bytes) : 0;
    for (const char* half : {"out_of_place", "in_place"}) {
      const Json& part = member(result, half);
      const auto busbw = static_cast<float>(number(member(part, "bus_bw")));
      row.wrong = std::max(row.wrong, static_cast<float>(number(member(part, "nwrong"), 0)));
      if (busbw <= row.busbw_gbs) continue;
      row.busbw_gbs = busbw;
      row.time_us = static_cast<float>(number(member(part, "time")));
    }
    row.quoted = quote_key("\"size\"", at);
    table.rows.push_back(row);
  }
  std::size_t average = 0;
  const Json& mean = member(report, "average_bus_bandwidth");
  if (mean.is_object()) {
    const QuotedLine line = quote_key("\"average_bus_bandwidth\"", average);
    table.average.add(line);
    table.average_gbs = static_cast<float>(number(member(mean, "bandwidth")));
  }
  tables.push_back(std::move(table));
}

void JsonLines::read_ras(const Json& report, std::vector<RasFact>& ras) const {
  constexpr std::size_t kMost = 10'000;
  std::size_t comm_at = 0, missing_at = 0;
  for (const Json& comm : member(report, "communicators")) {
    RasFact whole_comm{.nranks = whole(member(comm, "size")),
                       .missing = whole(member(comm, "missing_ranks_count")),
                       .quoted = quote_key("\"hash\"", comm_at)};
    std::set<std::string> counts;
    for (const Json& rank : member(comm, "ranks")) {
      counts.insert(member(rank, "collective_counts").dump());
      const Json& status = member(rank, "status");
      for (const char* key : {"async_error", "init_state"}) {
        const std::int32_t code = whole(member(status, key), 0);
        if (!job::is_nccl_failure(code)) continue;
        whole_comm.held.emplace(whole(member(rank, "rank")), code);
        break;
      }
    }
    const auto mark = [&](bool is_so, const char* word) {
      if (is_so) whole_comm.errors += (whole_comm.errors.empty() ? "" : ",") + std::string(word);
    };
    mark(whole_comm.missing > 0, "INCOMPLETE");
    mark(!whole_comm.held.empty(), "ERROR");
    mark(counts.size() > 1, "MISMATCH");
    if (ras.size() < kMost) ras.push_back(whole_comm);
    for (const Json& rank : member(comm, "missing_ranks")) {
      if (ras.size() >= kMost) break;
      const Json& status = member(rank, "status");
      ras.push_back({.is_rank = true,
                     .is_dead = truth(member(status, "considered_dead")),
                     .is_missing = true,
                     .rank = whole(member(rank, "rank")),
                     .host = words(member(rank, "host")),
                     .quoted = quote_key("\"considered_dead\"", missing_at)});
    }
  }
}

}  // namespace ringside::audit
