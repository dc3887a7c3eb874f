#include "harness/scenario/step_writer.h"

#include <algorithm>
#include <cctype>

#include "harness/hangs/outline_yaml.h"

namespace ringside::workload {
namespace {

using hangs::OutlineStep;
using OutlineKind = OutlineStep::Kind;

OutlineStep step_of(OutlineKind kind) {
  OutlineStep step;
  step.kind = kind;
  return step;
}

}  // namespace

StepWriter::StepWriter(int ranks, std::span<const ParallelDimension> dimensions)
    : outline_(hangs::outline_of("training", ranks, std::min(ranks, 8), 2)) {
  add_groups(dimensions);
}

int StepWriter::family(std::string_view name) const {
  const auto found = std::ranges::find(outline_.families, name, &hangs::Family::name);
  return static_cast<int>(found - outline_.families.begin());
}

int StepWriter::copy_family(int family, const char* name) {
  hangs::Family copy = outline_.families[static_cast<std::size_t>(family)];
  copy.name = name;
  copy.desc = name;
  for (char& c : copy.desc) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  copy.desc += "_GROUP";
  outline_.families.push_back(std::move(copy));
  return static_cast<int>(outline_.families.size()) - 1;
}

void StepWriter::kernel(Nanoseconds time) {
  OutlineStep step = step_of(OutlineKind::Kernel);
  step.time = time;
  add(step);
}

void StepWriter::call(hangs::Op op, int family, std::int64_t count, DataType type, bool is_async) {
  OutlineStep step = step_of(OutlineKind::Call);
  step.op = op;
  step.family = family;
  step.count = std::max<std::int64_t>(1, count);
  step.type = type;
  step.async = is_async;
  add(step);
}

void StepWriter::transfer(int family, int from, int to, std::int64_t count, DataType type) {
  OutlineStep step = step_of(OutlineKind::Transfer);
  step.family = family;
  step.from = from;
  step.to = to;
  step.count = std::max<std::int64_t>(1, count);
  step.type = type;
  step.async = at_ && at_->rank == from;
  add(step);
}

void StepWriter::shift(int family, std::int64_t count, DataType type, bool is_async) {
  OutlineStep step = step_of(OutlineKind::Shift);
  step.family = family;
  step.to = 1;
  step.count = std::max<std::int64_t>(1, count);
  step.type = type;
  step.async = is_async;
  step.bundle = ++bundles_;
  add(step);
}

void StepWriter::join() { add(step_of(OutlineKind::Join)); }

void StepWriter::join(int family) {
  OutlineStep step = step_of(OutlineKind::Join);
  step.family = family;
  step.is_of_family = true;
  add(step);
}

void StepWriter::synchronize() { add(step_of(OutlineKind::Synchronize)); }

void StepWriter::add(OutlineStep step) {
  step.at = at_;
  outline_.steps.push_back(step);
}

}  // namespace ringside::workload
