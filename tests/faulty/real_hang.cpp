#include "tests/faulty/real_hang.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>

#include "base/random.h"
#include "diag/hangdetect/examine.h"
#include "diag/report/sentences/hang_sentences.h"
#include "harness/job.h"
#include "harness/program_run.h"

namespace ringside {
namespace {

constexpr int kIterations = 6;

/// The kinds of faults that the plans contain. Late and slow are omitted, as such jobs finish.
constexpr std::array kKinds{
    FaultKind::Skip,      FaultKind::Kill,    FaultKind::WrongCount,      FaultKind::Stall,
    FaultKind::Blackhole, FaultKind::Add,     FaultKind::WrongType,       FaultKind::Exit,
    FaultKind::Reorder,   FaultKind::Throw,   FaultKind::WrongCollective, FaultKind::Stop,
    FaultKind::WrongRoot, FaultKind::CutLink, FaultKind::StallLink};

/// The calls of one rank, in the order in which it makes them.
std::vector<const hangs::Step*> calls_of(const hangs::Program& program, int rank) {
  std::vector<const hangs::Step*> calls;
  const hangs::RankProgram& own = program.programs[static_cast<std::size_t>(rank)];
  for (int i = 0; i < own.iterations; ++i) {
    for (const hangs::Step& step : own.body_of(i)) {
      if (step.kind == hangs::Step::Kind::Call) calls.push_back(&step);
    }
  }
  return calls;
}

bool waits_for_all(const hangs::Step& step) {
  return !hangs::is_p2p(step.op) && !hangs::has_root(step.op);
}

/// Returns whether the fault has an effect at that call.
bool has_place(const hangs::Program& program, FaultKind kind,
               const std::vector<const hangs::Step*>& calls, std::size_t at) {
  const hangs::Step& step = *calls[at];
  // A rank that is alone in its group blocks no other rank.
  if (program.groups[static_cast<std::size_t>(step.group)].ranks.size() < 2) return false;
  // Small messages fit the slots: neither their sender nor the root of a broadcast is blocked.
  const bool waits = waits_for_all(step);
  switch (kind) {
    case FaultKind::Skip:
      return waits || step.op == hangs::Op::Send;
    case FaultKind::Add:
      return waits || step.op == hangs::Op::Recv;
    case FaultKind::WrongRoot:
      return hangs::has_root(step.op);
    case FaultKind::WrongCollective:
      return !hangs::is_p2p(step.op);
    case FaultKind::Reorder:
      // Equal calls can be exchanged, and so can messages that fit the slots.
      return at + 1 < calls.size() && waits && waits_for_all(*calls[at + 1]) &&
             (step.group != calls[at + 1]->group || !hangs::agree(step, *calls[at + 1]));
    default:
      return true;
  }
}

}  // namespace

bool RealVerdict::names_healthy(const RealHang& hang) const {
  return !std::ranges::includes(hang.culprits, culprits);
}

RealHang draw_real_hang(std::uint64_t seed, int nranks) {
  RealHang hang;
  hang.seed = seed;
  const FaultKind kind = kKinds[seed % kKinds.size()];
  for (std::uint64_t attempt = 0;; ++attempt) {
    Random random(seed * 1000 + attempt);
    hang.workload = random.pick(hangs::workload_names());
    auto outline = hangs::make_workload(hang.workload, nranks, random.next());
    RINGSIDE_ASSERT(outline, "workload {}: {}", hang.workload, outline.error().message);
    outline->iterations = kIterations;
    hang.program = hangs::make_program(*outline);
    hang.plan = {};
    hang.plan.seed = seed;
    Fault fault;
    fault.kind = kind;
    const int rank = static_cast<int>(random.below(nranks));
    if (is_link_fault(kind)) {
      fault.from = rank;
      fault.step = static_cast<std::uint64_t>(random.between(2, 20));
      hang.culprits = {};
    } else {
      const auto calls = calls_of(hang.program, rank);
      if (calls.size() < 8) continue;
      const auto at =
          static_cast<std::size_t>(random.between(static_cast<std::int64_t>(calls.size()) / 4,
                                                  static_cast<std::int64_t>(calls.size()) * 3 / 4));
      if (!has_place(hang.program, kind, calls, at)) continue;
      fault.rank = rank;
      fault.call = static_cast<std::int64_t>(at);
      hang.culprits = {rank};
    }
    hang.plan.faults = {fault};
    return hang;
  }
}

Result<RealVerdict> run_and_examine(const RealHang& hang, const std::string& folder,
                                    double timeout_s) {
  namespace fs = std::filesystem;
  using Time = std::chrono::steady_clock;
  fs::remove_all(folder);
  fs::create_directories(folder);
  JobOptions job;
  job.local_ranks = hang.program.ranks;
  job.communicator.op_timeout = Seconds{timeout_s};
  job.grace = Seconds{1};
  job.faults = hang.plan;
  job.dumps = folder;
  RealVerdict verdict;
  const Time::time_point began = Time::now();
  const auto status = run_job(job, [&](JobRank& rank) { return run_program(rank, hang.program); });
  const Time::time_point ended = Time::now();
  verdict.run_s = Seconds(ended - began).count();
  if (!status) verdict.error = status.error().message;
  if (fs::is_empty(folder)) {
    verdict.kind = "no dumps";
    return verdict;
  }
  RINGSIDE_TRY(const hang::Examination all, hang::examine({folder}));
  verdict.examine_s = Seconds(Time::now() - ended).count();
  verdict.kind = to_string(all.verdict.best.kind);
  verdict.culprits = all.verdict.best.culprits;
  verdict.confidence = all.verdict.best.confidence;
  verdict.why = hang::why_of(all.verdict.best);
  return verdict;
}

}  // namespace ringside
