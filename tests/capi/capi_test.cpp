// Tests the C interface as a program written for NCCL would use it; ranks are threads.

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <latch>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "engine/transport/socket/socket.h"
#include "ringside/ringside.h"

namespace {

void with_ranks(int nranks, const std::function<void(int rank, rsComm_t comm)>& body) {
  rsUniqueId id;
  ASSERT_EQ(rsGetUniqueId(&id), rsSuccess) << rsGetLastError(nullptr);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < nranks; ++rank) {
    threads.emplace_back([&, rank] {
      rsConfig_t config = RS_CONFIG_INITIALIZER;
      config.connectTimeout = 20;
      config.opTimeout = 20;
      rsComm_t comm = nullptr;
      ASSERT_EQ(rsCommInitRankConfig(&comm, nranks, id, rank, &config), rsSuccess)
          << rsGetLastError(nullptr);
      body(rank, comm);
    });
  }
}

void end(rsComm_t comm) {
  EXPECT_EQ(rsCommFinalize(comm), rsSuccess) << rsGetLastError(comm);
  EXPECT_EQ(rsCommDestroy(comm), rsSuccess);
}

TEST(CApi, EveryCollectiveGivesWhatNcclsWould) {
  with_ranks(3, [](int rank, rsComm_t comm) {
    int count = 0;
    int me = -1;
    EXPECT_EQ(rsCommCount(comm, &count), rsSuccess);
    EXPECT_EQ(rsCommUserRank(comm, &me), rsSuccess);
    EXPECT_EQ(count, 3);
    EXPECT_EQ(me, rank);
    rsStream_t stream = nullptr;
    ASSERT_EQ(rsStreamCreate(&stream), rsSuccess);
    const int one = rank + 1;
    int sum = 0;
    int all[3] = {};
    int blocks[3] = {10 * rank, 10 * rank + 1, 10 * rank + 2};
    int turned[3] = {};
    int block = 0;
    int value = rank == 1 ? 77 : 0;
    int most = 0;
    EXPECT_EQ(rsAllReduce(&one, &sum, 1, rsInt32, rsSum, comm, stream), rsSuccess);
    EXPECT_EQ(rsAllGather(&one, all, 1, rsInt32, comm, stream), rsSuccess);
    EXPECT_EQ(rsAlltoAll(blocks, turned, 1, rsInt32, comm, stream), rsSuccess);
    EXPECT_EQ(rsReduceScatter(blocks, &block, 1, rsInt32, rsSum, comm, stream), rsSuccess);
    EXPECT_EQ(rsBroadcast(&value, &value, 1, rsInt32, 1, comm, stream), rsSuccess);
    EXPECT_EQ(rsReduce(&one, &most, 1, rsInt32, rsMax, 2, comm, stream), rsSuccess);
    EXPECT_EQ(rsStreamSynchronize(stream), rsSuccess);
    EXPECT_EQ(rsStreamQuery(stream), rsSuccess);
    EXPECT_EQ(sum, 6);
    for (int peer = 0; peer < 3; ++peer) {
      EXPECT_EQ(all[peer], peer + 1);
      EXPECT_EQ(turned[peer], 10 * peer + rank);
    }
    EXPECT_EQ(block, 30 + 3 * rank);
    EXPECT_EQ(value, 77);
    EXPECT_EQ(most, rank == 2 ? 3 : 0);
    rsResult_t error = rsInProgress;
    EXPECT_EQ(rsCommGetAsyncError(comm, &error), rsSuccess);
    EXPECT_EQ(error, rsSuccess);
    EXPECT_EQ(rsStreamDestroy(stream), rsSuccess);
    end(comm);
  });
}

TEST(CApi, BlocksOfDifferentLengthsAreGathered) {
  with_ranks(3, [](int rank, rsComm_t comm) {
    rsStream_t stream = nullptr;
    ASSERT_EQ(rsStreamCreate(&stream), rsSuccess);
    const size_t counts[3] = {2, 0, 3};
    const int mine[3] = {10 * rank, 10 * rank + 1, 10 * rank + 2};
    int all[5] = {};
    EXPECT_EQ(rsAllGatherV(mine, all, counts, rsInt32, comm, stream), rsSuccess)
        << rsGetLastError(nullptr);
    EXPECT_EQ(rsAllGatherV(mine, all, nullptr, rsInt32, comm, stream), rsInvalidArgument);
    EXPECT_EQ(rsStreamSynchronize(stream), rsSuccess);
    EXPECT_EQ(std::vector<int>(all, all + 5), (std::vector<int>{0, 1, 20, 21, 22}));
    EXPECT_EQ(rsStreamDestroy(stream), rsSuccess);
    end(comm);
  });
}

