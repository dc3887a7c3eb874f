#include "harness/hangs/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace ringside::hangs {
namespace {

/// The step of `rank`, or Compute of no time where it has no part in it.
bool expand(const Program& program, const OutlineStep& line, int site, int rank, Step& step) {
  using Kind = OutlineStep::Kind;
  step = Step{};
  step.site = site;
  step.op = line.op;
  step.type = line.type;
  step.async = line.async;
  step.count = line.count;
  step.time = line.time;
  const std::vector<int>& groups = program.group_of[static_cast<std::size_t>(rank)];
  if (line.at) {
    const int group = groups[static_cast<std::size_t>(line.at->family)];
    if (group < 0 ||
        group_rank(program.groups[static_cast<std::size_t>(group)], rank) != line.at->rank)
      return false;
  }
  switch (line.kind) {
    case Kind::Compute:
      step.kind = Step::Kind::Compute;
      return true;
    case Kind::Kernel:
      step.kind = Step::Kind::Kernel;
      return true;
    case Kind::Join:
      step.kind = Step::Kind::Join;
      if (line.is_of_family) step.group = groups[static_cast<std::size_t>(line.family)];
      return !line.is_of_family || step.group >= 0;
    case Kind::Synchronize:
      step.kind = Step::Kind::Synchronize;
      return true;
    case Kind::Call:
    case Kind::Transfer:
    case Kind::Rendezvous:
      break;
  }
  step.group = groups[static_cast<std::size_t>(line.family)];
  if (step.group < 0) return false;
  if (line.kind == Kind::Rendezvous) {
    step.kind = Step::Kind::Rendezvous;
    return true;
  }
  step.kind = Step::Kind::Call;
  if (line.kind == Kind::Call) {
    step.peer = has_root(line.op) ? line.from : 0;
    return true;
  }
  const int self = group_rank(program.groups[static_cast<std::size_t>(step.group)], rank);
  if (self != line.from && self != line.to) return false;
  step.op = self == line.from ? Op::Send : Op::Recv;
  step.peer = self == line.from ? line.to : line.from;
  return true;
}

}  // namespace

bool leaves_no_dump(Halt halt) {
  return halt == Halt::Killed || halt == Halt::Stopped || halt == Halt::Exited;
}

bool agree(const Step& a, const Step& b) {
  return a.op == b.op &&
         size_of(a.type).value * static_cast<std::uint64_t>(a.count) ==
             size_of(b.type).value * static_cast<std::uint64_t>(b.count) &&
         a.peer == b.peer;
}

int group_rank(const Group& group, int rank) {
  const auto found = std::lower_bound(group.ranks.begin(), group.ranks.end(), rank);
  if (found == group.ranks.end() || *found != rank) return -1;
  return static_cast<int>(found - group.ranks.begin());
}

Program make_program(const Outline& outline) {
  std::vector<int> all(static_cast<std::size_t>(outline.ranks));
  std::iota(all.begin(), all.end(), 0);
  return make_program_of(outline, all);
}

Program make_program_of(const Outline& outline, const std::vector<int>& ranks) {
  Program program;
  program.ranks = outline.ranks;
  program.ranks_per_host = outline.ranks_per_host;
  program.sites = outline.steps;
  program.group_of.assign(static_cast<std::size_t>(outline.ranks),
                          std::vector<int>(outline.families.size(), -1));
  for (std::size_t f = 0; f < outline.families.size(); ++f) {
    const Family& family = outline.families[f];
    program.families.push_back(family.name);
    for (const std::vector<int>& members : family.members) {
      const int group = static_cast<int>(program.groups.size());
      program.groups.push_back(
          {fmt::format("{}", group), family.desc, members, static_cast<int>(f)});
      for (const int rank : members) program.group_of[static_cast<std::size_t>(rank)][f] = group;
    }
  }
  program.programs.resize(static_cast<std::size_t>(outline.ranks));
  for (const int rank : ranks) {
    RankProgram& own = program.programs[static_cast<std::size_t>(rank)];
    own.iterations = outline.iterations;
    for (std::size_t i = 0; i < outline.steps.size(); ++i) {
      Step step;
      if (expand(program, outline.steps[i], static_cast<int>(i), rank, step)) {
        own.body.push_back(step);
      }
    }
  }
  return program;
}

}  // namespace ringside::hangs
