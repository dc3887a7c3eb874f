#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "diag/hangdetect/model/job.h"
#include "diag/hangdetect/readers/call_logs.h"
#include "diag/hangdetect/readers/dump_files.h"
#include "diag/hangdetect/readers/ras_report.h"
#include "diag/hangdetect/verdict/decide.h"

namespace {

void judge(const ringside::hang::Names& names, const std::vector<ringside::hang::RankDump>& dumps) {
  const ringside::hang::Job job(names, dumps, {}, 2);
  if (job.world() <= 4096) static_cast<void>(decide(job, {}));
}

}  // namespace

/// Feeds a dump from a stranger, pickle or JSON, a list of calls, or a report of ncclras. Reading, aligning and
/// judging it must neither crash nor exhaust memory. The same dump is used for two ranks, so that they are also
/// compared.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside::hang;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Names names;
  if (const auto report = parse_ras_report(bytes)) {
    const std::vector<RasReport> reports{*report, *report};
    static_cast<void>(has_moved(reports));
    judge(names, ras_dumps(reports, names, {}));
    return 0;
  }
  auto first =
      looks_like_call_log(bytes) ? parse_call_log(bytes, "log", names) : parse_dump(bytes, names);
  if (!first) return 0;
  std::vector<RankDump> dumps{*first, *std::move(first)};
  dumps[0].rank = 0;
  dumps[1].rank = 1;
  if (dumps[1].calls.size() > 1) dumps[1].calls.pop_back();
  judge(names, dumps);
  return 0;
}
