#include "harness/hangs/fault.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/hangs/hang_case.h"
#include "harness/hangs/truth.h"

namespace ringside::hangs {
namespace {

constexpr int kSeeds = 12;

/// The calls of the culprit in its group, and those of another member.
struct Sight {
  Surface surface;
  const Step* own = nullptr;
  const Step* other = nullptr;
};

Sight look(const HangCase& hang) {
  Sight sight;
  sight.surface = find_surface(hang, hang.fault.group);
  const int culprit = hang.fault.culprits.front();
  for (std::size_t i = 0; i < sight.surface.here.size(); ++i) {
    (sight.surface.here[i] == culprit ? sight.own : sight.other) = sight.surface.calls[i];
  }
  return sight;
}

HangCase made(FaultClass kind, int seed, int lost = 0) {
  CaseOptions options;
  options.kind = kind;
  options.ranks = seed % 2 == 0 ? 8 : 16;
  options.lost_percent = lost;
  auto hang = make_case(options, static_cast<std::uint64_t>(seed));
  EXPECT_TRUE(hang) << to_string(kind) << ": " << (hang ? "" : hang.error().message);
  return *std::move(hang);
}

bool is_waiting(const HangCase& hang, int rank) {
  const auto& records = hang.play.ranks[static_cast<std::size_t>(rank)].records;
  return std::any_of(records.begin(), records.end(),
                     [](const Record& record) { return record.completed == kNever; });
}

TEST(Fault, EveryClassHangsButTheLast) {
  for (int kind = 0; kind < kFaultClasses; ++kind) {
    const HangCase hang = made(static_cast<FaultClass>(kind), 7);
    EXPECT_EQ(hang.play.is_hung(), hang.fault.kind != FaultClass::NotAHang)
        << to_string(hang.fault.kind);
    EXPECT_EQ(hang.fault.culprits.empty(), hang.fault.kind == FaultClass::NotAHang ||
                                               hang.fault.kind == FaultClass::NetworkStall);
  }
}

TEST(Fault, ARankThatStopsHasNothingPendingAndTheOthersWaitForIt) {
  for (const FaultClass kind :
       {FaultClass::MissingRank, FaultClass::DeadRank, FaultClass::Straggler}) {
    for (int seed = 0; seed < kSeeds; ++seed) {
      const HangCase hang = made(kind, seed);
      for (const int culprit : hang.fault.culprits) {
        EXPECT_EQ(hang.play.ranks[static_cast<std::size_t>(culprit)].end.host,
                  RankEnd::Host::Halted);
      }
      int waiting = 0;
      for (int rank = 0; rank < hang.program.ranks; ++rank) waiting += is_waiting(hang, rank);
      EXPECT_GT(waiting, 0);
      const bool writes = hang.evidence.has_dump[static_cast<std::size_t>(hang.fault.culprits[0])];
      EXPECT_EQ(writes, kind != FaultClass::DeadRank);
    }
  }
}

TEST(Fault, AMismatchDiffersInThePropertyOfItsName) {
  struct Expected {
    FaultClass kind;
    bool op, count, type, root;
  };
  const Expected all[] = {{FaultClass::OpMismatch, true, false, false, false},
                          {FaultClass::ShapeMismatch, false, true, false, false},
                          {FaultClass::DtypeMismatch, false, false, true, false},
                          {FaultClass::RootMismatch, false, false, false, true}};
  for (const Expected& expected : all) {
    for (int seed = 0; seed < kSeeds; ++seed) {
      const HangCase hang = made(expected.kind, seed);
      const Sight sight = look(hang);
      ASSERT_TRUE(sight.own != nullptr && sight.other != nullptr) << to_string(expected.kind);
      EXPECT_EQ(sight.surface.seq, hang.fault.seq);
      EXPECT_EQ(sight.own->op != sight.other->op, expected.op);
      EXPECT_EQ(sight.own->count != sight.other->count, expected.count);
      EXPECT_EQ(sight.own->type != sight.other->type, expected.type);
      if (!expected.op) {
        EXPECT_EQ(sight.own->peer != sight.other->peer, expected.root);
      }
    }
  }
}

TEST(Fault, AnOrderMismatchSwapsTwoCallsOfOneGroup) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    const HangCase hang = made(FaultClass::OrderMismatch, seed);
    const Sight sight = look(hang);
    ASSERT_TRUE(sight.own != nullptr && sight.other != nullptr);
    EXPECT_FALSE(agree(*sight.own, *sight.other));
    EXPECT_EQ(sight.surface.seq, hang.fault.seq);
  }
}

