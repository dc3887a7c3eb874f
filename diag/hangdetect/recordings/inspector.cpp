#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "diag/hangdetect/readers/op_name.h"
#include "diag/hangdetect/recordings/formats.h"
#include "diag/hangdetect/recordings/lines.h"

namespace ringside::recordings {
namespace {

double number_in(const Json& object, const char* key, double otherwise) {
  if (!object.is_object()) return otherwise;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return otherwise;
  const double value = found->get<double>();
  return std::isfinite(value) ? value : otherwise;
}

std::int64_t whole_in(const Json& object, const char* key, std::int64_t otherwise) {
  const double value = number_in(object, key, -1);
  return value >= 0 && value <= 4e15 ? static_cast<std::int64_t>(value) : otherwise;
}

std::string text_in(const Json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

/// JSON lines of NCCL's Inspector: each has the communicator (`header`), the process (`metadata`) and one call that
/// ended. From version 4.2 on, `dump_stats` holds the first two once.
/// source  NCCL plugins/profiler/inspector; docs/formats 7.2
class Inspector {
 public:
  Inspector() { made_.format = Format::Inspector; }

  void take(std::string_view line) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) return;
    const auto inner = json.find("dump_stats");
    for (const Json* one : {&json, inner == json.end() ? nullptr : &*inner}) {
      if (one == nullptr || !one->is_object()) continue;
      if (const auto header = one->find("header"); header != one->end()) take_header(*header);
      if (const auto data = one->find("metadata"); data != one->end()) {
        dumped_us_ = number_in(*data, "dump_timestamp_us", dumped_us_);
        if (made_.host.empty()) made_.host = text_in(*data, "hostname");
      }
      for (const bool is_transfer : {false, true}) {
        const auto call = one->find(is_transfer ? "p2p_perf" : "coll_perf");
        if (call != one->end() && call->is_object()) take_call(*call, is_transfer);
      }
    }
  }

  Result<Recording> finish() {
    if (made_.groups.empty())
      return Error{ErrorCode::Corrupt, "no communicator of the Inspector in it",
                   "give the whole file that the plugin wrote"};
    return std::move(made_);
  }

 private:
  void take_header(const Json& header) {
    std::string name = text_in(header, "comm_name");
    if (name.empty()) name = text_in(header, "id");
    const std::int64_t size = whole_in(header, "n_ranks", 0);
    if (name.empty() || size > hang::kMostRanks) return;
    group_ = made_.group_of(name, {}, static_cast<int>(size));
    // The rank in the largest communicator is the rank in the job.
    if (size <= made_.world) return;
    made_.world = static_cast<int>(size);
    made_.rank = rank_or_none(whole_in(header, "rank", -1));
  }

  void take_call(const Json& json, bool is_transfer) {
    const std::string kind = is_transfer ? "p2p" : "coll";
    const auto field = [&](const char* name) { return kind + name; };
    const std::int64_t sequence = whole_in(json, field("_sn").c_str(), -1);
    if (group_ < 0 || sequence < 0 || sequence > 0xFFFFFFFF || made_.calls.size() >= kMostCalls)
      return;
    Call made;
    made.name = text_in(json, kind.c_str());
    made.op = hang::op_of(made.name);
    made.group = group_;
    made.sequence = sequence;
    made.peer = rank_or_none(whole_in(json, "p2p_peer", -1));
    const std::int64_t bytes = whole_in(json, field("_msg_size_bytes").c_str(), 0);
    made.in_count = static_cast<std::uint64_t>(bytes);
    const double took_us = number_in(json, field("_exec_time_us").c_str(), -1);
    if (took_us >= 0 && took_us < kLatestUs) made.duration_ns = std::llround(took_us * 1e3);
    made.bytes = size_of(json, field("_algobw_gbs").c_str(), made);
    take_times(json, kind, made);
    if (made.issued_ns < 0 && dumped_us_ > 0 && dumped_us_ < kLatestUs)
      made.issued_ns = std::llround(dumped_us_ * 1e3);
    made_.calls.push_back(std::move(made));
  }

  /// The plugin divides the size as nccl-tests counts it by the time; the message is one rank's part where NCCL's
  /// function takes that. Its bandwidth shows which of the two versions wrote the line.
  std::uint64_t size_of(const Json& json, const char* bandwidth, const Call& call) const {
    const int ranks = made_.groups[static_cast<std::size_t>(group_)].size;
    const std::uint64_t whole = whole_bytes(call.op, call.in_count, ranks);
    const double divided = number_in(json, bandwidth, 0) * static_cast<double>(call.duration_ns);
    const auto nearest = std::sqrt(static_cast<double>(whole) * static_cast<double>(call.in_count));
    return divided > 0 && divided < nearest ? call.in_count : whole;
  }

  /// With `NCCL_INSPECTOR_DUMP_VERBOSE`: times of the kernel on each channel.
  void take_times(const Json& json, const std::string& kind, Call& call) {
    const auto times = json.find("event_trace_ts");
    if (times == json.end() || !times->is_object()) return;
    double begin = number_in(*times, (kind + "_start_ts").c_str(), -1);
    if (begin > 0 && begin < kLatestUs) call.issued_ns = std::llround(begin * 1e3);
    const auto kernels = times->find("kernel_events");
    if (kernels == times->end() || !kernels->is_array()) return;
    begin = kLatestUs;
    double end = -1;
    for (const Json& kernel : *kernels) {
      const double from = number_in(kernel, "kernel_start_ts", -1);
      if (from > 0) begin = std::min(begin, from);
      end = std::max(end, number_in(kernel, "kernel_stop_ts", -1));
    }
    if (begin > end || end > kLatestUs) return;
    call.begin_ns = std::llround(begin * 1e3);
    call.end_ns = std::llround(end * 1e3);
  }

  Recording made_;
  int group_ = -1;  ///< of the current line
  double dumped_us_ = 0;
};

}  // namespace

Result<Recording> parse_inspector(std::string_view text) { return read_lines(text, Inspector()); }

}  // namespace ringside::recordings
