#include <cstddef>
#include <cstdint>
#include <string_view>

#include "diag/hangdetect/model/job.h"
#include "diag/hangdetect/readers/dump_files.h"
#include "diag/hangdetect/verdict/decide.h"

/// A dump from a stranger, pickle or JSON: read, aligned and judged, it must neither crash nor grow. The
/// same dump stands for two ranks, so that comparing them is tried too.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside::hang;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Names names;
  auto first = parse_dump(bytes, names);
  if (!first) return 0;
  std::vector<RankDump> dumps{*first, *std::move(first)};
  dumps[0].rank = 0;
  dumps[1].rank = 1;
  if (dumps[1].calls.size() > 1) dumps[1].calls.pop_back();
  const Job job(names, dumps, {}, 2);
  if (job.world() <= 4096) static_cast<void>(decide(job, {}));
  return 0;
}
