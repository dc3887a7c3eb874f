#include "harness/hangs/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace ringside::hangs {
namespace {

/// Expands a line into the steps of `rank`: none, one, or both halves of a shift.
class Expansion {
 public:
  Expansion(const Program& program, int rank, std::vector<Step>& body)
      : program_(program), rank_(rank), body_(body) {}

  void add(const OutlineStep& line, int site) {
    using Kind = OutlineStep::Kind;
    if (line.at && place_in(line.at->family) != line.at->rank) return;
    Step step = base_of(line, site);
    switch (line.kind) {
      case Kind::Compute:
        step.kind = Step::Kind::Compute;
        break;
      case Kind::Kernel:
        step.kind = Step::Kind::Kernel;
        break;
      case Kind::Synchronize:
        step.kind = Step::Kind::Synchronize;
        break;
      case Kind::Join:
        step.kind = Step::Kind::Join;
        if (line.is_of_family) step.group = group_of(line.family);
        if (line.is_of_family && step.group < 0) return;
        break;
      case Kind::Call:
      case Kind::Transfer:
      case Kind::Shift:
      case Kind::Rendezvous:
        step.group = group_of(line.family);
        if (step.group >= 0) add_of_group(line, step);
        return;
    }
    body_.push_back(step);
  }

 private:
  static Step base_of(const OutlineStep& line, int site) {
    Step step;
    step.site = site;
    step.op = line.op;
    step.type = line.type;
    step.async = line.async;
    step.count = line.count;
    step.time = line.time;
    step.bundle = line.bundle;
    step.stream = line.stream;
    return step;
  }

  [[nodiscard]] int group_of(int family) const {
    return program_.group_of[static_cast<std::size_t>(rank_)][static_cast<std::size_t>(family)];
  }
  [[nodiscard]] int place_in(int family) const {
    const int group = group_of(family);
    return group < 0 ? -1 : group_rank(program_.groups[static_cast<std::size_t>(group)], rank_);
  }

  void add_of_group(const OutlineStep& line, Step step) {
    if (line.kind == OutlineStep::Kind::Rendezvous) {
      step.kind = Step::Kind::Rendezvous;
      body_.push_back(step);
      return;
    }
    step.kind = Step::Kind::Call;
    if (line.kind == OutlineStep::Kind::Call) {
      step.peer = has_root(line.op) ? line.from : 0;
      body_.push_back(step);
      return;
    }
    const int self = place_in(line.family);
    if (line.kind == OutlineStep::Kind::Shift) {
      const auto size =
          static_cast<int>(program_.groups[static_cast<std::size_t>(step.group)].ranks.size());
      const int by = (line.to % size + size) % size;
      if (by == 0) return;  // the existing streams stay
      step.is_shift = true;
      add_half(step, Op::Send, (self + by) % size);
      add_half(step, Op::Recv, (self + size - by) % size);
      return;
    }
    if (self == line.from) add_half(step, Op::Send, line.to);
    if (self == line.to) add_half(step, Op::Recv, line.from);
  }

  void add_half(Step step, Op op, int peer) {
    step.op = op;
    step.peer = peer;
    body_.push_back(step);
  }

  const Program& program_;
  const int rank_;
  std::vector<Step>& body_;
};

/// Returns the call with the sum of the bytes of all similar calls.
template <typename IsLike>
Step with_all_bytes(Step call, std::span<const Step> bundle, const IsLike& is_like) {
  std::uint64_t bytes = 0;
  std::size_t calls = 0;
  for (const Step& step : bundle) {
    if (!is_like(step)) continue;
    bytes += size_of(step.type).value * static_cast<std::uint64_t>(step.count);
    ++calls;
  }
  if (calls == 1) return call;
  call.type = DataType::Uint8;
  call.count = static_cast<std::int64_t>(bytes);
  return call;
}

}  // namespace

bool leaves_no_dump(Halt halt) {
  return halt == Halt::Killed || halt == Halt::Stopped || halt == Halt::Exited;
}

std::size_t bundle_length(const std::vector<Step>& body, std::size_t first) {
  std::size_t length = 1;
  if (body[first].kind != Step::Kind::Call || !is_p2p(body[first].op)) return length;
  while (body[first].bundle != 0 && first + length < body.size() &&
         body[first + length].bundle == body[first].bundle) {
    ++length;
  }
  return length;
}

bool begins_call(const std::vector<Step>& body, std::size_t index) {
  const Step& step = body[index];
  if (step.kind != Step::Kind::Call) return false;
  return !is_p2p(step.op) || step.bundle == 0 || index == 0 ||
         body[index - 1].bundle != step.bundle;
}

Step as_shared(std::span<const Step> bundle, const Step& call) {
  Step shared = call;
  if (call.is_shift) shared.op = Op::Send;
  if (!is_p2p(call.op)) return shared;
  return with_all_bytes(shared, bundle, [&](const Step& step) {
    return step.op == call.op && step.path_class == call.path_class;
  });
}

Step as_shared_by_peer(std::span<const Step> bundle, const Step& call) {
  return with_all_bytes(
      call, bundle, [&](const Step& step) { return step.op == call.op && step.peer == call.peer; });
}

void set_path_classes(Program& program, const PathClassOf& path_class_of) {
  for (int rank = 0; rank < program.ranks; ++rank) {
    RankProgram& own = program.programs[static_cast<std::size_t>(rank)];
    const auto set_all = [&](std::vector<Step>& body) {
      for (Step& step : body) {
        if (step.kind != Step::Kind::Call || !is_p2p(step.op) || step.is_shift) continue;
        const Group& group = program.groups[static_cast<std::size_t>(step.group)];
        step.path_class = path_class_of(rank, group.ranks[static_cast<std::size_t>(step.peer)]);
      }
    };
    set_all(own.body);
    for (auto& [iteration, body] : own.odd) set_all(body);
  }
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
  program.streams = outline.streams;
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
    Expansion expansion(program, rank, own.body);
    for (std::size_t i = 0; i < outline.steps.size(); ++i) {
      expansion.add(outline.steps[i], static_cast<int>(i));
    }
  }
  return program;
}

}  // namespace ringside::hangs
