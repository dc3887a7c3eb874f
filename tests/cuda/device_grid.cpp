#include "tests/cuda/device_grid.h"

#include <algorithm>
#include <array>
#include <optional>

#include "engine/runtime/host/host_choice.h"

namespace ringside {
namespace {

constexpr int kTypes = 12;
constexpr std::array kOps{RedOp::Sum,  RedOp::Avg, RedOp::Max,
                          RedOp::Prod, RedOp::Min, RedOp::PreMulSum};
constexpr std::array<std::int64_t, 9> kCounts{1, 3, 17, 64, 65, 257, 1001, 2048, 3333};
/// The types in which models are trained are in every grid; the two empty places take the other types alternately.
constexpr std::array<std::optional<DataType>, 6> kTypesInGrid{
    DataType::Float32,    DataType::Bfloat16, DataType::Float16,
    DataType::Float8E4m3, std::nullopt,       std::nullopt};
constexpr std::array kProtocols{Protocol::LL, Protocol::LL128, Protocol::Simple};

/// Switches do not reduce every type.
bool reduces_somehow(Collective collective, Algorithm algorithm, DataType type) {
  return !is_reduction(collective) ||
         std::ranges::any_of(kOps, [&](RedOp op) { return can_reduce(algorithm, type, op); });
}

class Turns {
 public:
  explicit Turns(std::uint64_t seed) : turn_(seed) {}

  /// type  nullopt: the next type that the algorithm supports
  DeviceCase next(Collective collective, Algorithm algorithm, Protocol protocol, int nranks,
                  std::optional<DataType> type) {
    ++turn_;
    DeviceCase test;
    test.nranks = nranks;
    test.seed = turn_;
    test.call.collective = collective;
    test.call.count = kCounts.at(turn_ % kCounts.size());
    test.call.root = Rank{static_cast<int>(turn_ % static_cast<std::uint64_t>(nranks))};
    for (int i = 0; i < nranks && collective == Collective::AllGatherV; ++i) {
      test.call.counts.push_back(i % 3 * test.call.count / 2 + i);
    }
    test.choice = {.collective = collective,
                   .algorithm = algorithm,
                   .protocol = protocol,
                   .nchannels = 1 + static_cast<int>(turn_ / 3 % 2),
                   .slot = 512_B * (1ULL << turn_ % 3)};
    test.warps_per_strand = 1 + static_cast<int>(turn_ / 2 % 3);
    pick_type(test, type);
    const std::size_t element = size_of(test.call.type).value;
    test.offset = static_cast<int>(turn_ % 4 * element % 16);
    test.in_place = turn_ % 3 == 0 && has_in_place(collective);
    return test;
  }

 private:
  void pick_type(DeviceCase& test, std::optional<DataType> type) {
    do {
      ++draw_;
      test.call.type = type.value_or(static_cast<DataType>(draw_ % kTypes));
      test.call.op = kOps.at(draw_ / 2 % kOps.size());
    } while (is_reduction(test.call.collective) &&
             !can_reduce(test.choice.algorithm, test.call.type, test.call.op));
  }

  std::uint64_t turn_;
  std::uint64_t draw_ = 0;
};

}  // namespace

bool has_in_place(Collective collective) {
  return collective == Collective::AllReduce || collective == Collective::AllGather ||
         collective == Collective::ReduceScatter || collective == Collective::Broadcast;
}

std::vector<DeviceCase> device_grid(int nranks) {
  std::vector<DeviceCase> cases;
  Turns turns(static_cast<std::uint64_t>(nranks));
  for (int c = 0; c < kCollectiveCount; ++c) {
    const auto collective = static_cast<Collective>(c);
    if (collective == Collective::Send || collective == Collective::Recv) continue;
    for (const AlgorithmFacts& facts : kAlgorithmFacts) {
      if (!has_algorithm(collective, facts.algorithm)) continue;
      for (const Protocol protocol : kProtocols) {
        if (facts.is_simple_only && protocol != Protocol::Simple) continue;
        for (const std::optional<DataType> type : kTypesInGrid) {
          if (type && !reduces_somehow(collective, facts.algorithm, *type)) continue;
          cases.push_back(turns.next(collective, facts.algorithm, protocol, nranks, type));
        }
      }
    }
  }
  return cases;
}

std::vector<DeviceCase> device_types(int nranks) {
  std::vector<DeviceCase> cases;
  std::uint64_t seed = 100;
  for (int type = 0; type < kTypes; ++type) {
    for (const RedOp op : kOps) {
      DeviceCase test;
      test.nranks = nranks;
      test.seed = ++seed;
      test.call.type = static_cast<DataType>(type);
      test.call.op = op;
      test.call.count = 333 + static_cast<std::int64_t>(seed % 7);
      test.choice = {.protocol = kProtocols.at(seed % kProtocols.size()), .slot = Bytes{512}};
      test.warps_per_strand = 2;
      cases.push_back(test);
    }
  }
  return cases;
}

}  // namespace ringside
