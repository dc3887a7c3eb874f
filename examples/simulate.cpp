// How long does an all-reduce take on two DGX H100?
#include <ringside/simulate.h>
#include <ringside/vocabulary.h>

#include <cstdio>

int main() {
  using namespace ringside::literals;
  const auto calls =
      ringside::simulate({.job = {.on = "dgx-h100", .nodes = 2}, .sizes = {64_KiB, 1_GiB}});
  if (!calls) return std::puts(calls.error().message.c_str()), 3;
  for (const ringside::SimulatedCall& call : *calls) {
    std::printf("%llu B by %s/%s: %.1f us, busbw %.1f GB/s\n",
                static_cast<unsigned long long>(call.bytes.value), to_string(call.algorithm),
                to_string(call.protocol), ringside::in_us(call.time), in_gbs(call.busbw));
  }
}