TEST(CApi, ASumOfWhatEachRankMultipliesByItsOwnFactor) {
  with_ranks(3, [](int rank, rsComm_t comm) {
    rsStream_t stream = nullptr;
    ASSERT_EQ(rsStreamCreate(&stream), rsSuccess);
    double factor = rank + 1;
    rsRedOp_t op = rsSum;
    ASSERT_EQ(rsRedOpCreatePreMulSum(&op, &factor, rsFloat64, rsScalarHostImmediate, comm),
              rsSuccess);
    EXPECT_GE(op, rsNumOps);
    factor = 1000;  // it was read at once
    const double one = 10;
    double sum = 0;
    EXPECT_EQ(rsAllReduce(&one, &sum, 1, rsFloat64, op, comm, stream), rsSuccess);
    EXPECT_EQ(rsStreamSynchronize(stream), rsSuccess);
    EXPECT_EQ(sum, 60);
    const float other = 1;
    float result = 0;
    EXPECT_EQ(rsAllReduce(&other, &result, 1, rsFloat32, op, comm, stream), rsInvalidArgument);
    EXPECT_EQ(rsRedOpDestroy(op, comm), rsSuccess);
    EXPECT_EQ(rsRedOpDestroy(op, comm), rsInvalidArgument);
    EXPECT_EQ(rsAllReduce(&one, &sum, 1, rsFloat64, op, comm, stream), rsInvalidArgument);
    EXPECT_EQ(rsStreamDestroy(stream), rsSuccess);
    end(comm);
  });
}

TEST(CApi, AWindowIsOfEqualMemoryOnEveryRank) {
  with_ranks(2, [](int rank, rsComm_t comm) {
    void* memory = nullptr;
    ASSERT_EQ(rsMemAlloc(&memory, 4096), rsSuccess);
    rsWindow_t window = nullptr;
    EXPECT_EQ(rsCommWindowRegister(comm, memory, 4096, &window, RS_WIN_COLL_SYMMETRIC), rsSuccess);
    EXPECT_NE(window, nullptr);
    EXPECT_EQ(rsCommWindowDeregister(comm, window), rsSuccess);
    // The counts are unequal, one exceeds the memory, and rank 1 has none.
    const size_t half = rank == 0 ? 2048 : 1024;
    EXPECT_EQ(rsCommWindowRegister(comm, memory, half, &window, RS_WIN_DEFAULT), rsInvalidArgument);
    EXPECT_EQ(window, nullptr);
    EXPECT_EQ(rsCommWindowRegister(comm, memory, 8192, &window, RS_WIN_DEFAULT), rsInvalidArgument);
    int private_memory[2] = {};
    void* const buffer = rank == 0 ? memory : static_cast<void*>(private_memory);
    EXPECT_EQ(rsCommWindowRegister(comm, buffer, 8, &window, RS_WIN_DEFAULT), rsInvalidArgument);
    EXPECT_NE(std::string(rsGetLastError(nullptr)).find("rsMemAlloc"), std::string::npos);
    void* handle = nullptr;
    EXPECT_EQ(rsCommRegister(comm, memory, 100, &handle), rsSuccess);
    EXPECT_EQ(rsCommDeregister(comm, handle), rsSuccess);
    EXPECT_EQ(rsCommRegister(comm, private_memory, 8, &handle), rsInvalidArgument);
    end(comm);
    EXPECT_EQ(rsMemFree(memory), rsSuccess);
  });
}

