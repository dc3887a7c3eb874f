#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "harness/bench.h"
#include "harness/job.h"

/// Cases of the grid collective x algorithm x protocol x type x operation x ranks x size x memory, and the code that
/// runs them with real processes.
namespace ringside {

struct GridCase {
  Collective collective = Collective::AllReduce;
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
  DataType type = DataType::Float32;
  RedOp op = RedOp::Sum;
  int nranks = 1;
  Bytes size;
  bool shares_memory = false;
};

inline BenchOptions options_of(const GridCase& one) {
  BenchOptions options;
  options.collective = one.collective;
  options.sizes = {one.size};
  options.type = one.type;
  options.op = one.op;
  options.root = Rank{one.nranks / 2};
  options.warmup = 0;
  options.iterations = 1;
  options.shares_memory = one.shares_memory;
  return options;
}

inline std::string name_of(const GridCase& one) {
  return std::string(to_string(one.collective)) + " " + to_string(one.algorithm) + " " +
         to_string(one.protocol) + " " + to_string(one.type) + " " + to_string(one.op) + " " +
         std::to_string(one.nranks) + " ranks " + std::to_string(one.size.value) + " bytes" +
         (one.shares_memory ? " in shared memory" : "");
}

inline CallSettings settings_of(const GridCase& one) {
  return {.algorithm = one.algorithm, .protocol = one.protocol};
}

/// Returns all pairs of a collective and an algorithm that it has.
inline std::vector<std::pair<Collective, Algorithm>> grid_pairs() {
  std::vector<std::pair<Collective, Algorithm>> pairs;
  for (int c = 0; c <= static_cast<int>(Collective::AllGatherV); ++c) {
    for (int a = 0; a < kAlgorithmCount; ++a) {
      const auto collective = static_cast<Collective>(c);
      const auto algorithm = static_cast<Algorithm>(a);
      BenchOptions options;
      options.collective = collective;
      if (check_bench(options, {.algorithm = algorithm})) pairs.emplace_back(collective, algorithm);
    }
  }
  return pairs;
}

/// The possible values of each factor. Every case takes one of each.
struct Grid {
  std::vector<std::pair<Collective, Algorithm>> pairs = grid_pairs();
  std::vector<Protocol> protocols{Protocol::LL, Protocol::LL128, Protocol::Simple};
  std::vector<DataType> types;
  std::vector<RedOp> ops;
  std::vector<int> nranks;
  std::vector<Bytes> sizes;
  std::vector<bool> memories{false, true};  ///< whether buffers are shared

  static constexpr std::size_t kFactors = 7;
  using Choice = std::array<std::size_t, kFactors>;

  [[nodiscard]] Choice levels() const {
    return {pairs.size(),  protocols.size(), types.size(),   ops.size(),
            nranks.size(), sizes.size(),     memories.size()};
  }
  [[nodiscard]] GridCase at(const Choice& choice) const {
    return {pairs[choice[0]].first, pairs[choice[0]].second, protocols[choice[1]],
            types[choice[2]],       ops[choice[3]],          nranks[choice[4]],
            sizes[choice[5]],       memories[choice[6]]};
  }
};

inline bool is_valid(const GridCase& one) {
  return check_bench(options_of(one), settings_of(one)).has_value();
}

/// Returns valid cases in which any two levels of different factors meet at least once, if a valid case can have both.
inline std::vector<GridCase> pairwise(const Grid& grid) {
  using Pair = std::array<std::size_t, 4>;  // factor, level, other factor, its level
  const Grid::Choice levels = grid.levels();
  std::map<Pair, bool> wanted;
  for (std::size_t f = 0; f < Grid::kFactors; ++f) {
    for (std::size_t g = f + 1; g < Grid::kFactors; ++g) {
      for (std::size_t i = 0; i < levels[f]; ++i) {
        for (std::size_t j = 0; j < levels[g]; ++j) wanted[{f, i, g, j}] = true;
      }
    }
  }
  const auto each_pair = [](const Grid::Choice& choice, const auto& visit) {
    for (std::size_t f = 0; f < Grid::kFactors; ++f) {
      for (std::size_t g = f + 1; g < Grid::kFactors; ++g) visit(Pair{f, choice[f], g, choice[g]});
    }
  };
  std::mt19937 random(20261120);
  std::vector<GridCase> cases;
  while (!wanted.empty()) {
    const Pair seed = wanted.begin()->first;
    Grid::Choice best{};
    int most = 0;
    for (int attempt = 0; attempt < 60; ++attempt) {
      Grid::Choice choice{};
      for (std::size_t f = 0; f < Grid::kFactors; ++f) choice[f] = random() % levels[f];
      choice[seed[0]] = seed[1];
      choice[seed[2]] = seed[3];
      if (!is_valid(grid.at(choice))) continue;
      int covered = 0;
      each_pair(choice, [&](const Pair& pair) { covered += wanted.contains(pair) ? 1 : 0; });
      if (covered <= most) continue;
      most = covered;
      best = choice;
    }
    if (most == 0) {
      wanted.erase(seed);  // no valid case has the pair
      continue;
    }
    each_pair(best, [&](const Pair& pair) { wanted.erase(pair); });
    cases.push_back(grid.at(best));
  }
  return cases;
}

/// Runs the cases on processes of this host, each number of ranks in one job.
inline void run_grid(const std::vector<GridCase>& cases, const Transport* transport) {
  std::map<int, std::vector<GridCase>> by_ranks;
  for (const GridCase& one : cases) by_ranks[one.nranks].push_back(one);
  for (const auto& [nranks, mine] : by_ranks) {
    JobOptions job;
    job.local_ranks = nranks;
    job.join_timeout = Seconds{20};
    job.communicator.host.transport = transport;
    const auto status = run_job(job, [&, &few = mine](JobRank& rank) -> Result<int> {
      for (const GridCase& one : few) {
        rank.communicator.set_settings(settings_of(one));
        const auto rows = run_bench(rank.communicator, options_of(one), [](const BenchRow&) {});
        if (!rows) {
          return Error{rows.error().code, name_of(one) + ": " + rows.error().message,
                       rows.error().help};
        }
        const BenchRow& row = rows->front();
        const std::int64_t wrong =
            row.out_of_place.wrong + (row.in_place ? row.in_place->wrong : 0);
        if (wrong != 0) {
          return Error{ErrorCode::Corrupt,
                       name_of(one) + ": " + std::to_string(wrong) + " wrong elements"};
        }
      }
      return 0;
    });
    ASSERT_TRUE(status) << status.error().message;
    EXPECT_EQ(*status, 0) << nranks << " ranks";
  }
}

inline const std::vector<DataType> kAllTypes{
    DataType::Int8,    DataType::Uint8,    DataType::Int32,      DataType::Uint32,
    DataType::Int64,   DataType::Uint64,   DataType::Float16,    DataType::Float32,
    DataType::Float64, DataType::Bfloat16, DataType::Float8E4m3, DataType::Float8E5m2};
inline const std::vector<RedOp> kAllOps{RedOp::Sum, RedOp::Prod, RedOp::Max,
                                        RedOp::Min, RedOp::Avg,  RedOp::PreMulSum};

}  // namespace ringside
