#pragma once

#include <memory>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "diag/hangdetect/examine.h"
#include "harness/attach/gather.h"

namespace ringside::cli {

/// What was gathered of a running job, and the verdict on it.
struct AttachAnswer {
  attach::Gathered gathered;
  hang::Examination examined;
};

/// Gathers into the folder and examines it, as `ringside hang FOLDER` does.
///
/// folder    exists and is empty; it is named in the errors as it is
/// on_step   called with each step
/// errors    as attach::gather() and hang::examine()
Result<std::unique_ptr<AttachAnswer>> ask_job(const attach::Request& request,
                                              const std::string& folder,
                                              const attach::OnStep& on_step);

/// The same into a temporary folder.
Result<std::unique_ptr<AttachAnswer>> ask_job(const attach::Request& request,
                                              const attach::OnStep& on_step);

/// The verdict, then what each source said.
std::string answer_text(const AttachAnswer& answer);

/// schema ringside.attach/1
Json answer_json(const AttachAnswer& answer);

/// Where nothing listens, most often because the job has no RAS service: what to do.
Error with_attach_help(Error error);

/// kFine or kFinding
int answer_status(const AttachAnswer& answer);

}  // namespace ringside::cli
