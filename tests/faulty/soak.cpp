// Random calls, splits, shrinks, aborts and faults on ranks that are threads of one process, for so long: for the
// sanitizers, which look into all of them at once.
//
// usage: ringside_soak [SECONDS [SEED [RANKS]]]      status 1: something was left behind, or a sum was wrong

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/random.h"
#include "engine/faults/fault_text.h"
#include "engine/flight/recorder.h"
#include "engine/runtime/bootstrap/bootstrap.h"
#include "engine/runtime/call_group.h"
#include "engine/runtime/communicator.h"
#include "engine/runtime/host/host_stream.h"
#include "engine/runtime/pending_communicator.h"
#include "engine/runtime/watch/call_faults.h"

using namespace ringside;

namespace {

std::atomic<int> wrong{0};
std::atomic<int> calls{0}, broken{0}, parts{0}, unmade{0};

/// The calls of all ranks in one round: drawn from its seed, so that all ranks agree on them.
struct Round {
  std::uint64_t seed = 0;
  int nranks = 0;
  FaultPlan plan;
  int aborts = -1;     ///< the rank that aborts after some calls; -1: none
  int calls_off = -1;  ///< the rank that cancels the creation at a random moment; -1: none
};

Round draw_round(std::uint64_t seed, int nranks) {
  Random random(seed);
  Round round{random.next(), nranks, {}};
  constexpr std::array kFaults{"skip",
                               "add",
                               "reorder",
                               "wrong_count",
                               "wrong_type",
                               "wrong_op",
                               "stall:by=50ms",
                               "late:by=10ms",
                               "throw",
                               "blackhole",
                               "drop",
                               "cut_link",
                               "stall_link",
                               "slow_link:by=1ms",
                               "wrong_collective"};
  round.plan.seed = seed;
  if (random.chance(60)) round.plan.faults.push_back(*parse_fault(random.pick(kFaults)));
  if (random.chance(25)) round.aborts = static_cast<int>(random.below(nranks));
  if (random.chance(15)) round.calls_off = static_cast<int>(random.below(nranks));
  round.plan = *round.plan.drawn_for(nranks, 12);
  return round;
}

/// Makes a few random calls; every rank draws the same ones.
///
/// returns  the first error
Status make_calls(runtime::Communicator& communicator, HostStream& stream, Random& random,
                  bool is_checked) {
  const int n = communicator.nranks();
  for (int i = 0; i < 6; ++i) {
    const auto count = static_cast<std::size_t>(1 + random.below(3000));
    const int kind = static_cast<int>(random.below(3));
    std::vector<std::int64_t> in(count * static_cast<std::size_t>(n),
                                 to_int(communicator.rank()) + 1);
    std::vector<std::int64_t> out(in.size());
    CollectiveCall call;
    call.collective = kind == 0   ? Collective::AllReduce
                      : kind == 1 ? Collective::AllGather
                                  : Collective::Broadcast;
    call.type = DataType::Int64;
    call.count = static_cast<std::int64_t>(count);
    call.input = in.data();
    call.output = out.data();
    call.root = Rank{static_cast<std::int32_t>(random.below(n))};
    RINGSIDE_TRY(communicator.enqueue(call, stream));
    if (random.chance(30)) stream.compute(Seconds{0.001});
    stream.synchronize();
    ++calls;
    if (const auto error = communicator.async_error()) return *error;
    const std::int64_t expected = kind == 0   ? std::int64_t{n} * (n + 1) / 2
                                  : kind == 1 ? 1
                                              : to_int(call.root) + 1;
    if (is_checked && out[0] != expected) ++wrong;
  }
  return {};
}

Result<std::unique_ptr<runtime::Communicator>> make(int rank, const Round& round,
                                                    const UniqueId& id,
                                                    const CommunicatorOptions& options) {
  const BootstrapOptions join{.rank = Rank{rank}, .nranks = round.nranks, .id = id};
  if (round.calls_off < 0) {
    RINGSIDE_TRY(auto bootstrap, Bootstrap::join(join));
    return runtime::Communicator::make(std::move(bootstrap), options);
  }
  RINGSIDE_TRY(const auto pending, PendingCommunicator::start(join, options, nullptr));
  if (round.calls_off == rank) {
    std::this_thread::sleep_for(std::chrono::microseconds(Random(round.seed).below(60'000)));
    pending->abort();
  }
  return pending->take();
}

void run_rank(int rank, const Round& round, const UniqueId& id) {
  FlightSettings settings;
  settings.has_timing = round.seed % 2 == 0;
  FlightRecorder recorder(settings, rank);
  CallFaults faults(round.plan, rank);
  CommunicatorOptions options;
  options.host.table_path = "";
  options.op_timeout = Seconds{0.4};
  options.recorder = &recorder;
  if (!round.plan.faults.empty()) options.faults = &faults;
  auto made = make(rank, round, id, options);
  if (!made) {
    ++unmade;
    return;
  }
  runtime::Communicator& all = **made;
  Random random(round.seed);
  HostStream stream;
  std::jthread aborter;
  if (round.aborts == rank) {
    aborter = std::jthread([&all, wait = random.next() % 30] {
      std::this_thread::sleep_for(std::chrono::milliseconds(wait));
      all.abort({ErrorCode::Aborted, "the soak aborts"});
    });
  }
  Random shared(round.seed + 1);
  const bool is_healthy = round.plan.faults.empty() && round.aborts < 0 && round.calls_off < 0;
  Status state = make_calls(all, stream, shared, is_healthy);
  if (state && shared.chance(50)) {
    auto part = all.split(rank % 2, -rank);
    if (part) {
      ++parts;
      state = make_calls(**part, stream, shared, false);
      if (state) state = (*part)->finish();
    } else {
      state = part.error();
    }
  }
  if (state) state = all.finish();
  if (!state) ++broken;
  static_cast<void>(recorder.snapshot("the end"));
  if (aborter.joinable()) aborter.join();
}

int entries_of(const char* folder) {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

void run_round(std::uint64_t seed, int nranks) {
  const Round round = draw_round(seed, nranks);
  auto root = BootstrapRoot::start({.secret = random_secret(), .nranks = nranks});
  if (!root) return;
  std::vector<std::jthread> ranks;
  for (int rank = 0; rank < nranks; ++rank) {
    ranks.emplace_back([&, rank] { run_rank(rank, round, (*root)->id()); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 60;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const int nranks = argc > 3 ? std::atoi(argv[3]) : 8;
  const auto began = std::chrono::steady_clock::now();
  int rounds = 0;
  for (; rounds < 5; ++rounds) run_round(seed + static_cast<std::uint64_t>(rounds), nranks);
  const int descriptors = entries_of("/proc/self/fd");
  const int threads = entries_of("/proc/self/task");
  while (Seconds(std::chrono::steady_clock::now() - began).count() < seconds) {
    run_round(seed + static_cast<std::uint64_t>(rounds++), nranks);
  }
  const int left_open = entries_of("/proc/self/fd") - descriptors;
  const int left_running = entries_of("/proc/self/task") - threads;
  fmt::print(
      "{} rounds of {} ranks, {} calls, {} parts, {} ranks saw theirs break, {} had none; wrong "
      "sums {}, descriptors left {}, threads left {}\n",
      rounds, nranks, calls.load(), parts.load(), broken.load(), unmade.load(), wrong.load(),
      left_open, left_running);
  return wrong == 0 && left_open == 0 && left_running == 0 ? 0 : 1;
}
