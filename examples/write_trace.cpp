// write_trace FILE: a trace of one call of two ranks.
#include <ringside/trace_writer.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto writer = ringside::TraceWriter::create(
      argv[1], ringside::this_process_info(ringside::TraceClock::Simulated));
  if (!writer) return std::puts(writer.error().message.c_str()), 3;
  for (const int rank : {0, 1}) {
    writer->write({.begin_ns = 1000,
                   .end_ns = 5000,
                   .bytes = 4096,
                   .rank = rank,
                   .kind = ringside::EventKind::Collective});
  }
  return writer->flush() ? 0 : 3;
}
