#pragma once

#include <optional>
#include <vector>

#include "harness/hangs/program.h"

namespace ringside {

/// A program with one rank for each kind of rank: those that make the same calls with ranks of the same kinds. Played
/// without chance, what one of them does at a time all of its kind do.
struct FoldedProgram {
  hangs::Program program;
  std::vector<int> kind_of = {};  ///< by rank of the whole program
  std::vector<int> group_of =
      {};  ///< by group of the folded program: one of those that it represents
};

/// like     by rank: whose program it takes, in its own groups of the same families, where `program` holds but one of a role
///          (hangs::Roles); empty: each its own
/// way_of   ranks are alike only where their transfers go like ways, too; empty: wherever they go. The folded program's steps
///          have their Step::way
/// returns  nothing where ranks of one kind send to each other, but for those that send and receive at once: such a kind
///          sends to itself
/// source   the coarsest equitable partition, by refining colours: Paige and Tarjan, Three Partition Refinement
///          Algorithms, SIAM J. Comput. 16 (1987); kinds are distinguished by 64-bit hashes
std::optional<FoldedProgram> fold_program(const hangs::Program& program,
                                          const std::vector<int>& like = {},
                                          const hangs::WayOf& way_of = {});

}  // namespace ringside
