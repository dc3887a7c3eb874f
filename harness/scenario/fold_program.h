#pragma once

#include <optional>
#include <vector>

#include "harness/hangs/program.h"

namespace ringside {

/// A program with one rank for each class of equivalent ranks. Ranks are equivalent if they make
/// the same calls with ranks of the same classes. Without random times, equivalent ranks do the
/// same at each moment.
struct FoldedProgram {
  hangs::Program program;
  std::vector<int> kind_of = {};  ///< by rank of the whole program: its class
  /// By group of the folded program: one of the original groups that it represents.
  std::vector<int> group_of = {};
};

/// Folds a program.
/// program  a healthy one: the peers in bodies of single iterations (RankProgram::odd) are not compared
/// like     by rank: the rank whose program it runs, in its own groups of the same families, if
///          `program` has one rank per role (hangs::Roles); empty: each rank runs its own program
/// path_class_of   path class of two ranks: ranks are equivalent only if their transfers use equal
///          classes, and Step::path_class is set. Empty: paths are ignored
/// returns  nullopt if ranks of one class send to each other, unless they send and receive at once:
///          such a class sends to itself
/// source   the coarsest equitable partition, by colour refinement: Paige and Tarjan, Three
///          Partition Refinement Algorithms, SIAM J. Comput. 16 (1987); 64-bit hashes distinguish
///          classes
std::optional<FoldedProgram> fold_program(const hangs::Program& program,
                                          const std::vector<int>& like = {},
                                          const hangs::PathClassOf& path_class_of = {});

}  // namespace ringside
