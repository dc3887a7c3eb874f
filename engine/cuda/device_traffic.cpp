#include "engine/cuda/device_traffic.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "engine/cuda/device/device_call.h"

namespace ringside {
namespace {

/// Lines count with the bytes that are sent, not with the unused room of a slot.
std::int64_t bytes_on_wire(Protocol protocol, std::int64_t data) {
  switch (protocol) {
    case Protocol::LL:
      return ceil_div(data, 8) * 16;
    case Protocol::LL128:
      return ceil_div(data, 120) * 128;
    case Protocol::Simple:
      break;
  }
  return data;
}

struct Ends {
  std::vector<std::int32_t> recv, send;

  static int behind(Ports ports, const std::vector<std::int32_t>& first) {
    int count = 0;
    for_each_port(ports, [&](int port) {
      const auto index = static_cast<std::size_t>(port);
      count += first[index + 1] - first[index];
    });
    return count;
  }
};

struct Sum {
  std::int64_t loaded = 0, stored = 0;

  void add(const Step& step, const DirectStep& direct, const Ends& ends, std::int64_t bytes,
           std::int64_t wire) {
    const PrimitiveParts parts = parts_of(step.primitive);
    const int to = Ends::behind(step.to, ends.send);
    const int directly = std::popcount(direct.to);
    if (parts.reads_input) loaded += bytes;
    if (direct.takes == 0) {
      loaded += Ends::behind(step.from, ends.recv) * wire;
    } else if (to > 0) {
      loaded += bytes;
    }
    stored += directly * bytes + (to - directly) * wire;
    if (parts.writes_output && direct.takes == 0) stored += bytes;
  }
};

}  // namespace

DeviceTraffic traffic_of(std::span<const ChannelTask> tasks, std::span<const DirectStores> direct,
                         const Choice& choice, Bytes element) {
  Sum sum;
  const auto slot = static_cast<std::int64_t>(choice.slot.value);
  for (std::size_t channel = 0; channel < tasks.size(); ++channel) {
    const ChannelTask& task = tasks[channel];
    const Program program = record(task);
    const Ends ends{first_ends(task.recv_peers, true), first_ends(task.send_peers, false)};
    for (std::int64_t loop = 0; loop < program.loops; ++loop) {
      const auto turn = static_cast<int>(loop % program.turns);
      for (int strand = 0; strand < program.strands.count; ++strand) {
        int number = 0;
        for_each_step(program, turn, strand, [&](const Step& step) {
          const std::int64_t bytes =
              task.map.at(loop, step.chunk).count * static_cast<std::int64_t>(element.value);
          const std::int64_t wire = bytes / slot * bytes_on_wire(choice.protocol, slot) +
                                    bytes_on_wire(choice.protocol, bytes % slot);
          const int place = turn * program.strands.count + strand;
          const bool is_listed = !direct.empty() && !direct[channel].is_empty();
          const DirectStep its = is_listed ? direct[channel].at(place, number) : DirectStep{};
          ++number;
          if (bytes > 0) sum.add(step, its, ends, bytes, wire);
        });
      }
    }
  }
  return {Bytes{static_cast<std::uint64_t>(sum.loaded)},
          Bytes{static_cast<std::uint64_t>(sum.stored)}};
}

}  // namespace ringside
