#include "base/cores.h"

#include <algorithm>
#include <thread>

namespace ringside {

int worker_count(int wanted) {
  return std::max(1, wanted > 0 ? wanted : static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace ringside
