#include <benchmark/benchmark.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include "engine/protocol/line_fifo.h"
#include "engine/protocol/ll.h"
#include "engine/protocol/ll128.h"
#include "engine/protocol/slot_fifo.h"
#include "tests/protocol/fifo_memory.h"

/// Measures a protocol between two cores: the latency of one message, and a stream of full slots. Two threads, each on
/// its own core, poll without a pause. OneWay is half of a ping-pong; OneWayOfACacheLine is the lower bound of any
/// protocol: one word that travels to the other core and back.
///
/// An iteration is a batch of messages, short compared with a time slice. best_ns and best_gbs are those of the best
/// batch: on a machine that is busy with other work, this is a batch during which both threads ran.
namespace ringside {
namespace {

constexpr Bytes kSlot = 32_KiB;

void pin_to(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  ::sched_setaffinity(0, sizeof set, &set);
}

template <typename Fifo>
struct Connection {
  FifoMemory memory = zeroed_memory(Fifo::memory_for(kSlot));
  Fifo sender{memory.get(), kSlot};
  Fifo receiver{memory.get(), kSlot};
};

/// Polls until ready() returns true. A thread that waits for long yields its core, as the other side may not be
/// running.
///
/// returns  false if it was stopped
template <typename Ready>
bool wait_until(const std::stop_token& stop, Ready ready) {
  for (int looks = 1; !ready(); ++looks) {
    if (looks % 4096 != 0) continue;
    if (stop.stop_requested()) return false;
    ::sched_yield();
  }
  return true;
}

template <typename Fifo>
bool send_all(Fifo& fifo, std::span<const std::byte> from, const std::stop_token& stop = {}) {
  for (std::size_t at = 0; at < from.size(); at += kSlot.value) {
    const auto step = from.subspan(at, std::min<std::size_t>(kSlot.value, from.size() - at));
    if (!wait_until(stop, [&] { return fifo.send(step); })) return false;
  }
  return true;
}

template <typename Fifo>
bool take_all(Fifo& fifo, std::span<std::byte> to, const std::stop_token& stop = {}) {
  for (std::size_t at = 0; at < to.size(); at += kSlot.value) {
    const auto step = to.subspan(at, std::min<std::size_t>(kSlot.value, to.size() - at));
    if (!wait_until(stop, [&] { return *fifo.take(step); })) return false;
  }
  return true;
}

/// Times each batch.
///
/// returns  the nanoseconds of the fastest
template <typename Batch>
double best_of(benchmark::State& state, Batch batch) {
  double best = 1e18;
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    batch();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count());
  }
  return best;
}

constexpr int kRoundTrips = 64;             // 10 to 200 us
constexpr std::size_t kStreamed = 4 << 20;  // about 1 ms

/// Runs `there` on the other core for as long as the object lives.
class OtherCore {
 public:
  template <typename There>
  explicit OtherCore(There there)
      : thread_([there](const std::stop_token& stop) {
          pin_to(1);
          there(stop);
        }) {
    pin_to(0);
  }

 private:
  std::jthread thread_;
};

void OneWayOfACacheLine(benchmark::State& state) {
  alignas(128) std::array<std::atomic<std::uint64_t>, 32> words{};
  auto& ping = words[0];
  auto& pong = words[16];
  const OtherCore other([&](const std::stop_token& stop) {
    for (std::uint64_t round = 1;; ++round) {
      if (!wait_until(stop, [&] { return ping.load(std::memory_order_acquire) == round; })) return;
      pong.store(round, std::memory_order_release);
    }
  });
  std::uint64_t round = 0;
  const double best = best_of(state, [&] {
    for (int i = 0; i < kRoundTrips; ++i) {
      ping.store(++round, std::memory_order_release);
      wait_until({}, [&] { return pong.load(std::memory_order_acquire) == round; });
    }
  });
  state.counters["best_ns"] = best / (2 * kRoundTrips);
}
BENCHMARK(OneWayOfACacheLine)->UseRealTime();

template <typename Fifo>
void OneWay(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  Connection<Fifo> there;
  Connection<Fifo> back;
  const OtherCore other([&](const std::stop_token& stop) {
    std::vector<std::byte> data(size);
    while (take_all(there.receiver, data, stop) && send_all(back.sender, data, stop)) {
    }
  });
  std::vector<std::byte> data(size);
  const double best = best_of(state, [&] {
    for (int i = 0; i < kRoundTrips; ++i) {
      send_all(there.sender, data);
      take_all(back.receiver, data);
    }
  });
  state.counters["best_ns"] = best / (2 * kRoundTrips);
}

template <typename Fifo>
void Stream(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  Connection<Fifo> there;
  const OtherCore other([&](const std::stop_token& stop) {
    std::vector<std::byte> data(size);
    while (take_all(there.receiver, data, stop)) {
    }
  });
  std::vector<std::byte> data(size);
  const double best = best_of(state, [&] {
    for (std::size_t done = 0; done < kStreamed; done += size) send_all(there.sender, data);
  });
  state.counters["best_gbs"] = static_cast<double>(kStreamed) / best;
}

BENCHMARK_TEMPLATE(OneWay, SlotFifo)->Arg(8)->Arg(64)->Arg(1024)->Arg(8192)->UseRealTime();
BENCHMARK_TEMPLATE(OneWay, LineFifo<Ll>)->Arg(8)->Arg(64)->Arg(1024)->Arg(8192)->UseRealTime();
BENCHMARK_TEMPLATE(OneWay, LineFifo<Ll128>)->Arg(8)->Arg(64)->Arg(1024)->Arg(8192)->UseRealTime();
BENCHMARK_TEMPLATE(Stream, SlotFifo)->Arg(64 << 10)->Arg(1 << 20)->UseRealTime();
BENCHMARK_TEMPLATE(Stream, LineFifo<Ll>)->Arg(64 << 10)->Arg(1 << 20)->UseRealTime();
BENCHMARK_TEMPLATE(Stream, LineFifo<Ll128>)->Arg(64 << 10)->Arg(1 << 20)->UseRealTime();

}  // namespace
}  // namespace ringside
