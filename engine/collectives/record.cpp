#include "engine/collectives/record.h"

#include <optional>

namespace ringside {
namespace {

Ports moved(Ports ports, std::int32_t by) {
  return {static_cast<std::uint16_t>(ports.first + by), ports.bits};
}

/// Returns the last step of a run.
Step last_of(const StepRun& run, std::int32_t chunks) {
  const std::int32_t before = run.repeat - 1;
  return {run.primitive,
          static_cast<std::int32_t>((run.first_chunk + std::int64_t{run.stride} * before) % chunks),
          moved(run.from, run.from_stride * before), moved(run.to, run.to_stride * before)};
}

/// Returns by how much the ports increase from `last` to `next`.
std::int16_t port_stride(Ports last, Ports next) {
  return static_cast<std::int16_t>(next.first - last.first);
}

/// Returns, if all ranks take the same steps, the offset of this rank's chunks from those of the rank at
/// place 0.
std::optional<int> turn_of(const Role& role) {
  const bool is_of_all =
      role.collective == Collective::AllReduce || has_a_block_per_rank(role.collective);
  if (!is_of_all) return std::nullopt;
  if (role.algorithm == Algorithm::Ring) return role.ring.index;
  if (role.algorithm == Algorithm::Pat) return role.pat.index;
  return std::nullopt;
}

}  // namespace

void RecordPrimitives::begin(int turn, int strand) {
  current_ = {.strand = static_cast<std::uint8_t>(strand),
              .turn = static_cast<std::uint16_t>(turn),
              .repeat = 0};
}

void RecordPrimitives::add(const Step& step) {
  const std::int32_t n = program_->chunks;
  if (current_.repeat > 0) {
    StepRun& run = program_->steps.back();
    const Step last = last_of(run, n);
    const auto stride = static_cast<std::int32_t>((step.chunk - last.chunk + n) % n);
    const std::int16_t from_stride = port_stride(last.from, step.from);
    const std::int16_t to_stride = port_stride(last.to, step.to);
    const bool is_alike = run.primitive == step.primitive && last.from.bits == step.from.bits &&
                          last.to.bits == step.to.bits;
    if (is_alike && run.repeat == 1) {
      run.stride = stride;
      run.from_stride = from_stride;
      run.to_stride = to_stride;
    }
    if (is_alike && run.stride == stride && run.from_stride == from_stride &&
        run.to_stride == to_stride) {
      ++run.repeat;
      return;
    }
  }
  current_.primitive = step.primitive;
  current_.first_chunk = step.chunk;
  current_.from = step.from;
  current_.to = step.to;
  current_.repeat = 1;
  program_->steps.push_back(current_);
}

Program record(const ChannelTask& task) {
  Program program{.loops = task.map.loops(),
                  .chunks = task.map.chunks(),
                  .turns = task.map.turns(),
                  .strands = task.strands,
                  .steps = {}};
  RecordPrimitives primitives(program);
  for (int turn = 0; turn < program.turns; ++turn) {
    for (int strand = 0; strand < task.strands.count; ++strand) {
      primitives.begin(turn, strand);
      run_strand(primitives, task.role(), task.round_list(), strand, turn);
    }
  }
  program.steps.shrink_to_fit();
  return program;
}

SharedProgram ProgramBook::of(const ChannelTask& task) {
  const std::optional<int> turned = turn_of(task.role());
  if (!turned) return {std::make_shared<const Program>(record(task)), 0};
  const Role& role = task.role();
  const Kind kind{role.collective,   role.algorithm,   role.ring.size,  role.pat.together,
                  task.map.chunks(), task.map.loops(), task.map.turns()};
  std::shared_ptr<const Program>& known = known_[kind];
  if (known == nullptr) {
    ChannelTask first = task;
    first.ring.index = first.pat.index = 0;
    known = std::make_shared<const Program>(record(first));
  }
  return {known, *turned};
}

std::int64_t count_steps(const Program& program) {
  std::int64_t steps = 0;
  for (const StepRun& run : program.steps) steps += program.loops / program.turns * run.repeat;
  return steps;
}

}  // namespace ringside