TEST(CApi, AGroupOfSendsAndReceivesIsARingWithoutWaiting) {
  with_ranks(3, [](int rank, rsComm_t comm) {
    void* memory = nullptr;
    ASSERT_EQ(rsMemAlloc(&memory, 2 * sizeof(double)), rsSuccess);
    double* const values = static_cast<double*>(memory);
    values[0] = rank;
    rsStream_t stream = nullptr;  // the default stream serves one rank per process
    ASSERT_EQ(rsStreamCreate(&stream), rsSuccess);
    EXPECT_EQ(rsGroupStart(), rsSuccess);
    EXPECT_EQ(rsSend(&values[0], 1, rsFloat64, (rank + 1) % 3, comm, stream), rsSuccess);
    EXPECT_EQ(rsRecv(&values[1], 1, rsFloat64, (rank + 2) % 3, comm, stream), rsSuccess);
    EXPECT_EQ(rsGroupEnd(), rsSuccess);
    EXPECT_EQ(rsStreamSynchronize(stream), rsSuccess);
    EXPECT_EQ(values[1], (rank + 2) % 3);
    EXPECT_EQ(rsStreamDestroy(stream), rsSuccess);
    end(comm);
    EXPECT_EQ(rsMemFree(memory), rsSuccess);
  });
}

