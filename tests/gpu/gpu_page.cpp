// Measures what one GPU does, and prints tables in Markdown, one for each collective. tests/gpu/run.sh makes a page of it.
//
//   ringside_gpu_page [FILE]        ranks that share the GPU in one launch; FILE gets rows for the bars: the last row of each holds
//   ringside_gpu_page --processes   ranks that are processes
//   ringside_gpu_page --nccl        the same by NCCL, which needs a GPU for each of two ranks
//   ringside_gpu_page --facts       one line about the GPU
//
// exit status  0: fine, 1: a size failed or has wrong elements, 3: it cannot run here
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/cuda/gpu/gpu.h"
#include "harness/gpu_bench.h"
#include "harness/gpu_processes.h"
#include "harness/job.h"
#include "tests/gpu/parts.h"

namespace ringside {
namespace {

/// The content of one table.
struct Table {
  Collective collective;
  int nranks;
  DataType type;
  std::vector<Bytes> sizes;
  CallSettings settings = {};
};

/// A target for one H200: for an all-reduce of float32.
struct Bar {
  int nranks;
  Bytes bytes;
  const char* what;
  const char* target;
};
constexpr Bar kOfCopies{
    4, 1_GiB, "1 GiB all-reduce of 4 ranks: bytes moved per second, relative to a copy", "80 %"};
constexpr Bar kInGraph{2, 8_B, "8 B all-reduce of 2 ranks in a graph", "under 10 us"};
constexpr const Bar* kBars[] = {&kOfCopies, &kInGraph};

constexpr Nanoseconds kTimeout = std::chrono::seconds(20);
/// Seconds for one size, or for one place of slots between processes: each includes more than one wait that ends by
/// its time-out.
constexpr unsigned kMostOfPart = 30;

std::vector<Bytes> powers(int from, int to, int step) {
  std::vector<Bytes> sizes;
  for (int i = from; i <= to; i += step) sizes.push_back(Bytes{1ULL << i});
  return sizes;
}

const Bar* bar_of(const Table& table, Bytes bytes) {
  if (table.collective != Collective::AllReduce || table.type != DataType::Float32 ||
      table.settings.protocol) {
    return nullptr;
  }
  for (const Bar* const bar : kBars) {
    if (bar->nranks == table.nranks && bar->bytes == bytes) return bar;
  }
  return nullptr;
}

/// Tables and sizes with a target come first, since the time may not suffice for later ones.
std::vector<Table> tables() {
  std::vector<Table> all;
  for (const int nranks : {4, 2, 8}) {
    all.push_back(
        {Collective::AllReduce, nranks, DataType::Float32, powers(3, nranks == 4 ? 30 : 27, 3)});
  }
  for (const DataType type : {DataType::Bfloat16, DataType::Float16, DataType::Float8E4m3}) {
    all.push_back({Collective::AllReduce, 4, type, powers(16, 28, 6)});
  }
  for (const Collective collective :
       {Collective::AllGather, Collective::ReduceScatter, Collective::Broadcast, Collective::Reduce,
        Collective::AllToAll, Collective::SendRecv}) {
    all.push_back({collective, 4, DataType::Float32, powers(12, 28, 8)});
  }
  for (const Protocol protocol : {Protocol::LL, Protocol::LL128, Protocol::Simple}) {
    all.push_back(
        {Collective::AllReduce, 4, DataType::Float32, powers(10, 22, 6), {.protocol = protocol}});
  }
  for (Table& table : all) {
    std::ranges::stable_partition(table.sizes,
                                  [&](Bytes bytes) { return bar_of(table, bytes) != nullptr; });
  }
  return all;
}

double in_mb(Bytes bytes) { return static_cast<double>(bytes.value) * 1e-6; }

/// Returns the text without characters that would break a cell of a table.
std::string cell_of(std::string text) {
  std::ranges::replace_if(
      text, [](char letter) { return letter == '|' || letter == '\n'; }, ' ');
  return text;
}

/// Writes a row of the table of targets.
/// bars  null: none are written
void write_bar(std::FILE* bars, const Bar& bar, const std::string& figure, bool is_met) {
  if (bars == nullptr) return;
  fmt::print(bars, "| {} | {} | {} | {} |\n", bar.what, figure, bar.target,
             is_met ? "met" : "missed");
  std::fflush(bars);
}

void write_row(std::FILE* bars, const Bar* bar, const GpuBench& bench, const GpuBenchRow& row) {
  std::printf("| %llu | %s | %s | %d | %.2f | %.2f | %.2f | %.3f, %.3f | %.1f | %lld |\n",
              static_cast<unsigned long long>(row.bytes.value), to_string(row.choice.algorithm),
              to_string(row.choice.protocol), row.choice.nchannels, in_us(row.median),
              in_us(row.graph), in_gbs(row.busbw), in_mb(row.traffic.loaded),
              in_mb(row.traffic.stored), 100 * row.moved.value / bench.copy.value,
              static_cast<long long>(row.wrong));
  std::fflush(stdout);
  if (bar == &kOfCopies) {
    const double percent = 100 * row.moved.value / bench.copy.value;
    write_bar(bars, *bar, fmt::format("{:.1f} %", percent), percent >= 80);
  } else if (bar == &kInGraph) {
    write_bar(bars, *bar, fmt::format("{:.2f} us", in_us(row.graph)), in_us(row.graph) < 10);
  }
}

/// Measures the sizes of a table from `first` on, in this process.
Status measure(const Table& table, std::size_t first, std::FILE* bars,
               const std::function<void()>& done) {
  RINGSIDE_TRY(const std::unique_ptr<Gpu> gpu, Gpu::open());
  BenchOptions options;
  options.collective = table.collective;
  options.type = table.type;
  options.sizes.assign(table.sizes.begin() + static_cast<std::ptrdiff_t>(first), table.sizes.end());
  std::int64_t wrong = 0;
  RINGSIDE_TRY(const GpuBench bench, run_gpu_bench(*gpu, table.nranks, options, table.settings,
                                                   kTimeout, nullptr, [&](const GpuBench& now) {
                                                     const GpuBenchRow& row = now.rows.back();
                                                     write_row(bars, bar_of(table, row.bytes), now,
                                                               row);
                                                     wrong += row.wrong;
                                                     done();
                                                   }));
  std::printf(
      "\nA copy within the GPU moves %.1f GB/s. The column \"of copy\" counts half of a launch's "
      "loads and stores.\n",
      in_gbs(bench.copy));
  if (wrong == 0) return {};
  return Error{ErrorCode::Corrupt, fmt::format("{} wrong elements", wrong)};
}

/// Prints a table. The other sizes are measured even if one fails.
///
/// returns  whether all succeeded
bool print(const Table& table, std::FILE* bars) {
  std::printf("\n## %s of %s, %d ranks%s%s\n\n", to_string(table.collective), to_string(table.type),
              table.nranks, table.settings.protocol ? ", " : "",
              table.settings.protocol ? to_string(*table.settings.protocol) : "");
  std::printf(
      "| bytes | algorithm | protocol | channels | time (us) | graph (us) | busbw (GB/s) | loads, "
      "stores (MB) | "
      "of copy (%%) | wrong |\n");
  std::printf("|---|---|---|---|---|---|---|---|---|---|\n");
  const auto on_failure = [&](int part, const std::string& why) {
    const auto size = static_cast<std::size_t>(part);
    if (size == table.sizes.size()) {
      std::printf("\nAfter the last size: %s.\n", why.c_str());
      return;
    }
    std::printf("| %llu | failed: %s | | | | | | | | |\n",
                static_cast<unsigned long long>(table.sizes[size].value), cell_of(why).c_str());
    if (const Bar* const bar = bar_of(table, table.sizes[size])) {
      write_bar(bars, *bar, "failed: " + cell_of(why), false);
    }
  };
  return run_in_parts(
      static_cast<int>(table.sizes.size()), kMostOfPart,
      [&](int first, const std::function<void()>& done) {
        return measure(table, static_cast<std::size_t>(first), bars, done);
      },
      on_failure);
}

/// The place of the slots between processes, and the variable that selects it. The ranks read the variable after they
/// have been forked.
struct ProcessWay {
  const char* name;
  const char* variable = nullptr;
  const char* value = nullptr;
  const char* transport = nullptr;
  CallSettings settings = {};
};
constexpr ProcessWay kProcessWays[] = {
    {.name = "GPU memory by cuMem", .variable = "NCCL_CUMEM_ENABLE", .value = "1"},
    {.name = "GPU memory by CUDA IPC", .variable = "NCCL_CUMEM_ENABLE", .value = "0"},
    {.name = "pages of the host", .variable = "NCCL_P2P_DISABLE", .value = "1"},
    // Runs by the NVSwitch if there is one, and is modelled otherwise: the table says which.
    {.name = "nvls", .settings = {.algorithm = Algorithm::Nvls}},
    {.name = "a proxy and tcp", .transport = "tcp"}};

/// Runs ranks that are processes, each with kernels of its own; rank 0 prints.
///
/// gpu  the GPU that make_executor opens in each rank's process
Result<int> print_job(std::unique_ptr<Gpu>& gpu, ExecutorMaker make_executor,
                      const CallSettings& settings = {}) {
  JobOptions job;
  job.local_ranks = 2;
  job.communicator.op_timeout = Seconds{10};
  job.make_executor = std::move(make_executor);
  return run_job(job, [&](JobRank& rank) -> Result<int> {
    BenchOptions options;
    options.sizes = {8_B, 64_KiB, 16_MiB};
    options.device = &gpu->memory();
    rank.communicator.set_settings(settings);
    const bool is_nccl = rank.communicator.transport() == "nccl";
    int status = 0;
    const auto on_row = [&](const BenchRow& row) {
      const BenchTiming& time = row.out_of_place;
      if (time.wrong != 0 || row.in_place->wrong != 0) status = 1;
      if (!rank.prints_results) return;
      std::printf("| %llu | %s%s | %.2f | %.2f | %lld |\n",
                  static_cast<unsigned long long>(row.bytes.value),
                  is_nccl ? "NCCL's" : to_string(row.choice.algorithm),
                  is_modelled(row.choice) ? " (modelled)" : "", in_us(time.median),
                  in_gbs(time.busbw), static_cast<long long>(time.wrong));
      std::fflush(stdout);
    };
    RINGSIDE_TRY(const auto rows, run_bench(rank.communicator, options, on_row));
    return status;
  });
}

void print_heading(const char* way) {
  std::printf("\n## all_reduce of float32, 2 processes, %s\n\n", way);
  std::printf("| bytes | algorithm | time (us) | busbw (GB/s) | wrong |\n|---|---|---|---|---|\n");
  std::fflush(stdout);
}

/// errors  those of the job; none if this host does not support the place
Status measure(const ProcessWay& way) {
  std::unique_ptr<Gpu> gpu;
  const Transport* transport = nullptr;
  if (way.transport != nullptr) {
    RINGSIDE_TRY(transport, parse_transport(way.transport));
  }
  if (way.variable != nullptr) ::setenv(way.variable, way.value, 1);
  print_heading(way.name);
  const auto status = print_job(gpu, gpu_process_executor(gpu, transport), way.settings);
  if (way.variable != nullptr) ::unsetenv(way.variable);
  if (status) {
    if (*status == 0) return {};
    return Error{ErrorCode::Corrupt, "wrong elements"};
  }
  if (status.error().code != ErrorCode::Unsupported) return status.error();
  std::printf("\nNot on this host: %s.\n", status.error().message.c_str());
  return {};
}

/// returns  whether all succeeded; the others are measured even if one fails
bool print_processes() {
  constexpr int kCount = std::size(kProcessWays);
  return run_in_parts(
      kCount, kMostOfPart,
      [](int first, const std::function<void()>& done) -> Status {
        for (int i = first; i < kCount; ++i) {
          RINGSIDE_TRY(measure(kProcessWays[i]));
          done();
        }
        return {};
      },
      [](int part, const std::string& why) {
        const char* const way = part < kCount ? kProcessWays[part].name : "after the last";
        std::printf("\nFailed, %s: %s.\n", way, why.c_str());
      });
}

Result<int> print_nccl() {
  std::unique_ptr<Gpu> gpu;
  print_heading("NCCL");
  return print_job(gpu, gpu_nccl_executor(gpu));
}

/// bars_path  null: no bars are written
bool print_all(const char* bars_path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> bars(
      bars_path == nullptr ? nullptr : std::fopen(bars_path, "w"), std::fclose);
  if (bars != nullptr) {
    for (const Bar* const bar : kBars)
      fmt::print(bars.get(), "| {} | | {} | not run |\n", bar->what, bar->target);
    std::fflush(bars.get());
  }
  bool is_fine = true;
  for (const Table& table : tables()) is_fine = print(table, bars.get()) && is_fine;
  return is_fine;
}

Result<int> print_facts() {
  RINGSIDE_TRY(const std::unique_ptr<Gpu> gpu, Gpu::open());
  const GpuFacts& facts = gpu->facts();
  fmt::print(
      "{}, sm_{}{}, {} multiprocessors, {:.1f} GB, CUDA {}.{} of the driver, {}.{} of this build\n",
      facts.name, facts.major, facts.minor, facts.multiprocessors,
      static_cast<double>(facts.memory.value) * 1e-9, facts.driver / 1000, facts.driver % 1000 / 10,
      facts.runtime / 1000, facts.runtime % 1000 / 10);
  return 0;
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  using namespace ringside;
  // All modes except the facts fork, so this process must not have used the GPU.
  const std::string_view what = argc == 2 ? argv[1] : "";
  Result<int> status = 0;
  if (what == "--processes") {
    status = print_processes() ? 0 : 1;
  } else if (what == "--nccl") {
    status = print_nccl();
  } else if (what == "--facts") {
    status = print_facts();
  } else {
    status = print_all(argc == 2 ? argv[1] : nullptr) ? 0 : 1;
  }
  if (status) return *status;
  std::fprintf(stderr, "error: %s\nhelp:  %s\n", status.error().message.c_str(),
               status.error().help.c_str());
  return 3;
}
