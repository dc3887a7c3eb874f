#include "ringside/hang.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.h"
#include "base/result.h"
#include "diag/hangdetect/examine.h"
#include "diag/report/hang_report.h"
#include "diag/report/sentences/hang_sentences.h"

namespace ringside {
namespace {

HangVerdict verdict_of(const hang::Examination& all, const hang::Explanation& one) {
  return {.kind = to_string(one.kind),
          .culprits = one.culprits,
          .waiting = one.waiting,
          .call = one.call,
          .confidence = one.confidence,
          .why = hang::why_of(one),
          .next_step = hang::next_of(one, *all.job, all.facts)};
}

}  // namespace

struct HangReport::Impl {
  hang::Examination all;
  HangVerdict verdict = {};
  std::vector<HangVerdict> others = {};
};

const HangVerdict& HangReport::verdict() const { return impl_->verdict; }
const std::vector<HangVerdict>& HangReport::others() const { return impl_->others; }
std::string HangReport::text() const { return hang::report_text(impl_->all); }
std::string HangReport::json() const { return to_text(hang::report_json(impl_->all)); }
std::string HangReport::html() const { return hang::report_html(impl_->all); }

Result<HangReport> examine_hang(const std::vector<std::string>& paths) {
  if (paths.empty()) {
    return Error{ErrorCode::InvalidArgument, "nothing to read",
                 "name the folder that holds the job's dumps and logs"};
  }
  RINGSIDE_TRY(hang::Examination all, hang::examine(paths));
  RINGSIDE_TRY(hang::check_anything_read(all, paths));
  auto impl = std::make_shared<HangReport::Impl>(HangReport::Impl{std::move(all)});
  impl->verdict = verdict_of(impl->all, impl->all.verdict.best);
  for (const hang::Explanation& other : impl->all.verdict.others) {
    impl->others.push_back(verdict_of(impl->all, other));
  }
  return HangReport(std::move(impl));
}

}  // namespace ringside
