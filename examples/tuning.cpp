// Which algorithm and protocol does NCCL choose on two DGX H100?
#include <ringside/tuning.h>
#include <ringside/vocabulary.h>

#include <cstdio>

int main() {
  using namespace ringside::literals;
  const auto answers = ringside::choose_algorithms({.job = {.on = "dgx-h100", .nodes = 2},
                                                    .collective = ringside::Collective::AllReduce,
                                                    .sizes = {8_B, 1_GiB}});
  if (!answers) return std::puts(answers.error().message.c_str()), 3;
  for (const ringside::TuningAnswer& one : *answers) {
    std::printf("%llu B: %s/%s on %d channels\n", static_cast<unsigned long long>(one.bytes.value),
                to_string(one.algorithm), to_string(one.protocol), one.channels);
  }
}