// Rank 0 sends alone, rank 1 receives together with sends of other lengths, and rank 2 receives alone: how a message
// is sent depends only on its own length, whatever begins with it.
TEST(CApi, ARankThatSendsAloneReachesOneThatReceivesInAGroup) {
  for (const std::size_t length : {std::size_t{3}, std::size_t{1000}, std::size_t{100'000}}) {
    with_ranks(3, [length](int rank, rsComm_t comm) {
      rsStream_t stream = nullptr;
      ASSERT_EQ(rsStreamCreate(&stream), rsSuccess);
      std::vector<double> whole(length, rank == 0 ? 7.0 : 0.0);
      std::vector<double> part(2, rank);
      if (rank == 0) {
        EXPECT_EQ(rsSend(whole.data(), length, rsFloat64, 1, comm, stream), rsSuccess);
      } else if (rank == 1) {
        EXPECT_EQ(rsGroupStart(), rsSuccess);
        EXPECT_EQ(rsRecv(whole.data(), length, rsFloat64, 0, comm, stream), rsSuccess);
        EXPECT_EQ(rsSend(part.data(), 1, rsFloat64, 2, comm, stream), rsSuccess);
        EXPECT_EQ(rsGroupEnd(), rsSuccess);
      } else {
        EXPECT_EQ(rsRecv(part.data(), 1, rsFloat64, 1, comm, stream), rsSuccess);
      }
      EXPECT_EQ(rsStreamSynchronize(stream), rsSuccess);
      EXPECT_EQ(whole[length - 1], rank == 2 ? 0 : 7);
      EXPECT_EQ(part[0], rank == 0 ? 0 : 1);
      EXPECT_EQ(rsStreamDestroy(stream), rsSuccess);
      end(comm);
    });
  }
}

TEST(CApi, ASplitPartsTheRanksAndNoColourIsInNone) {
  with_ranks(3, [](int rank, rsComm_t comm) {
    rsComm_t part = nullptr;
    ASSERT_EQ(rsCommSplit(comm, rank == 1 ? RS_SPLIT_NOCOLOR : 0, -rank, &part, nullptr),
              rsSuccess);
    EXPECT_EQ(part == nullptr, rank == 1);
    if (part != nullptr) {
      int me = -1;
      EXPECT_EQ(rsCommUserRank(part, &me), rsSuccess);
      EXPECT_EQ(me, rank == 2 ? 0 : 1);
      end(part);
    }
    end(comm);
  });
}

/// Waits until the state is no longer in progress.
rsResult_t state_at_last(rsComm_t comm) {
  rsResult_t state = rsInProgress;
  while (rsCommGetAsyncError(comm, &state) == rsSuccess && state == rsInProgress) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return state;
}

// Rank 0 continues before rank 1 arrives.
TEST(CApi, ANonBlockingSplitIsInProgressUntilAllRanksJoin) {
  std::latch begun(1);
  std::latch shrunk(1);
  with_ranks(2, [&](int rank, rsComm_t comm) {
    rsConfig_t config = RS_CONFIG_INITIALIZER;
    config.blocking = 0;
    rsResult_t state = rsSuccess;
    int count = 0;
    const auto expect_in_progress = [&](rsComm_t one) {
      EXPECT_EQ(rsCommGetAsyncError(one, &state), rsSuccess);
      EXPECT_EQ(state, rsInProgress);
    };
    const auto expect_pair = [&](rsComm_t part) {
      ASSERT_EQ(state_at_last(part), rsSuccess) << rsGetLastError(part);
      EXPECT_EQ(rsCommCount(part, &count), rsSuccess);
      EXPECT_EQ(count, 2);
    };
    if (rank == 1) begun.wait();
    rsComm_t first = nullptr;
    rsComm_t second = nullptr;
    ASSERT_EQ(rsCommSplit(comm, 0, 0, &first, &config), rsInProgress);
    ASSERT_EQ(rsCommSplit(comm, rank == 0 ? 0 : RS_SPLIT_NOCOLOR, 0, &second, &config),
              rsInProgress);
    EXPECT_EQ(second == nullptr, rank == 1);
    if (rank == 0) {
      EXPECT_EQ(rsCommCount(first, &count), rsInProgress);
      for (rsComm_t one : {comm, first, second}) expect_in_progress(one);
      begun.count_down();
    }
    expect_pair(first);
    EXPECT_EQ(state_at_last(comm), rsSuccess);
    if (rank == 1) shrunk.wait();
    rsComm_t third = nullptr;
    ASSERT_EQ(rsCommShrink(comm, nullptr, 0, &third, &config, 0), rsInProgress);
    if (rank == 0) {
      expect_in_progress(third);
      shrunk.count_down();
    }
    expect_pair(third);
    for (rsComm_t part : {first, second, third}) EXPECT_EQ(rsCommDestroy(part), rsSuccess);
    end(comm);
  });
}

// Rank 0 is rank 1 of the part, which it learns only when rank 1 has joined.
TEST(CApi, BlocksAreGatheredInAPartThatIsStillBeingMade) {
  std::latch begun(1);
  with_ranks(2, [&](int rank, rsComm_t comm) {
    rsConfig_t config = RS_CONFIG_INITIALIZER;
    config.blocking = 0;
    rsStream_t stream = nullptr;
    ASSERT_EQ(rsStreamCreate(&stream), rsSuccess);
    if (rank == 1) begun.wait();
    rsComm_t part = nullptr;
    ASSERT_EQ(rsCommSplit(comm, 0, -rank, &part, &config), rsInProgress);
    if (rank == 0) begun.count_down();
    const size_t counts[2] = {2, 3};
    const int mine[3] = {10 * rank, 10 * rank + 1, 10 * rank + 2};
    int all[5] = {};
    EXPECT_EQ(rsAllGatherV(mine, all, counts, rsInt32, part, stream), rsSuccess)
        << rsGetLastError(nullptr);
    EXPECT_EQ(rsStreamSynchronize(stream), rsSuccess);
    EXPECT_EQ(std::vector<int>(all, all + 5), (std::vector<int>{10, 11, 0, 1, 2}));
    EXPECT_EQ(rsStreamDestroy(stream), rsSuccess);
    EXPECT_EQ(rsCommDestroy(part), rsSuccess);
    end(comm);
  });
}

TEST(CApi, BlocksOfAllRanksAreChecked) {
  with_ranks(2, [](int rank, rsComm_t comm) {
    size_t counts[2] = {1, 1};
    counts[1 - rank] = static_cast<size_t>(-1);
    int data[2] = {};
    EXPECT_EQ(rsAllGatherV(data, data, counts, rsInt32, comm, nullptr), rsInvalidArgument);
    end(comm);
  });
}

TEST(CApi, NonBlockingInitIsInProgressUntilAllRanksJoinAndCanBeAborted) {
  rsUniqueId id;
  ASSERT_EQ(rsGetUniqueId(&id), rsSuccess);
  rsConfig_t config = RS_CONFIG_INITIALIZER;
  config.blocking = 0;
  config.connectTimeout = 60;
  rsComm_t comms[2] = {};
  ASSERT_EQ(rsCommInitRankConfig(&comms[0], 2, id, 0, &config), rsSuccess);
  rsResult_t state = rsSuccess;
  EXPECT_EQ(rsCommGetAsyncError(comms[0], &state), rsSuccess);
  EXPECT_EQ(state, rsInProgress);
  ASSERT_EQ(rsCommInitRankConfig(&comms[1], 2, id, 1, &config), rsSuccess);
  for (rsComm_t comm : comms) {
    do {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ASSERT_EQ(rsCommGetAsyncError(comm, &state), rsSuccess);
    } while (state == rsInProgress);
    EXPECT_EQ(state, rsSuccess);
  }
  for (rsComm_t comm : comms) EXPECT_EQ(rsCommAbort(comm), rsSuccess);

  ASSERT_EQ(rsGetUniqueId(&id), rsSuccess);
  rsComm_t alone = nullptr;
  ASSERT_EQ(rsCommInitRankConfig(&alone, 2, id, 0, &config), rsSuccess);
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(rsCommAbort(alone), rsSuccess);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
}

int threads_now() {
  int count = 0;
  for ([[maybe_unused]] const auto& one : std::filesystem::directory_iterator("/proc/self/task")) {
    ++count;
  }
  return count;
}

const int threads_at_first = threads_now();

/// Waits for communicators that were destroyed without being finalized.
void let_all_go() {
  const int most = threads_at_first + 1;  // a stream that all share
  for (int i = 0; i < 2000 && threads_now() > most; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_LE(threads_now(), most);
}

/// Waits long enough for the stream to begin work that it cannot end, or to have ended it.
void let_it_wait() { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }

// One thread makes the calls of all ranks, as nccl-tests does with several GPUs: each step of one rank waits for the
// others' steps.
TEST(CApi, OneThreadMakesCallsPartsAndEndsAllRanksInGroups) {
  constexpr int kRanks = 3;
  rsUniqueId id;
  ASSERT_EQ(rsGetUniqueId(&id), rsSuccess);
  rsComm_t comms[kRanks] = {};
  rsComm_t parts[kRanks] = {};
  rsStream_t streams[kRanks] = {};
  int in[kRanks] = {1, 2, 3};
  int out[kRanks] = {};
  EXPECT_EQ(rsGroupStart(), rsSuccess);
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(rsCommInitRank(&comms[rank], kRanks, id, rank), rsSuccess);
    EXPECT_EQ(rsStreamCreate(&streams[rank]), rsSuccess);
  }
  ASSERT_EQ(rsGroupEnd(), rsSuccess) << rsGetLastError(nullptr);
  EXPECT_EQ(rsGroupStart(), rsSuccess);
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(
        rsCommSplit(comms[rank], rank == 1 ? RS_SPLIT_NOCOLOR : 0, -rank, &parts[rank], nullptr),
        rsSuccess);
  }
  ASSERT_EQ(rsGroupEnd(), rsSuccess) << rsGetLastError(nullptr);
  EXPECT_EQ(parts[1], nullptr);
  for (int rank = 0; rank < kRanks; ++rank) {
    if (parts[rank] == nullptr) continue;
    EXPECT_EQ(rsAllReduce(&in[rank], &out[rank], 1, rsInt32, rsSum, parts[rank], streams[rank]),
              rsSuccess);
  }
  for (rsStream_t stream : streams) EXPECT_EQ(rsStreamSynchronize(stream), rsSuccess);
  EXPECT_EQ(out[0], 4);
  EXPECT_EQ(out[2], 4);
  EXPECT_EQ(rsGroupStart(), rsSuccess);
  for (rsComm_t comm : comms) EXPECT_EQ(rsCommFinalize(comm), rsSuccess);
  EXPECT_EQ(rsGroupEnd(), rsSuccess) << rsGetLastError(nullptr);
  for (rsComm_t comm : comms) EXPECT_EQ(rsCommDestroy(comm), rsSuccess);
  // These were not finalized: they are destroyed one after the other, and none is taken for dead.
  for (rsComm_t part : parts) EXPECT_EQ(rsCommDestroy(part), rsSuccess);
  for (rsStream_t stream : streams) EXPECT_EQ(rsStreamDestroy(stream), rsSuccess);
}

TEST(CApi, ARankThatDestroysItsCommunicatorFirstIsNotReportedDead) {
  with_ranks(2, [](int rank, rsComm_t comm) {
    rsStream_t stream = nullptr;
    ASSERT_EQ(rsStreamCreate(&stream), rsSuccess);
    int value = 1;
    EXPECT_EQ(rsAllReduce(&value, &value, 1, rsInt32, rsSum, comm, stream), rsSuccess);
    EXPECT_EQ(rsStreamSynchronize(stream), rsSuccess);
    if (rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    rsResult_t error = rsInProgress;
    EXPECT_EQ(rsCommGetAsyncError(comm, &error), rsSuccess);
    EXPECT_EQ(error, rsSuccess) << rsGetLastError(comm);
    EXPECT_EQ(rsCommDestroy(comm), rsSuccess);
    EXPECT_EQ(rsStreamDestroy(stream), rsSuccess);
  });
}

// Each is destroyed on a thread of its own, which also ends.
TEST(CApi, ManyThatAreOnlyDestroyedLeaveNoThread) {
  const auto live_once = [] {
    rsUniqueId id;
    ASSERT_EQ(rsGetUniqueId(&id), rsSuccess);
    rsComm_t comms[2] = {};
    EXPECT_EQ(rsGroupStart(), rsSuccess);
    for (int rank = 0; rank < 2; ++rank) {
      EXPECT_EQ(rsCommInitRank(&comms[rank], 2, id, rank), rsSuccess);
    }
    ASSERT_EQ(rsGroupEnd(), rsSuccess) << rsGetLastError(nullptr);
    for (rsComm_t comm : comms) EXPECT_EQ(rsCommDestroy(comm), rsSuccess);
  };
  live_once();
  for (int round = 0; round < 50 && !HasFailure(); ++round) live_once();
  let_all_go();
}

// Rank 1 never joins any of them.
TEST(CApi, AbortEndsWhateverAnotherThreadWaitsIn) {
  const std::vector<std::function<rsResult_t(rsComm_t)>> waits{
      [](rsComm_t comm) { return rsCommFinalize(comm); },
      [](rsComm_t comm) {
        rsComm_t part = nullptr;
        return rsCommSplit(comm, 0, 0, &part, nullptr);
      },
      [](rsComm_t comm) {
        rsWindow_t window = nullptr;
        return rsCommWindowRegister(comm, nullptr, 0, &window, RS_WIN_DEFAULT);
      }};
  for (const auto& wait : waits) {
    with_ranks(2, [&wait](int rank, rsComm_t comm) {
      if (rank == 1) {
        rsResult_t error = rsSuccess;
        while (error == rsSuccess) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
          ASSERT_EQ(rsCommGetAsyncError(comm, &error), rsSuccess);
        }
        EXPECT_EQ(rsCommAbort(comm), rsSuccess);
        return;
      }
      std::jthread waiting([&] { EXPECT_NE(wait(comm), rsSuccess); });
      let_it_wait();
      EXPECT_EQ(rsCommAbort(comm), rsSuccess);
    });
  }
}

TEST(CApi, ANonBlockingFinalizeIsInProgressUntilAllRanksCallIt) {
  rsUniqueId id;
  ASSERT_EQ(rsGetUniqueId(&id), rsSuccess);
  rsConfig_t config = RS_CONFIG_INITIALIZER;
  config.blocking = 0;
  rsComm_t comms[2] = {};
  for (int rank = 0; rank < 2; ++rank) {
    ASSERT_EQ(rsCommInitRankConfig(&comms[rank], 2, id, rank, &config), rsSuccess);
  }
  const auto state_of = [](rsComm_t comm) {
    rsResult_t state = rsInternalError;
    EXPECT_EQ(rsCommGetAsyncError(comm, &state), rsSuccess);
    return state;
  };
  EXPECT_EQ(rsCommFinalize(comms[0]), rsSuccess);
  let_it_wait();
  EXPECT_EQ(state_of(comms[0]), rsInProgress);
  EXPECT_EQ(rsCommFinalize(comms[0]), rsInvalidArgument);
  EXPECT_EQ(rsCommFinalize(comms[1]), rsSuccess);
  for (rsComm_t comm : comms) {
    while (state_of(comm) == rsInProgress) let_it_wait();
    EXPECT_EQ(state_of(comm), rsSuccess) << rsGetLastError(comm);
    EXPECT_EQ(rsCommDestroy(comm), rsSuccess);
  }
}

TEST(CApi, AnAbortTakesItsCallsOutOfTheGroup) {
  with_ranks(1, [](int, rsComm_t comm) {
    int value = 1;
    EXPECT_EQ(rsGroupStart(), rsSuccess);
    EXPECT_EQ(rsAllReduce(&value, &value, 1, rsInt32, rsSum, comm, nullptr), rsSuccess);
    EXPECT_EQ(rsCommFinalize(comm), rsSuccess);
    EXPECT_EQ(rsCommAbort(comm), rsSuccess);
    EXPECT_EQ(rsGroupEnd(), rsSuccess);
  });
}

// PyTorch's environment variables also apply to programs written in C.
TEST(CApi, AFailureLeavesADumpOfEachRank) {
  let_all_go();  // a rank's recorder lives as long as a communicator of it, and was made without these
  const std::string prefix =
      testing::TempDir() + "ringside_capi_dump_" + std::to_string(::getpid()) + "_";
  ASSERT_EQ(::setenv("TORCH_FR_DUMP_TEMP_FILE", prefix.c_str(), 1), 0);
  with_ranks(2, [](int rank, rsComm_t comm) {
    rsStream_t stream = nullptr;
    ASSERT_EQ(rsStreamCreate(&stream), rsSuccess);
    int values[2] = {1, 1};
    EXPECT_EQ(rsAllReduce(values, values, rank == 0 ? 1 : 2, rsInt32, rsSum, comm, stream),
              rsSuccess);
    EXPECT_EQ(rsStreamSynchronize(stream), rsSuccess);
    EXPECT_EQ(rsCommAbort(comm), rsSuccess);
    EXPECT_EQ(rsStreamDestroy(stream), rsSuccess);
  });
  ::unsetenv("TORCH_FR_DUMP_TEMP_FILE");
  for (const char* rank : {"0", "1"}) {
    EXPECT_EQ(std::remove((prefix + rank).c_str()), 0) << prefix << rank;
  }
}

/// Returns the answer of a status service to the request STATUS.
std::string status_at(std::uint16_t port) {
  const ringside::Patience patience(ringside::deadline_in(std::chrono::seconds(20)));
  const auto client = ringside::connect_tcp(ringside::loopback_address(port), patience);
  if (!client) return client.error().message;
  const std::string question = "STATUS\n";
  std::string answer;
  if (!ringside::send_all(client->get(), std::as_bytes(std::span(question)), patience)) return {};
  for (std::byte letter{}; ringside::recv_all(client->get(), std::span(&letter, 1), patience);) {
    answer += static_cast<char>(letter);
  }
  return answer;
}

TEST(CApi, TheStatusServiceAnswersWhereNcclsVariableNamesIt) {
  const auto port = static_cast<std::uint16_t>(10000 + ::getpid() % 8000);
  ASSERT_EQ(::setenv("NCCL_RAS_ADDR", ("localhost:" + std::to_string(port)).c_str(), 1), 0);
  std::atomic<bool> has_asked{false};
  with_ranks(2, [&](int rank, rsComm_t comm) {
    if (rank == 0) {
      const std::string answer = status_at(port);
      has_asked = true;
      EXPECT_NE(answer.find("2 processes, 2 answer"), std::string::npos) << answer;
    }
    while (!has_asked) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    end(comm);
  });
  ::unsetenv("NCCL_RAS_ADDR");
}

TEST(CApi, BadArgumentsAreRefusedAndNamed) {
  EXPECT_EQ(rsGetUniqueId(nullptr), rsInvalidArgument);
  EXPECT_EQ(rsGroupEnd(), rsInvalidArgument);
  EXPECT_NE(std::string(rsGetLastError(nullptr)).find("rsGroupStart"), std::string::npos);
  EXPECT_EQ(rsAllReduce(nullptr, nullptr, 1, rsInt32, rsSum, nullptr, nullptr), rsInvalidArgument);
  rsUniqueId garbage = {"no id at all"};
  rsComm_t comm = nullptr;
  EXPECT_EQ(rsCommInitRank(&comm, 2, garbage, 0), rsInvalidArgument);
  EXPECT_EQ(comm, nullptr);
  int here = 0;
  EXPECT_EQ(rsMemFree(&here), rsInvalidArgument);
  with_ranks(1, [](int, rsComm_t one) {
    int value = 3;
    EXPECT_EQ(rsAllReduce(&value, &value, 1, static_cast<rsDataType_t>(15), rsSum, one, nullptr),
              rsInvalidArgument);
    EXPECT_EQ(rsAllReduce(&value, &value, 1, rsInt32, static_cast<rsRedOp_t>(7), one, nullptr),
              rsInvalidArgument);
    end(one);
  });
  int version = -1;
  EXPECT_EQ(rsGetVersion(&version), rsSuccess);
  EXPECT_GE(version, 0);
  EXPECT_STRNE(rsGetErrorString(rsRemoteError), rsGetErrorString(rsSuccess));
}

}  // namespace
