#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "tests/cuda/process_job.h"
#include "tests/support/shared_page.h"

// Memory of one process's GPU that another process opens.
namespace ringside {
namespace {

/// The identity of a process that is not this one.
constexpr ProcessIdentity kAnotherProcess{1, 2};

int fail(const ProcessRank& rank, const char* what) {
  std::fprintf(stderr, "rank %d: %s\n", rank.rank, what);
  return 1;
}

std::vector<std::byte> bytes_of(std::size_t size, int first) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = std::byte(first + static_cast<int>(i % 101));
  return bytes;
}

// CUDA IPC shares the whole block that cudaMalloc() cuts small allocations from: the handle has to lead to the piece.
TEST(CudaProcessMemory, ASmallAllocationIsReadAndWrittenThroughItsHandle) {
  constexpr std::size_t kSize = 4000;
  const std::vector<std::byte> neighbour_data = bytes_of(kSize, 3), data = bytes_of(kSize, 40),
                               answer = bytes_of(kSize, 90);
  SharedPage<DeviceHandle> crossing;
  const ProcessJob job{.nranks = 2, .shares_by = MemoryAccess::Ipc, .memory = {.by_file = false}};
  const auto status = run_processes(job, [&](const ProcessRank& rank) -> Result<int> {
    DeviceMemory& memory = rank.device.launcher().memory;
    std::vector<std::byte> found(kSize);
    if (rank.rank == 1) {
      RINGSIDE_TRY(rank.communicator.barrier());
      RINGSIDE_TRY(std::byte* const opened, memory.open({*crossing, {}}));
      RINGSIDE_TRY(memory.read(found, opened));
      RINGSIDE_TRY(memory.write(opened, answer));
      RINGSIDE_TRY(rank.communicator.barrier());
      return found == data ? 0 : fail(rank, "the handle leads to other data");
    }
    RINGSIDE_TRY(std::byte* const neighbour, rank.device.take_piece(Bytes{kSize}));
    RINGSIDE_TRY(std::byte* const piece, rank.device.take_piece(Bytes{kSize}));
    RINGSIDE_TRY(memory.write(neighbour, neighbour_data));
    RINGSIDE_TRY(memory.write(piece, data));
    RINGSIDE_TRY(const DeviceShare share, memory.share(piece, kAnotherProcess));
    if (share.handle.access != MemoryAccess::Ipc)
      return fail(rank, "cudaMalloc()'s is not shared by IPC");
    *crossing = share.handle;
    RINGSIDE_TRY(rank.communicator.barrier());
    RINGSIDE_TRY(rank.communicator.barrier());
    RINGSIDE_TRY(memory.read(found, piece));
    if (found != answer) return fail(rank, "what was written through the handle is elsewhere");
    RINGSIDE_TRY(memory.read(found, neighbour));
    return found == neighbour_data ? 0 : fail(rank, "the handle reaches another allocation");
  });
  EXPECT_ENDS_WELL(status);
}

/// Returns the target of an open file's link in /proc.
std::string link_of(int file) {
  return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file)).string();
}

/// Counts the open files of this process whose links have that target.
int count_open(const std::string& link) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // the folder's own entry
    count += std::filesystem::read_symlink(entry.path(), gone) == link ? 1 : 0;
  }
  return count;
}

// Opened memory needs no file any more, at either end. A driver opens files of its own, also of the kind that cuMem
// exports, when memory has been exchanged for the first time, so only the second time counts.
TEST(CudaProcessMemory, NoFileStaysOpenOfMemoryThatHasCrossed) {
  const ProcessJob job{.shares_by = MemoryAccess::File, .memory = {.by_file = true}};
  const auto status = run_processes(job, [&](const ProcessRank& rank) -> Result<int> {
    DeviceMemory& memory = rank.device.launcher().memory;
    DeviceCase test = all_reduce_case(3, Protocol::Simple, 90);
    RINGSIDE_TRY(const auto first, run_case(rank, test));
    RINGSIDE_TRY(std::byte* const taken, memory.take_to_share(Bytes{4096}, MemoryAccess::File));
    std::string kind;
    {
      RINGSIDE_TRY(const DeviceShare share, memory.share(taken, kAnotherProcess));
      kind = link_of(share.file.get());
    }
    RINGSIDE_TRY(rank.communicator.barrier());
    const int before = count_open(kind);
    // Connections of their own: each rank shares one more piece, and opens one.
    test.choice.slot = 1_KiB;
    RINGSIDE_TRY(const auto second, run_case(rank, test));
    RINGSIDE_TRY(rank.communicator.barrier());
    const int after = count_open(kind);
    if (after == before + files_kept_per_share()) return 0;
    std::fprintf(stderr, "rank %d: %d open files of %s, then %d\n", rank.rank, before, kind.c_str(),
                 after);
    return 1;
  });
  EXPECT_ENDS_WELL(status);
}

}  // namespace
}  // namespace ringside
