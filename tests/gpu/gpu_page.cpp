// Writes what this GPU does as a page in Markdown: device, rates, a table a collective. tests/gpu/run.sh keeps it.
// With a file's name, writes there what is asked of one H200 and what came of it, as rows of a table. With --processes, of ranks that are processes; with --nccl, of NCCL among these, which wants a GPU for each of two.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include "engine/cuda/gpu.h"
#include "harness/gpu_bench.h"
#include "harness/gpu_processes.h"
#include "harness/job.h"

namespace ringside {
namespace {

/// What stands in one table.
struct Table {
  Collective collective;
  int nranks;
  DataType type;
  std::vector<Bytes> sizes;
  CallWishes wishes = {};
};

constexpr Nanoseconds kTimeout = std::chrono::seconds(20);

std::vector<Bytes> powers(int from, int to, int step) {
  std::vector<Bytes> sizes;
  for (int i = from; i <= to; i += step) sizes.push_back(Bytes{1ULL << i});
  return sizes;
}

std::vector<Table> tables() {
  std::vector<Table> all;
  for (const int nranks : {2, 4, 8}) {
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
  return all;
}

double in_mb(Bytes bytes) { return static_cast<double>(bytes.value) * 1e-6; }

/// Writes a row of what is asked, where the row is one that something is asked of.
void write_bar(std::FILE* bars, const Table& table, const GpuBench& bench, const GpuBenchRow& row) {
  if (bars == nullptr || table.collective != Collective::AllReduce ||
      table.type != DataType::Float32 || table.wishes.protocol) {
    return;
  }
  const auto write = [bars](std::string_view what, std::string_view figure, std::string_view asked,
                            bool is_held) {
    fmt::print(bars, "| {} | {} | {} | {} |\n", what, figure, asked, is_held ? "held" : "missed");
  };
  if (table.nranks == 4 && row.bytes == 1_GiB) {
    const double percent = 100 * row.moved.value / bench.copy.value;
    write("1 GiB all-reduce of 4 ranks: bytes moved, of the rate of copies",
          fmt::format("{:.1f} %", percent), "80 %", percent >= 80);
  }
  if (table.nranks == 2 && row.bytes == 8_B) {
    write("8 B all-reduce of 2 ranks in a graph", fmt::format("{:.2f} us", in_us(row.graph)),
          "under 10 us", in_us(row.graph) < 10);
  }
}

/// bars     null: none are written
/// returns  wrong elements
Result<std::int64_t> print(Gpu& gpu, const Table& table, std::FILE* bars) {
  std::printf("\n## %s of %s, %d ranks%s\n\n", to_string(table.collective), to_string(table.type),
              table.nranks, table.wishes.protocol ? to_string(*table.wishes.protocol) : "");
  std::printf(
      "| bytes | algorithm | protocol | channels | time (us) | graph (us) | busbw (GB/s) | loads, "
      "stores (MB) | "
      "of copy (%%) | wrong |\n");
  std::printf("|---|---|---|---|---|---|---|---|---|---|\n");
  BenchOptions options;
  options.collective = table.collective;
  options.type = table.type;
  options.sizes = table.sizes;
  RINGSIDE_TRY(const GpuBench bench, run_gpu_bench(gpu, table.nranks, options, table.wishes,
                                                   kTimeout, nullptr, [](const GpuBench&) {}));
  std::int64_t wrong = 0;
  for (const GpuBenchRow& row : bench.rows) {
    std::printf("| %llu | %s | %s | %d | %.2f | %.2f | %.2f | %.3f, %.3f | %.1f | %lld |\n",
                static_cast<unsigned long long>(row.bytes.value), to_string(row.choice.algorithm),
                to_string(row.choice.protocol), row.choice.nchannels, in_us(row.median),
                in_us(row.graph), in_gbs(row.busbw), in_mb(row.traffic.loaded),
                in_mb(row.traffic.stored), 100 * row.moved.value / bench.copy.value,
                static_cast<long long>(row.wrong));
    wrong += row.wrong;
    write_bar(bars, table, bench, row);
  }
  std::printf(
      "\nCopies within the GPU: %.1f GB/s, beside which a launch's loads and stores together count "
      "half.\n",
      in_gbs(bench.copy));
  std::fflush(stdout);
  return wrong;
}

/// Ranks that are processes, each with a kernel of its own; what is printed is rank 0's.
/// gpu  what make_executor opens, in each rank's process
Result<int> print_processes(const char* way, std::unique_ptr<Gpu>& gpu, ExecutorMaker make_executor,
                            const CallWishes& wishes = {}) {
  JobOptions job;
  job.local_ranks = 2;
  job.communicator.op_timeout = Seconds{20};
  job.make_executor = std::move(make_executor);
  return run_job(job, [&](JobRank& rank) -> Result<int> {
    BenchOptions options;
    options.sizes = {8_B, 64_KiB, 16_MiB};
    options.device = &gpu->memory();
    rank.communicator.set_wishes(wishes);
    if (rank.speaks) {
      std::printf("\n## all_reduce of float32, 2 processes, %s\n\n", way);
      std::printf(
          "| bytes | algorithm | time (us) | busbw (GB/s) | wrong |\n|---|---|---|---|---|\n");
    }
    RINGSIDE_TRY(const auto rows, run_bench(rank.communicator, options, [](const BenchRow&) {}));
    const bool is_nccl = rank.communicator.transport() == "nccl";
    int status = 0;
    for (const BenchRow& row : rows) {
      const BenchTiming& time = row.out_of_place;
      if (time.wrong != 0 || row.in_place->wrong != 0) status = 1;
      if (!rank.speaks) continue;
      std::printf("| %llu | %s%s | %.2f | %.2f | %lld |\n",
                  static_cast<unsigned long long>(row.bytes.value),
                  is_nccl ? "NCCL's" : to_string(row.choice.algorithm),
                  is_modelled(row.choice) ? " (modelled)" : "", in_us(time.median),
                  in_gbs(time.busbw), static_cast<long long>(time.wrong));
    }
    std::fflush(stdout);
    return status;
  });
}

/// Where slots lie, and what chooses that. The ranks read it when they have been forked.
struct ProcessWay {
  const char* name;
  const char* variable;
  const char* value;
};
constexpr ProcessWay kProcessWays[] = {{"GPU memory by cuMem", "NCCL_CUMEM_ENABLE", "1"},
                                       {"GPU memory by CUDA IPC", "NCCL_CUMEM_ENABLE", "0"},
                                       {"pages of the host", "NCCL_P2P_DISABLE", "1"}};

Result<int> run_processes() {
  std::unique_ptr<Gpu> gpu;
  int worst = 0;
  for (const ProcessWay& way : kProcessWays) {
    ::setenv(way.variable, way.value, 1);
    const auto status = print_processes(way.name, gpu, gpu_process_executor(gpu));
    ::unsetenv(way.variable);
    // One that this host does not have, or that fails, leaves the others.
    if (!status) std::printf("\n%s: %s\n", way.name, status.error().message.c_str());
    const bool has_failed = !status && status.error().code != ErrorCode::Unsupported;
    worst = std::max(worst, status ? *status : (has_failed ? 1 : 0));
    std::fflush(stdout);
  }
  // By the NVSwitch where there is one, else modelled: the table says which.
  RINGSIDE_TRY(const int by_nvls, print_processes("nvls", gpu, gpu_process_executor(gpu),
                                                  {.algorithm = Algorithm::Nvls}));
  RINGSIDE_TRY(const Transport* const tcp, parse_transport("tcp"));
  RINGSIDE_TRY(const int by_proxy,
               print_processes("a proxy and tcp", gpu, gpu_process_executor(gpu, tcp)));
  return std::max({worst, by_nvls, by_proxy});
}

Result<int> run_nccl() {
  std::unique_ptr<Gpu> gpu;
  return print_processes("NCCL", gpu, gpu_nccl_executor(gpu));
}

Result<int> run(const char* bars_path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> bars(
      bars_path == nullptr ? nullptr : std::fopen(bars_path, "w"), std::fclose);
  std::int64_t wrong = 0;
  for (const Table& table : tables()) {
    // A GPU anew for each: its memory goes with it.
    RINGSIDE_TRY(const std::unique_ptr<Gpu> gpu, Gpu::open());
    RINGSIDE_TRY(const std::int64_t here, print(*gpu, table, bars.get()));
    wrong += here;
  }
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  // Those fork, so nothing in this process may have met the GPU.
  const std::string_view what = argc == 2 ? argv[1] : "";
  const auto status = what == "--processes" ? ringside::run_processes()
                      : what == "--nccl"    ? ringside::run_nccl()
                                            : ringside::run(argc == 2 ? argv[1] : nullptr);
  if (status) return *status;
  std::fprintf(stderr, "error: %s\nhelp:  %s\n", status.error().message.c_str(),
               status.error().help.c_str());
  return 3;
}
