#include "cli/trace/trace_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/text.h"

namespace ringside::cli {
namespace {

constexpr std::size_t kCallRows = 200;  ///< of print_calls()

std::string choice_of(std::optional<Algorithm> algorithm, std::optional<Protocol> protocol) {
  return algorithm && protocol ? fmt::format("{}/{}", to_string(*algorithm), to_string(*protocol))
                               : "-";
}
std::string rate_text(std::optional<BytesPerSecond> bandwidth) {
  return bandwidth ? fmt::format("{:.2f}", in_gbs(*bandwidth)) : "-";
}
std::string time_text(std::optional<Nanoseconds> time) { return time ? format_time(*time) : "-"; }

Json word_or_null(std::optional<Algorithm> word) { return word ? Json(to_string(*word)) : Json(); }
Json word_or_null(std::optional<Protocol> word) { return word ? Json(to_string(*word)) : Json(); }
Json gbs_or_null(std::optional<BytesPerSecond> bandwidth) {
  return bandwidth ? Json(in_gbs(*bandwidth)) : Json();
}
Json us_or_null(std::optional<Nanoseconds> time) { return time ? Json(in_us(*time)) : Json(); }

}  // namespace

std::string short_bytes(Bytes size) {
  constexpr std::size_t kShort = 6;
  std::string exact = format_bytes(size);
  if (exact.size() <= kShort) return exact;
  constexpr std::string_view kSteps = "KMGT";
  double value = static_cast<double>(size.value) / 1024;
  std::size_t step = 0;
  for (; value >= 1024 && step + 1 < kSteps.size(); ++step) value /= 1024;
  return fmt::format("{:.1f}{}", value, kSteps[step]);
}

void print_sizes(const std::vector<SizeSummary>& sizes) {
  if (sizes.empty()) return;
  const bool is_expected = std::ranges::any_of(
      sizes, [](const SizeSummary& one) { return one.expected_busbw.has_value(); });
  const auto column = [&](const std::string& text) {
    return is_expected ? fmt::format("{:>10}", text) : std::string();
  };
  fmt::print("\n  {:<15}{:>9}{:>7}{:>8}  {:<20}{:>9}{:>9}{}{:>11}{:>11}  {}\n", "collective",
             "size", "ranks", "count", "choice", "algbw", "busbw", column("expected"), "skew",
             "longest", "last");
  for (const SizeSummary& one : sizes) {
    fmt::print(
        "  {:<15}{:>9}{:>7}{:>8}  {:<20}{:>9}{:>9}{}{:>11}{:>11}  {}\n", to_string(one.collective),
        one.bytes.value > 0 ? short_bytes(one.bytes) : "-", one.nranks, one.count,
        choice_of(one.algorithm, one.protocol), rate_text(one.algbw), rate_text(one.busbw),
        column(rate_text(one.expected_busbw)), time_text(one.skew), time_text(one.longest_skew),
        one.last_rank < 0
            ? "-"
            : fmt::format("rank {} ({} of {})", one.last_rank, one.last_rank_count, one.count));
  }
  fmt::print(
      "\n  algbw, busbw: GB/s from the last rank's entry to the end; skew: from the first rank's "
      "entry to\n"
      "  the last one's; medians over the calls; last: the rank that entered last most often\n");
}

void print_calls(const std::vector<CallSummary>& calls, bool every_one) {
  fmt::print("\n  {:<15}{:>9}{:>7}{:>7}  {:<20}{:>12}{:>9}{:>9}{:>11}  {}\n", "collective", "size",
             "comm", "call", "choice", "time", "algbw", "busbw", "skew", "last");
  const std::size_t shown = every_one ? calls.size() : std::min(kCallRows, calls.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const CallSummary& call = calls[i];
    fmt::print(
        "  {:<15}{:>9}{:>7}{:>7}  {:<20}{:>12}{:>9}{:>9}{:>11}  {}\n", to_string(call.collective),
        call.bytes.value > 0 ? short_bytes(call.bytes) : "-", call.communicator, call.sequence,
        choice_of(call.algorithm, call.protocol),
        call.is_endless ? "never ended" : time_text(Nanoseconds{call.end_ns - call.begin_ns}),
        rate_text(call.algbw()), rate_text(call.busbw()), time_text(call.skew()),
        call.skew() ? fmt::format("rank {}", call.last_rank) : "-");
  }
  if (shown < calls.size()) fmt::print("  {} more with --all\n", calls.size() - shown);
}

std::vector<CallSummary> endless_calls(const std::vector<CallSummary>& calls) {
  std::vector<CallSummary> endless;
  std::ranges::copy_if(calls, std::back_inserter(endless), &CallSummary::is_endless);
  return endless;
}

void print_endless(const std::vector<CallSummary>& calls, bool every_one) {
  const std::vector<CallSummary> endless = endless_calls(calls);
  if (endless.empty()) return;
  fmt::print("\n  never ended:\n");
  print_calls(endless, every_one);
  fmt::print("  ringside hang on this file names the reason, and the rank\n");
}

Json sizes_json(const std::vector<SizeSummary>& sizes) {
  Json rows = Json::array();
  for (const SizeSummary& one : sizes) {
    rows.push_back({{"collective", to_string(one.collective)},
                    {"bytes", one.bytes.value},
                    {"nranks", one.nranks},
                    {"algorithm", word_or_null(one.algorithm)},
                    {"protocol", word_or_null(one.protocol)},
                    {"count", one.count},
                    {"algbw_gbs", gbs_or_null(one.algbw)},
                    {"busbw_gbs", gbs_or_null(one.busbw)},
                    {"expected_busbw_gbs", gbs_or_null(one.expected_busbw)},
                    {"skew_us", us_or_null(one.skew)},
                    {"max_skew_us", us_or_null(one.longest_skew)},
                    {"last_rank", one.last_rank < 0 ? Json() : Json(one.last_rank)},
                    {"last_rank_count", one.last_rank_count}});
  }
  return rows;
}

Json calls_json(const std::vector<CallSummary>& calls) {
  Json rows = Json::array();
  for (const CallSummary& call : calls) {
    rows.push_back({{"communicator", call.communicator},
                    {"sequence", call.sequence},
                    {"collective", to_string(call.collective)},
                    {"bytes", call.bytes.value},
                    {"nranks", call.nranks},
                    {"recorded_ranks", call.recorded},
                    {"algorithm", word_or_null(call.algorithm)},
                    {"protocol", word_or_null(call.protocol)},
                    {"begin_ns", call.begin_ns},
                    {"all_in_ns", call.all_in_ns},
                    {"end_ns", call.is_endless ? Json() : Json(call.end_ns)},
                    {"algbw_gbs", gbs_or_null(call.algbw())},
                    {"busbw_gbs", gbs_or_null(call.busbw())},
                    {"expected_busbw_gbs", gbs_or_null(call.expected_busbw)},
                    {"skew_us", us_or_null(call.skew())},
                    {"last_rank", call.skew() ? Json(call.last_rank) : Json()}});
  }
  return rows;
}

}  // namespace ringside::cli
