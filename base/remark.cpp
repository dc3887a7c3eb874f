#include "base/remark.h"

#include <unistd.h>

#include <atomic>
#include <span>

#include "base/fd.h"

namespace ringside {
namespace {

void write_remark(const RemarkPlace& /*place*/, const std::string& text) {
  const std::string line = "warning: " + text + "\n";
  // A line that cannot be written has nowhere to be reported.
  static_cast<void>(write_all(STDERR_FILENO, std::as_bytes(std::span(line))));
}

std::atomic<RemarkTaker> taker{write_remark};

}  // namespace

void remark(const RemarkPlace& place, const std::string& text) { taker.load()(place, text); }

void take_remarks(RemarkTaker wanted) { taker.store(wanted); }

}  // namespace ringside
