#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/append.h"
#include "base/json.h"
#include "base/local_time.h"
#include "base/text.h"
#include "cli/bench/bench_shapes.h"

namespace ringside::cli {
namespace {

constexpr std::pair<Collective, const char*> kPrograms[] = {
    {Collective::AllReduce, "all_reduce_perf"},
    {Collective::AllGather, "all_gather_perf"},
    {Collective::ReduceScatter, "reduce_scatter_perf"},
    {Collective::Broadcast, "broadcast_perf"},
    {Collective::Reduce, "reduce_perf"},
    {Collective::AllToAll, "alltoall_perf"},
    {Collective::SendRecv, "sendrecv_perf"},
    {Collective::Gather, "gather_perf"},
    {Collective::Scatter, "scatter_perf"},
};

const char* program_of(Collective collective) {
  for (const auto& [known, name] : kPrograms) {
    if (known == collective) return name;
  }
  return nullptr;
}

BytesPerSecond mean_algbw(const BenchRow& row, const BenchTiming& timing) {
  return row.bytes / timing.mean;
}

BytesPerSecond mean_busbw(const BenchJob& job, const BenchRow& row, const BenchTiming& timing) {
  return mean_algbw(row, timing) * busbw_factor(job.options.collective, job.nranks);
}

/// Seven places, as getFloatStr() fills them.
std::string time_text(Seconds time) {
  const double us = in_us(time);
  return us >= 1e5   ? fmt::format("{:.0f}", us)
         : us >= 1e4 ? fmt::format("{:.1f}", us)
                     : fmt::format("{:.2f}", us);
}

std::string timing_columns(const BenchJob& job, const BenchRow& row, const BenchTiming* timing) {
  if (timing == nullptr)
    return fmt::format("  {:>7}  {:>6}  {:>6}  {:>5}", "N/A", "N/A", "N/A", "N/A");
  return fmt::format(
      "  {:>7}  {:>6.2f}  {:>6.2f}  {}", time_text(timing->mean), in_gbs(mean_algbw(row, *timing)),
      in_gbs(mean_busbw(job, row, *timing)),
      job.options.checks == 0 ? fmt::format("{:>5}", "N/A") : fmt::format("{:>6}", timing->wrong));
}

/// Returns the mean of all timings, in place and out of place.
double average_busbw(const BenchJob& job, const std::vector<BenchRow>& rows) {
  double sum = 0;
  int timings = 0;
  for (const BenchRow& row : rows) {
    sum += in_gbs(mean_busbw(job, row, row.out_of_place));
    ++timings;
    if (!row.in_place) continue;
    sum += in_gbs(mean_busbw(job, row, *row.in_place));
    ++timings;
  }
  return timings == 0 ? 0 : sum / timings;
}

Json timing_json(const BenchJob& job, const BenchRow& row, const BenchTiming* timing) {
  if (timing == nullptr) return nullptr;
  return {{"time", in_us(timing->mean)},
          {"alg_bw", in_gbs(mean_algbw(row, *timing))},
          {"bus_bw", in_gbs(mean_busbw(job, row, *timing))},
          {"nwrong", job.options.checks == 0 ? Json() : Json(fmt::to_string(timing->wrong))}};
}

/// NCCL's variables: others may be secret.
Json environment_json() {
  Json all = Json::array();
  for (char** one = environ; one != nullptr && *one != nullptr; ++one) {
    const std::string_view text(*one);
    if (text.starts_with("NCCL_")) all.push_back(text);
  }
  return all;
}

Json devices_json(const std::vector<BenchMember>& members) {
  Json devices = Json::array();
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    const BenchMember& one = members[rank];
    devices.push_back({{"rank", rank},
                       {"group", 0},
                       {"pid", one.pid},
                       {"hostname", one.host},
                       {"device", one.device},
                       {"device_hex", "0x00"},
                       {"device_info", one.name}});
  }
  return devices;
}

/// nccl-tests has a program for each collective: its readers take the collective from the first word.
std::vector<std::string> words_as_nccl_tests(const std::vector<std::string>& words,
                                             Collective collective) {
  std::vector<std::string> all{program_of(collective)};
  bool is_verb = true, is_collective = true;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (std::exchange(is_verb, is_verb && words[i] != "bench") && words[i] == "bench") continue;
    const bool is_first = is_collective && words[i] == to_string(collective);
    is_collective = is_collective && !is_first;
    if (!is_first) all.push_back(words[i]);
  }
  return all;
}

/// `10002`: major, minor and patch as NCCL writes its own.
int version_code() {
  int code = 0;
  int part = 0;
  for (const char letter : std::string_view(RINGSIDE_VERSION ".")) {
    if (letter >= '0' && letter <= '9') {
      part = part * 10 + (letter - '0');
    } else {
      code = code * 100 + part;
      part = 0;
    }
  }
  return code;
}

}  // namespace

