#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/hangs/player.h"
#include "harness/hangs/program.h"

namespace ringside::hangs {

/// Programs of a few steps, for tests that show the arithmetic. All hosts start within 2 ms.
class SmallProgram {
 public:
  explicit SmallProgram(int ranks) {
    outline_.ranks = ranks;
    outline_.iterations = 1;
    std::vector<int> all;
    for (int rank = 0; rank < ranks; ++rank) all.push_back(rank);
    outline_.families.push_back({"world", "default_pg", {all}});
    program_ = make_program(outline_);
  }

  /// Adds another group and returns its index. The ranks of groups of one family must not overlap.
  int group(std::vector<int> ranks) {
    outline_.families.push_back({"f" + std::to_string(outline_.families.size()), "F", {ranks}});
    program_ = make_program(outline_);
    return static_cast<int>(program_.groups.size()) - 1;
  }

  /// May only be called after the last group().
  Step& call(int rank, Op op, int group, std::int64_t count = 1000, int peer = 0) {
    Step step;
    step.kind = Step::Kind::Call;
    step.op = op;
    step.group = group;
    step.count = count;
    step.peer = peer;
    return add(rank, step);
  }
  Step& plain(int rank, Step::Kind kind, int group = 0) {
    Step step;
    step.kind = kind;
    step.group = group;
    return add(rank, step);
  }

  Program& program() { return program_; }
  Play play() { return hangs::play(program_, {}, 1); }

 private:
  Step& add(int rank, const Step& step) {
    return program_.programs[static_cast<std::size_t>(rank)].body.emplace_back(step);
  }
  Outline outline_;
  Program program_;
};

inline const Record& record(const Play& play, int rank, int index) {
  return play.ranks[static_cast<std::size_t>(rank)].records[static_cast<std::size_t>(index)];
}
inline bool is_done(const Play& play, int rank, int index) {
  return record(play, rank, index).completed != kNever;
}

}  // namespace ringside::hangs