TEST(Fault, InACycleTheCulpritWaitsForRanksThatWaitForIt) {
  int cycles = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const HangCase hang = made(FaultClass::DeadlockCycle, seed);
    EXPECT_TRUE(is_waiting(hang, hang.fault.culprits.front()));
    if (hang.fault.is_p2p) continue;
    const std::vector<int> cycle = find_cycle(hang, hang.fault.culprits.front());
    EXPECT_GE(cycle.size(), 2U);
    for (const int rank : cycle) EXPECT_TRUE(is_waiting(hang, rank));
    ++cycles;
  }
  EXPECT_GT(cycles, 0);
}

TEST(Fault, AnUnmatchedTransferLeavesOneOfItsEndsPending) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    const HangCase hang = made(FaultClass::P2pUnmatched, seed);
    bool is_pending = false;
    for (const RankHistory& rank : hang.play.ranks) {
      for (const Record& record : rank.records) {
        is_pending = is_pending || (record.completed == kNever && is_p2p(record.step->op));
      }
    }
    EXPECT_TRUE(is_pending);
  }
}

TEST(Fault, InAStallAllMembersAreInACallThatIsTheSame) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    const HangCase hang = made(FaultClass::NetworkStall, seed);
    const Group& group = hang.program.groups[static_cast<std::size_t>(hang.fault.group)];
    for (const int rank : group.ranks) {
      bool is_in = false;
      for (const Record& record : hang.play.ranks[static_cast<std::size_t>(rank)].records) {
        is_in = is_in || (record.step->group == hang.fault.group && !is_p2p(record.step->op) &&
                          record.collective_seq == hang.fault.seq && record.started != kNever &&
                          record.completed == kNever);
      }
      EXPECT_TRUE(is_in) << rank;
    }
  }
}

TEST(Fault, TheSameSeedMakesTheSameCase) {
  for (int kind = 0; kind < kFaultClasses; ++kind) {
    const HangCase a = made(static_cast<FaultClass>(kind), 5, 40);
    const HangCase b = made(static_cast<FaultClass>(kind), 5, 40);
    EXPECT_EQ(a.fault.culprits, b.fault.culprits);
    EXPECT_EQ(a.evidence.has_dump, b.evidence.has_dump);
    EXPECT_EQ(a.evidence.dump_time, b.evidence.dump_time);
    ASSERT_EQ(a.play.ranks.size(), b.play.ranks.size());
    for (std::size_t rank = 0; rank < a.play.ranks.size(); ++rank) {
      ASSERT_EQ(a.play.ranks[rank].records.size(), b.play.ranks[rank].records.size());
    }
  }
}

/// A step of ring attention: sends and receives that begin together, between collectives, two of which also begin
/// together.
Outline ring_outline() {
  const auto outline = parse_outline(
      "ringside: hang-program/1\nranks: 8\niterations: 12\ngroups: {ring: [0-3, 4-7]}\nsteps:\n"
      "- repeat: {times: 3, steps: [send_recv: {on: ring, count: 4096}, compute: 1ms]}\n"
      "- all_reduce: {on: ring, count: 4096}\n"
      "- grouped: {calls: [all_gather: {on: world, count: 512}, all_reduce: {on: world, count: "
      "1024}]}\n"
      "- synchronize\n",
      "ring.yaml");
  EXPECT_TRUE(outline) << outline.error().message;
  return *outline;
}

HangCase made_of_ring(FaultClass kind, int seed) {
  CaseOptions options;
  options.kind = kind;
  options.outline = ring_outline();
  auto hang = make_case(options, static_cast<std::uint64_t>(seed));
  EXPECT_TRUE(hang) << to_string(kind) << ": " << (hang ? "" : hang.error().message);
  return *std::move(hang);
}

// Each iteration has at most four sends and four receives: those of three rounds, and the repeated ones. Only
// p2p_unmatched skips one end alone.
TEST(Fault, FaultsTakePlaceInWhatBeginsTogether) {
  for (const FaultClass kind :
       {FaultClass::MissingRank, FaultClass::DeadRank, FaultClass::Straggler,
        FaultClass::DivergedControlFlow, FaultClass::ShapeMismatch, FaultClass::P2pUnmatched}) {
    int in_bundles = 0;
    int halves = 0;
    for (int seed = 0; seed < 4 * kSeeds; ++seed) {
      const HangCase hang = made_of_ring(kind, seed);
      EXPECT_TRUE(hang.play.is_hung()) << to_string(kind) << " " << seed << hang.fault.text;
      for (const RankProgram& own : hang.program.programs) {
        for (const auto& [iteration, body] : own.odd) {
          std::map<int, int> ends;  // sends minus receives, by the set that begins together
          for (const Step& step : body) {
            if (step.kind == Step::Kind::Call && is_p2p(step.op)) {
              ends[step.bundle] += step.op == Op::Send ? 1 : -1;
            }
          }
          for (const auto& [bundle, balance] : ends) halves += balance != 0;
        }
      }
      const bool is_grouped_collective =
          !hang.fault.is_p2p && hang.fault.group == 0 && !hang.fault.is_group_missing;
      in_bundles += hang.fault.is_p2p || is_grouped_collective ? 1 : 0;
    }
    EXPECT_GT(in_bundles, 3) << to_string(kind);
    EXPECT_EQ(halves > 0, kind == FaultClass::P2pUnmatched) << to_string(kind);
  }
}