Status check_nccl_tests(Collective collective) {
  if (program_of(collective) != nullptr) return {};
  return Error{ErrorCode::InvalidArgument,
               fmt::format("nccl-tests has no {}", to_string(collective)), "omit --like and -J"};
}

std::string nccl_tests_head(const BenchJob& job, const NcclTestsRun& run) {
  const BenchOptions& bench = job.options;
  std::string text = fmt::format(
      "# ringside {} over {}, in the shape of nccl-tests 2.17\n"
      "# Collective test starting: {}\n"
      "# nThread 1 nGpus 1 minBytes {} maxBytes {} step: {}({}) warmup iters: {} iters: {} agg "
      "iters: 1 validation: {} graph: {}\n#\n# Using devices\n",
      RINGSIDE_VERSION, job.transport, program_of(bench.collective), run.least.value,
      run.most.value, run.step ? run.step->value : static_cast<std::uint64_t>(run.factor),
      run.step ? "bytes" : "factor", bench.warmup, bench.iterations, bench.checks, bench.graph);
  for (std::size_t rank = 0; rank < run.members.size(); ++rank) {
    const BenchMember& one = run.members[rank];
    append(text, "#  Rank {:>2} Group  0 Pid {:>6} on {:>10} device {:>2} [0000:00:00] {}\n", rank,
           one.pid, one.host, one.device, one.name);
  }
  return text +
         "#\n#                                                              out-of-place           "
         "  "
         "          in-place          \n"
         "#       size         count      type   redop    root     time   algbw   busbw  #wrong    "
         " "
         "time   algbw   busbw  #wrong \n"
         "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            "
         " "
         "(us)  (GB/s)  (GB/s)         \n";
}

std::string nccl_tests_line(const BenchJob& job, const BenchRow& row) {
  const BenchOptions& bench = job.options;
  return fmt::format("{:>12}  {:>12}  {:>8}  {:>6}  {:>6}{}{}\n", row.bytes.value, row.count,
                     to_string(bench.type), study::redop_column(bench), study::root_column(bench),
                     timing_columns(job, row, &row.out_of_place),
                     timing_columns(job, row, row.in_place ? &*row.in_place : nullptr));
}

std::string nccl_tests_foot(const BenchJob& job, const std::vector<BenchRow>& rows) {
  const std::int64_t wrong = study::wrong_in(rows);
  return fmt::format(
      "# Out of bounds values : {} {}\n# Avg bus bandwidth    : {:g} \n#\n# Collective test "
      "concluded: {}\n#\n",
      wrong, wrong == 0 ? "OK" : "FAILED", average_busbw(job, rows),
      program_of(job.options.collective));
}

std::string nccl_tests_json(const BenchJob& job, const NcclTestsRun& run,
                            const std::vector<BenchRow>& rows,
                            const std::vector<std::string>& words) {
  const BenchOptions& bench = job.options;
  Json config{{"nthreads", 1},
              {"ngpus", 1},
              {"minimum_bytes", run.least.value},
              {"maximum_bytes", run.most.value}};
  if (run.step) {
    config["step_bytes"] = run.step->value;
  } else {
    config["step_factor"] = run.factor;
  }
  config.update({{"warmup_iters", bench.warmup},
                 {"iterations", bench.iterations},
                 {"aggregated_iterations", 1},
                 {"validation", bench.checks},
                 {"graph", bench.graph},
                 {"blocking_collectives", "false"},
                 {"per_iter_timing", "false"},
                 {"per_iter_skip", 0},
                 {"parallel_init", "false"},
                 {"devices", devices_json(run.members)}});
  Json results = Json::array();
  for (const BenchRow& row : rows) {
    results.push_back({{"size", row.bytes.value},
                       {"count", row.count},
                       {"type", to_string(bench.type)},
                       {"redop", study::redop_column(bench)},
                       {"root", fmt::format("{:>6}", study::root_column(bench))},
                       {"out_of_place", timing_json(job, row, &row.out_of_place)},
                       {"in_place", timing_json(job, row, row.in_place ? &*row.in_place : nullptr)},
                       {"actual_iterations", bench.iterations},
                       {"experiment_name", ""}});
  }
  const std::int64_t wrong = study::wrong_in(rows);
  return to_text(Json{
      {"version", 3},
      {"start_time", run.began},
      {"args", words_as_nccl_tests(words, bench.collective)},
      {"env", environment_json()},
      {"nccl_version", fmt::to_string(version_code())},
      {"config", std::move(config)},
      {"results", std::move(results)},
      {"out_of_bounds", {{"count", wrong}, {"okay", wrong == 0 ? "true" : "false"}}},
      {"average_bus_bandwidth", {{"bandwidth", average_busbw(job, rows)}, {"okay", "unchecked"}}},
      {"errors", wrong == 0 ? 0 : 1},
      {"end_time", local_time()}});
}

}  // namespace ringside::cli
