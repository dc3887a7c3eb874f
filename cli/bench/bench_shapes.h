#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/runtime/communicator.h"
#include "study/validate/bench_rows.h"

/// Prints the rows of `bench` as other benchmarks print theirs, so that existing parsers and dashboards read them.
/// Their times are averages, so these are too.
namespace ringside::cli {

using study::BenchJob;

/// The benchmark whose output is imitated.
enum class BenchShape : std::uint8_t { Ringside, NcclTests, Osu };

/// errors  InvalidArgument: unknown; that benchmark has no such collective
Result<BenchShape> parse_shape(const std::string& text, Collective collective);
/// errors  InvalidArgument: nccl-tests has no such collective
Status check_nccl_tests(Collective collective);

/// A rank, as nccl-tests lists its devices.
struct BenchMember {
  std::int32_t pid = 0;
  std::int32_t device = 0;  ///< the rank's number among the ranks of its host
  std::string host, name;   ///< name: of the GPU, or of what replaces it
};

/// Returns the members of the job by rank.
/// shape   every rank calls it
/// errors  as Communicator::all_gather_bytes()
Result<std::vector<BenchMember>> gather_members(runtime::Communicator& communicator,
                                                const std::string& device_name);

/// What the head of nccl-tests and its JSON document show of a run, next to its rows.
struct NcclTestsRun {
  std::vector<BenchMember> members;
  Bytes least, most;          ///< -b and -e
  std::optional<Bytes> step;  ///< -i; none: by a factor
  int factor = 2;             ///< -f
  std::string began;          ///< "YYYY-MM-DD HH:MM:SS"
};

/// Returns the text of nccl-tests 2.17 and later, without its first line, which names its version.
/// source  NVIDIA/nccl-tests src/common.cu
std::string nccl_tests_head(const BenchJob& job, const NcclTestsRun& run);
std::string nccl_tests_line(const BenchJob& job, const BenchRow& row);
std::string nccl_tests_foot(const BenchJob& job, const std::vector<BenchRow>& rows);

/// Returns the document that nccl-tests writes with -J, version 3.
/// words   of the command line
/// source  NVIDIA/nccl-tests src/util.cu
std::string nccl_tests_json(const BenchJob& job, const NcclTestsRun& run,
                            const std::vector<BenchRow>& rows,
                            const std::vector<std::string>& words);

/// Returns the text of the OSU micro-benchmarks' latency tests. Their size is that of one rank's message.
/// source  OSU Micro-Benchmarks 5 to 7, util/osu_util.c
std::string osu_head(const BenchJob& job);
std::string osu_line(const BenchJob& job, const BenchRow& row);

}  // namespace ringside::cli
