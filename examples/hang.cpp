// hang DUMPS: which rank caused the hang?
#include <ringside/hang.h>

#include <cstdio>

int main(int argc, char** argv) {
  const auto report = ringside::examine_hang({argv + 1, argv + argc});
  if (!report) return std::puts(report.error().message.c_str()), 2;
  const ringside::HangVerdict& verdict = report->verdict();
  std::printf("%s:", verdict.kind.c_str());
  for (const int rank : verdict.culprits) std::printf(" rank %d", rank);
  std::printf("\n%s\n", verdict.why.c_str());
}
