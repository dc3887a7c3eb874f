#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "cli/bench/fault_options.h"
#include "harness/bench.h"
#include "harness/job.h"
#include "harness/overlap.h"

namespace ringside::cli {

class Options;

/// The unparsed arguments of `bench`.
struct BenchArguments {
  std::string collective;
  std::optional<int> ranks;
  std::string from = "8";
  std::string to = "64M";
  std::string step;  ///< -i; empty: by a factor
  std::optional<int> factor;
  std::optional<int> threads, gpus;  ///< -t, -g
  std::string type = "float";
  std::string op = "sum";
  int root = 0;
  int warmup = 5;
  int iterations = 20;
  std::string check = "last";
  std::string buffers = "shared";
  std::string transport;
  std::string device = "host";
  bool processes = false;
  int graph = 0;
  std::string backend = "ringside";
  std::string algorithm;
  std::string protocol;
  int channels = 0;
  std::string slot;
  int ranks_per_node = 0;
  std::string bind = "auto";
  std::string join_timeout = "8s";
  std::string op_timeout = "60s";
  FaultArguments faults;
  std::string overlap;
  int layers = 16;
  std::string bucket_cap = "25M";
  std::string dumps;
  std::optional<int> status_port;
  std::string trace;
  std::string plot;
  std::string like;
  std::string nccl_tests_file;
  bool all_algorithms = false;
  bool tune = false;
  bool expects = false;
  bool json = false;
  bool csv = false;
  bool is_forced = false;

  [[nodiscard]] bool has_peer() const { return backend != "ringside" && backend != "nccl"; }
  [[nodiscard]] bool is_grid() const { return all_algorithms || tune; }
  [[nodiscard]] bool prints_text() const { return !json && !csv; }
  [[nodiscard]] int factor_or_default() const { return factor.value_or(2); }
};

/// Adds the options that fill `arguments`.
void declare_bench(Options& app, BenchArguments& arguments);

/// Parses the options of the calls.
/// errors  InvalidArgument: an unknown word or a number out of range, with the nearest word or the range; options that the
///         output of --like or -J has no place for
Result<BenchOptions> bench_options(const BenchArguments& arguments);

/// Parses the options of --overlap.
/// errors  as bench_options()
Result<OverlapOptions> overlap_options(const BenchArguments& arguments);

/// Parses the options of the job, and creates the folder of --dumps: an error now is better than one at the time of
/// writing.
/// errors  as bench_options(); InvalidArgument: two options that exclude each other, or the folder cannot be created
Result<JobOptions> bench_job_options(const BenchArguments& arguments);

}  // namespace ringside::cli
