#include "tests/cuda/device_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

#include "engine/cuda/launch_works.h"

namespace ringside {
namespace {

std::size_t to_size(std::int64_t value) { return static_cast<std::size_t>(value); }

}  // namespace

std::string to_string(const DeviceCase& test) {
  return fmt::format(
      "{} by {} over {}, {} {}, {} ranks, count {}, {} channels, slot {}, {} warps, offset "
      "{}{}{}",
      to_string(test.call.collective), to_string(test.choice.algorithm),
      to_string(test.choice.protocol), to_string(test.call.type), to_string(test.call.op),
      test.nranks, test.call.count, test.choice.nchannels, test.choice.slot.value,
      test.warps_per_strand, test.offset, test.in_place ? ", in place" : "",
      test.stores_directly ? "" : ", by slots");
}

DeviceSizes sizes_of(const DeviceCase& test) {
  const std::int64_t count = test.call.count;
  const std::int64_t all = count * test.nranks;
  switch (test.call.collective) {
    case Collective::AllGather:
    case Collective::Gather:
      return {count, all};
    case Collective::ReduceScatter:
    case Collective::Scatter:
      return {all, count};
    case Collective::AllToAll:
      return {all, all};
    case Collective::AllGatherV: {
      std::int64_t most = 0, sum = 0;
      for (const std::int64_t one : test.call.counts) {
        most = std::max(most, one);
        sum += one;
      }
      return {most, sum};
    }
    default:
      return {count, count};
  }
}

std::optional<ElementBits> scalar_of(const DeviceCase& test, int rank) {
  if (test.call.op != RedOp::PreMulSum) return std::nullopt;
  return to_element(test.call.type, 1 + rank % 3);
}

std::vector<std::byte> input_of(const DeviceCase& test, int rank) {
  const std::size_t element = size_of(test.call.type).value;
  const auto count = to_size(sizes_of(test).input);
  std::vector<std::byte> data(count * element);
  std::mt19937_64 random(test.seed * 1000 + static_cast<std::uint64_t>(rank));
  for (std::size_t i = 0; i < count; ++i) {
    ElementBits bits = random();
    // The values are near 1, so that sums and products stay finite, and are rounded.
    if (is_floating(test.call.type) && test.is_exact) {
      bits = to_element(test.call.type, static_cast<double>(bits % 17) - 8);
    } else if (is_floating(test.call.type)) {
      bits = to_element(test.call.type, (static_cast<double>(bits >> 11) * 0x1p-53 - 0.5) * 3);
    }
    store_element(test.call.type, bits, data.data() + i * element);
  }
  return data;
}

std::string difference(const DeviceCase& test, const std::vector<std::byte>& actual,
                       const std::vector<std::byte>& expected) {
  const std::size_t element = size_of(test.call.type).value;
  if (actual.size() != expected.size()) return "other sizes";
  for (std::size_t at = 0; at < actual.size(); at += element) {
    if (std::memcmp(actual.data() + at, expected.data() + at, element) == 0) continue;
    return fmt::format("element {}: {:x} where the host has {:x}", at / element,
                       load_element(test.call.type, actual.data() + at),
                       load_element(test.call.type, expected.data() + at));
  }
  return "";
}

Result<DeviceJob::Laid> DeviceJob::lay(const DeviceCase& test) {
  DeviceMemory& memory = launcher_.memory;
  const std::size_t element = size_of(test.call.type).value;
  if (!ranks_) ranks_.emplace(memory, launcher_.control, test.nranks, slots_, std::move(own_));
  std::vector<CollectiveCall> calls(to_size(test.nranks), test.call);
  Laid laid;
  laid.buffers.resize(to_size(test.nranks));
  rooms_.clear();
  const DeviceSizes sizes = sizes_of(test);
  for (int rank = 0; rank < test.nranks; ++rank) {
    const auto index = to_size(rank);
    calls[index].scalar = scalar_of(test, rank);
    const std::vector<std::byte> input = input_of(test, rank);
    const auto room = [](std::size_t bytes) { return Bytes{bytes + 2 * kMargin}; };
    const auto shift = to_size(test.offset);
    const std::size_t outputs = to_size(sizes.output) * element;
    RINGSIDE_TRY(std::byte* const in, memory.take(room(input.size())));
    RINGSIDE_TRY(std::byte* const out, memory.take(room(outputs)));
    DeviceBuffers& own = laid.buffers[index];
    rooms_.push_back(out);
    std::byte* input_at = in + kMargin + shift;
    own.output = out + kMargin + shift;
    if (test.in_place) {
      const std::size_t block = to_size(rank) * to_size(test.call.count) * element;
      const bool gathers = test.call.collective == Collective::AllGather;
      const bool scatters = test.call.collective == Collective::ReduceScatter;
      if (scatters) {
        own.output = input_at + block;
      } else {
        input_at = own.output + (gathers ? block : 0);
      }
    }
    own.input = input_at;
    const std::vector<std::byte> poison(outputs + 2 * kMargin, kPoison);
    RINGSIDE_TRY(memory.write(out, poison));
    RINGSIDE_TRY(memory.write(input_at, input));
  }
  RINGSIDE_TRY(laid.plan, ranks_->plan(calls, test.choice,
                                       {.timeout = test.timeout,
                                        .warps_per_strand = test.warps_per_strand,
                                        .events = test.events,
                                        .stores_directly = test.stores_directly}));
  grid_ = laid.plan->grid;
  traffic_ = laid.plan->traffic(Bytes{element});
  return laid;
}

Result<DeviceJob::Outputs> DeviceJob::outputs_of(const DeviceCase& test, const Laid& laid) {
  RINGSIDE_TRY(const std::optional<Error> error, ranks_->outcome(*laid.plan));
  if (error) return *error;
  Outputs outputs;
  for (const DeviceBuffers& own : laid.buffers) {
    std::vector<std::byte> data(to_size(sizes_of(test).output) * size_of(test.call.type).value);
    RINGSIDE_TRY(launcher_.memory.read(data, own.output));
    outputs.push_back(std::move(data));
  }
  return outputs;
}

Result<DeviceJob::Outputs> DeviceJob::run(const DeviceCase& test) {
  RINGSIDE_TRY(const std::vector<Outputs> outputs, run_together({test}));
  return outputs.front();
}

Result<std::vector<DeviceJob::Outputs>> DeviceJob::run_together(
    const std::vector<DeviceCase>& tests) {
  DeviceLaunch launch;
  std::vector<Laid> all;
  for (const DeviceCase& test : tests) {
    RINGSIDE_TRY(Laid laid, lay(test));
    if (!add_work(launch, laid.plan->grid, laid.buffers)) {
      return Error{ErrorCode::InvalidArgument, "too many calls for one launch"};
    }
    all.push_back(std::move(laid));
  }
  const bool has_ended = launcher_.run(launch, tests.front().call.collective);
  std::vector<Outputs> outputs;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    RINGSIDE_TRY(Outputs own, outputs_of(tests[i], all[i]));
    outputs.push_back(std::move(own));
  }
  if (!has_ended) return Error{ErrorCode::System, "the launch did not end"};
  return outputs;
}

std::string DeviceJob::touched_outside(const DeviceCase& test) {
  const std::size_t outputs =
      to_size(sizes_of(test).output) * size_of(test.call.type).value + to_size(test.offset);
  for (std::byte* const room : rooms_) {
    std::vector<std::byte> all(outputs + kMargin * 2 - 16);
    if (!launcher_.memory.read(all, room)) return "cannot be read";
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool is_output = i >= kMargin + to_size(test.offset) && i < kMargin + outputs;
      if (!is_output && all[i] != kPoison) return fmt::format("byte {} of {}", i, all.size());
    }
  }
  return "";
}

}  // namespace ringside