TEST(Fault, NamesReadBack) {
  for (int kind = 0; kind < kFaultClasses; ++kind) {
    const auto fault = static_cast<FaultClass>(kind);
    EXPECT_EQ(*parse_fault_class(to_string(fault)), fault);
  }
  EXPECT_EQ(parse_fault_class("shape_mismach").error().message, "unknown class 'shape_mismach'");
}

TEST(Fault, AJobWithoutAPlaceForItIsRefused) {
  CaseOptions options;
  options.kind = FaultClass::P2pUnmatched;
  options.outline = *make_workload("data", 4, 1);  // no transfers
  const auto hang = make_case(options, 1);
  ASSERT_FALSE(hang);
  EXPECT_EQ(hang.error().message, "no place for p2p_unmatched in program 'data'");
}

// --- the truth ------------------------------------------------------------------------------

bool allows(const Truth& truth, const std::vector<int>& culprits) {
  return std::find(truth.culprits.begin(), truth.culprits.end(), culprits) != truth.culprits.end();
}

TEST(Truth, WithAllFilesARankThatStoppedIsInNoDoubt) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    const HangCase hang = made(FaultClass::Straggler, seed);
    const Truth truth = find_truth(hang);
    EXPECT_EQ(truth.culprits.size(), 1U) << truth.doubt;
    EXPECT_EQ(truth.culprits[0], hang.fault.culprits);
  }
}

TEST(Truth, ACulpritWithoutAFileMayStayUnnamed) {
  int lost = 0;
  for (int seed = 0; seed < 40; ++seed) {
    const HangCase hang = made(FaultClass::ShapeMismatch, seed, 40);
    const auto culprit = static_cast<std::size_t>(hang.fault.culprits[0]);
    if (hang.evidence.has_dump[culprit] || hang.evidence.has_calls) continue;
    ++lost;
    const Truth truth = find_truth(hang);
    EXPECT_TRUE(allows(truth, {}));
    EXPECT_TRUE(allows(truth, hang.fault.culprits));
    EXPECT_TRUE(truth.classes.count("missing_rank") == 1);
  }
  EXPECT_GT(lost, 5);
}

TEST(Truth, AHealthyJobHasNoCulpritWhateverIsLost) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    const Truth truth = find_truth(made(FaultClass::NotAHang, seed, 40));
    ASSERT_EQ(truth.culprits.size(), 1U);
    EXPECT_TRUE(truth.culprits[0].empty());
  }
}

// The rank that skips the all-reduce waits in the next round for its neighbours, who wait for it in the all-reduce.
TEST(Truth, ARankThatSkipsACollectiveIsInAnUnmatchedTransfer) {
  int checked = 0;
  for (int seed = 0; seed < 8 * kSeeds; ++seed) {
    const HangCase hang = made_of_ring(FaultClass::DivergedControlFlow, seed);
    if (hang.fault.text != "skips one collective and continues") continue;
    const int culprit = hang.fault.culprits.front();
    const auto& records = hang.play.ranks[static_cast<std::size_t>(culprit)].records;
    const bool is_in_ring = std::any_of(records.begin(), records.end(), [](const Record& record) {
      return is_p2p(record.step->op) && record.completed == kNever;
    });
    if (!is_in_ring) continue;
    ++checked;
    EXPECT_EQ(find_truth(hang).classes.count("p2p_unmatched"), 1U) << seed;
  }
  EXPECT_GT(checked, 2);
}

TEST(Truth, EitherOfTwoMembersThatDisagreeMayBeTheCulprit) {
  CaseOptions options;
  options.kind = FaultClass::ShapeMismatch;
  options.ranks = 2;
  const auto hang = make_case(options, 3);
  ASSERT_TRUE(hang);
  const Truth truth = find_truth(*hang);
  EXPECT_TRUE(allows(truth, {0}));
  EXPECT_TRUE(allows(truth, {1}));
  EXPECT_TRUE(allows(truth, {0, 1}));
  EXPECT_EQ(truth.doubt, "two members disagree; neither is a majority");
}

}  // namespace
}  // namespace ringside::hangs
