// read_trace FILE: the events of a trace.
#include <ringside/trace_reader.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto file = ringside::TraceFile::open(argv[1]);
  if (!file) return std::puts(file.error().message.c_str()), 2;
  file->for_each_event([](const ringside::TraceEvent& event) {
    std::printf("rank %d: %s of %llu B in %lld ns\n", event.rank, to_string(event.collective),
                static_cast<unsigned long long>(event.bytes),
                static_cast<long long>(event.end_ns - event.begin_ns));
  });
}
