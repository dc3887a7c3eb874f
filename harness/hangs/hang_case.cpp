#include "harness/hangs/hang_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/random.h"
#include "harness/hangs/hang_logs.h"
#include "harness/hangs/log_times.h"

namespace ringside::hangs {
namespace {

/// 2026-03-03 10:00:00 UTC; the seed adds up to kEpochDays.
constexpr std::int64_t kFirstEpoch = 1'772'532'000 * kSecond;
constexpr int kEpochDays = 30;
constexpr int kAttempts = 400;  ///< draws before a request counts as impossible
/// Iterations before the fault, so that there is a history.
constexpr int kHealthyIterations = 3;

bool has_transfers(const Program& program) {
  return std::any_of(program.sites.begin(), program.sites.end(), [](const OutlineStep& step) {
    return step.kind == OutlineStep::Kind::Transfer || step.kind == OutlineStep::Kind::Shift;
  });
}

std::string_view draw_workload(FaultClass kind, Random& random) {
  constexpr std::array<std::string_view, 2> kWithTransfers{"pipeline", "mixed"};
  constexpr std::array<std::string_view, 5> kWithGroups{"tensor", "pipeline", "expert", "mixed",
                                                        "tensor"};
  if (kind == FaultClass::P2pUnmatched) return random.pick(kWithTransfers);
  if (kind == FaultClass::DeadlockCycle) return random.pick(kWithGroups);
  return random.pick(workload_names());
}

int draw_ranks(FaultClass kind, Random& random) {
  constexpr std::array kSizes{2, 3, 4, 4, 6, 8, 8, 8, 12, 16, 16, 24, 32, 32, 48, 64};
  const int ranks = random.pick(kSizes);
  return kind == FaultClass::DeadlockCycle ? std::max(ranks, 4) : ranks;
}

/// Returns whether a dump can show the hang, and the backend supports it.
bool fits(const Recorder& recorder, const HangCase& hang) {
  const Fault& fault = hang.fault;
  const bool has_p2p = has_transfers(hang.program);
  if (recorder.is_gloo &&
      (has_p2p || fault.kind == FaultClass::DeadRank || fault.kind == FaultClass::NetworkStall)) {
    return false;
  }
  const bool needs_types = fault.kind == FaultClass::DtypeMismatch;
  if (*recorder.release.format == '\0') {
    return hang.program.groups.size() == 1 && !has_p2p && !needs_types;
  }
  return has_format(recorder.release, 2, 1) || (!needs_types && !has_p2p);
}

Recorder draw_recorder(Random& random) {
  Recorder recorder;
  // Later releases are used more often.
  const auto count = static_cast<std::int64_t>(releases().size());
  const std::int64_t index = std::max(random.below(count), random.below(count));
  recorder.release = releases()[static_cast<std::size_t>(index)];
  recorder.is_gloo = index == count - 1 && random.chance(30);
  recorder.has_timing = !recorder.is_gloo && random.chance(35);
  recorder.is_only_active =
      !recorder.is_gloo && has_format(recorder.release, 2, 3) && random.chance(15);
  recorder.has_frames = random.chance(85);
  constexpr std::array kCapacities{2000, 2000, 2000, 20000, 100, 40};
  recorder.capacity = random.pick(kCapacities);
  constexpr std::array<std::int64_t, 4> kTimeouts{600'000, 600'000, 1'800'000, 180'000};
  recorder.timeout_ms = random.pick(kTimeouts);
  return recorder;
}

/// Makes all calls blocking, as in Gloo, whose calls return when they are done.
void make_blocking(Program& program) {
  const auto block = [](std::vector<Step>& body) {
    std::vector<Step> blocking;
    for (std::size_t i = 0; i < body.size(); ++i) {
      const Step& step = body[i];
      blocking.push_back(step);
      if (step.kind != Step::Kind::Call || step.async) continue;
      if (bundle_length(body, i) > 1)
        continue;  // calls that begin together are waited for together
      Step wait;
      wait.kind = Step::Kind::Synchronize;
      wait.site = step.site;
      blocking.push_back(wait);
    }
    body = std::move(blocking);
  };
  for (RankProgram& own : program.programs) {
    block(own.body);
    for (auto& [iteration, body] : own.odd) block(body);
  }
}

std::int64_t end_of(const Play& play) {
  std::int64_t end = 0;
  for (const RankHistory& rank : play.ranks) {
    end = std::max(end, rank.end.host_time);
    for (const Record& record : rank.records) {
      end = std::max({end, record.created, record.completed});
    }
  }
  return end;
}

/// Returns when the first watchdog requests dumps from all ranks.
std::int64_t first_timeout(const HangCase& hang) {
  const std::int64_t patience = hang.recorder.timeout_ms * 1'000'000;
  std::int64_t first = kNever;
  for (std::size_t rank = 0; rank < hang.play.ranks.size(); ++rank) {
    const RankHistory& history = hang.play.ranks[rank];
    if (leaves_no_dump(history.end.halt)) continue;
    for (const Record& record : history.records) {
      if (record.completed != kNever) continue;
      const std::int64_t timeout = record.created + patience;
      if (first == kNever || timeout < first) first = timeout;
    }
  }
  return first == kNever ? end_of(hang.play) + patience : first;
}

/// Drops some of the files; at least one dump stays if there was one.
void lose(Evidence& evidence, int percent, Random& random) {
  const auto ranks = static_cast<std::int64_t>(evidence.has_dump.size());
  std::vector<int> written;
  for (int rank = 0; rank < ranks; ++rank) {
    if (evidence.has_dump[static_cast<std::size_t>(rank)]) written.push_back(rank);
  }
  if (!written.empty()) {
    const auto count = static_cast<std::int64_t>(written.size());
    auto gone = count * percent / 100;
    if (gone == 0 && percent > 0) gone = 1;
    gone = std::min(gone, count - 1);
    for (; gone > 0; --gone) {
      const std::int64_t at = random.below(static_cast<std::int64_t>(written.size()));
      const int rank = written[static_cast<std::size_t>(at)];
      evidence.has_dump[static_cast<std::size_t>(rank)] = false;
      evidence.dumps_removed.push_back(rank);
      written.erase(written.begin() + at);
    }
    std::sort(evidence.dumps_removed.begin(), evidence.dumps_removed.end());
  }
  if (evidence.is_one_log) return;
  for (std::size_t rank = 0; rank < evidence.has_log.size(); ++rank) {
    if (random.chance(percent)) evidence.has_log[rank] = false;
  }
}

/// Draws when the dumps are written, by skewed wall clocks.
void draw_times(const HangCase& hang, Random& random, Evidence& evidence) {
  const std::int64_t end = end_of(hang.play);
  std::int64_t jitter = kSecond;  // between the first dump and the last
  if (hang.fault.kind == FaultClass::NotAHang) {
    evidence.moment = random.chance(50) ? Moment::MidRun : Moment::Finished;
    const bool is_mid_run = evidence.moment == Moment::MidRun;
    evidence.first_timeout = is_mid_run ? end * random.between(40, 90) / 100 : end + kSecond;
    if (is_mid_run) jitter = end / 50 + 1;
  } else {
    evidence.first_timeout = first_timeout(hang);
  }
  const std::int64_t epoch = kFirstEpoch + random.below(kEpochDays * 86400) * kSecond;
  const std::int64_t skew_ms = random.chance(40) ? 3000 : 5;
  std::int64_t host_skew = 0;
  for (int rank = 0; rank < hang.program.ranks; ++rank) {
    if (rank % hang.program.ranks_per_host == 0) {
      host_skew = random.between(-skew_ms, skew_ms) * 1'000'000;
    }
    evidence.epoch.push_back(epoch + host_skew);
    const bool writes = !leaves_no_dump(hang.play.ranks[static_cast<std::size_t>(rank)].end.halt);
    evidence.dump_time.push_back(writes ? evidence.first_timeout + random.below(jitter) : kNever);
    evidence.has_dump.push_back(writes);
  }
}

/// Draws which logs are kept, and the format of the dumps.
void draw_formats(const HangCase& hang, Random& random, Evidence& evidence) {
  evidence.has_logs =
      hang.fault.kind != FaultClass::NotAHang && !hang.recorder.is_gloo && random.chance(50);
  evidence.is_one_log = evidence.has_logs && random.chance(40);
  evidence.has_calls = evidence.has_logs && random.chance(30);
  evidence.has_log.assign(evidence.has_dump.size(), evidence.has_logs);
  const bool has_json = has_format(hang.recorder.release, 2, 3);
  evidence.is_json = has_json && random.chance(30);
  evidence.is_pickle = !evidence.is_json || random.chance(50);
}

/// Draws whether torchrun's lines are kept. It ends the other ranks of a dead rank's host before they write dumps.
void draw_agent(const HangCase& hang, Random& random, Evidence& evidence) {
  const int per_host = hang.program.ranks_per_host;
  const bool is_dead = hang.fault.halt == Halt::Killed || hang.fault.halt == Halt::Exited;
  const bool has_other_hosts = hang.program.ranks > per_host;
  if (!is_dead || !has_other_hosts || !random.chance(40)) return;
  evidence.has_agent = true;
  const int host = hang.fault.culprits.front() / per_host;
  for (int rank = 0; rank < hang.program.ranks; ++rank) {
    if (rank / per_host != host) continue;
    evidence.dump_time[static_cast<std::size_t>(rank)] = kNever;
    evidence.has_dump[static_cast<std::size_t>(rank)] = false;
  }
}

Evidence draw_evidence(const HangCase& hang, int lost_percent, Random& random) {
  Evidence evidence;
  draw_times(hang, random, evidence);
  draw_formats(hang, random, evidence);
  draw_agent(hang, random, evidence);
  lose(evidence, lost_percent, random);
  constexpr int kFirstWithJson = 10;  // PyTorch 2.10 contains an NCCL release whose RAS writes JSON
  const bool can_ask = evidence.moment == Moment::Timeout && !hang.recorder.is_gloo &&
                       hang.recorder.release.minor >= kFirstWithJson;
  evidence.has_ras = can_ask && random.chance(40);
  return evidence;
}

/// Sets the number of iterations so that the busiest rank makes that many calls.
void stretch(Outline& outline, int records) {
  Outline once = outline;
  once.iterations = 1;
  const Program program = make_program(once);
  std::size_t most = 1;
  for (const RankProgram& own : program.programs) {
    most = std::max(most, static_cast<std::size_t>(std::count_if(
                              own.body.begin(), own.body.end(),
                              [](const Step& s) { return s.kind == Step::Kind::Call; })));
  }
  outline.iterations =
      std::max(6, (records + static_cast<int>(most) - 1) / static_cast<int>(most) + 2);
}

/// Makes one attempt.  returns  whether the fault has a visible effect
bool draw(const CaseOptions& options, FaultClass kind, Random& random, HangCase& hang) {
  const int ranks = options.ranks > 0 ? options.ranks : draw_ranks(kind, random);
  Outline outline;
  if (options.outline) {
    outline = *options.outline;
  } else {
    auto made = make_workload(draw_workload(kind, random), ranks, random.next());
    if (!made) return false;
    outline = *std::move(made);
  }
  int first = kHealthyIterations;
  if (options.records > 0) {
    stretch(outline, options.records);
    first = std::max(first, outline.iterations - 2);
  }
  hang.workload = outline.name;
  hang.program = make_program(outline);
  std::optional<Fault> fault = inject(hang.program, kind, first, random);
  if (!fault) return false;
  hang.fault = *std::move(fault);
  do {
    hang.recorder = draw_recorder(random);
  } while (!fits(hang.recorder, hang));
  if (options.frames > 0) {
    hang.recorder.frames = options.frames;
    hang.recorder.has_frames = true;
  }
  if (options.records > 0) {
    // An explicit number of records also applies to the dumps.
    hang.recorder.capacity = std::max(hang.recorder.capacity, options.records);
    hang.recorder.is_only_active = false;
  }
  if (hang.recorder.is_gloo) make_blocking(hang.program);
  hang.play = play(hang.program, hang.fault.network, random.next());
  if (hang.play.is_hung() != (kind != FaultClass::NotAHang)) return false;
  hang.evidence = draw_evidence(hang, options.lost_percent, random);
  if (options.records > 0) {
    hang.evidence.is_pickle = true;
    hang.evidence.is_json = false;
  }
  return std::count(hang.evidence.has_dump.begin(), hang.evidence.has_dump.end(), true) > 0;
}

}  // namespace

HangCase kept_case(std::string name, Program program, Play play, std::optional<Seconds> watchdog) {
  HangCase hang;
  hang.workload = std::move(name);
  hang.program = std::move(program);
  hang.play = std::move(play);
  hang.recorder.release = releases().back();
  hang.recorder.has_timing = true;
  hang.recorder.has_roots = true;
  if (watchdog) {
    hang.recorder.timeout_ms = std::chrono::ceil<std::chrono::milliseconds>(*watchdog).count();
  }
  Evidence& evidence = hang.evidence;
  const bool is_hung = hang.play.is_hung();
  evidence.moment = is_hung ? Moment::Timeout : Moment::Finished;
  evidence.first_timeout = is_hung ? first_timeout(hang) : end_of(hang.play) + kSecond;
  for (const RankHistory& rank : hang.play.ranks) {
    const bool writes = !leaves_no_dump(rank.end.halt);
    evidence.epoch.push_back(kFirstEpoch);
    evidence.dump_time.push_back(writes ? evidence.first_timeout : kNever);
    evidence.has_dump.push_back(writes);
  }
  evidence.has_calls = call_lines(hang) <= kMostCallLines;
  evidence.has_logs = is_hung || evidence.has_calls;
  evidence.has_log.assign(hang.play.ranks.size(), evidence.has_logs);
  evidence.has_ras = is_hung;
  evidence.has_stacks = is_hung;
  for (int rank = 0; rank < hang.program.ranks; ++rank) {
    const Halt halt = hang.play.ranks[static_cast<std::size_t>(rank)].end.halt;
    if (halt != Halt::Killed && halt != Halt::Exited) continue;
    std::vector<int>& dead = hang.fault.culprits;
    // An agent reports only about its own host.
    if (!dead.empty() &&
        dead.front() / hang.program.ranks_per_host != rank / hang.program.ranks_per_host)
      continue;
    dead.push_back(rank);
    hang.fault.halt = halt;
    evidence.has_agent = true;
  }
  return hang;
}

std::uint64_t case_seed(std::uint64_t seed, int index) {
  return Random(seed * 1'000'003 + static_cast<std::uint64_t>(index)).next();
}

bool is_pending(const HangCase& hang, int rank, const Record& record) {
  const std::int64_t dump = hang.evidence.dump_time[static_cast<std::size_t>(rank)];
  const std::int64_t moment = dump == kNever ? hang.evidence.first_timeout : dump;
  return record.created <= moment && (record.completed == kNever || record.completed > moment);
}

Result<HangCase> make_case(const CaseOptions& options, std::uint64_t seed) {
  Random random(seed);
  const FaultClass kind =
      options.kind ? *options.kind : static_cast<FaultClass>(random.below(kFaultClasses));
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    HangCase hang;
    hang.seed = seed;
    if (draw(options, kind, random, hang)) return hang;
  }
  return Error{ErrorCode::InvalidArgument,
               fmt::format("no place for {} in {}", to_string(kind),
                           options.outline ? "program '" + options.outline->name + "'"
                                           : fmt::format("a job of {} ranks", options.ranks)),
               "it needs calls of its kind: a transfer, a root, two groups; take another class"};
}

}  // namespace ringside::hangs
