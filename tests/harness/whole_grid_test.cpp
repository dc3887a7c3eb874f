#include <cstdio>

#include "tests/harness/grid.h"

namespace ringside {
namespace {

// Some 200 000 cases on up to 8 processes: minutes. docs/contributing/testing.md has the last figures.
TEST(WholeGrid, EveryCaseIsRightOverSharedMemory) {
  const Grid grid{.types = kAllTypes,
                  .ops = kAllOps,
                  .nranks = {1, 2, 3, 4, 5, 8},
                  .sizes = {0_B, 8_B, 1001_B, 300'001_B}};
  std::vector<GridCase> cases;
  Grid::Choice choice{};
  const Grid::Choice levels = grid.levels();
  for (std::size_t place = 0; place < Grid::kFactors;) {
    const GridCase one = grid.at(choice);
    if (is_valid(one)) cases.push_back(one);
    for (place = 0; place < Grid::kFactors && ++choice[place] == levels[place]; ++place) {
      choice[place] = 0;
    }
  }
  std::printf("%zu cases\n", cases.size());
  run_grid(cases, *parse_transport("shm"));
}

}  // namespace
}  // namespace ringside
