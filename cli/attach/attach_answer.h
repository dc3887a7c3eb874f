#pragma once

#include <memory>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "diag/hangdetect/examine.h"
#include "harness/attach/gather.h"

namespace ringside::cli {

/// The files and answers that were gathered from a running job, and the verdict on them.
struct AttachAnswer {
  attach::Gathered gathered;
  hang::Examination examined;
};

/// Gathers evidence from the job into `folder`, then examines the folder as `ringside hang FOLDER` does.
///
/// folder    an empty folder; errors name it as given
/// on_step   called with one line of text for each step
/// errors    as attach::gather() and hang::examine(); NotFound: no process gave a report, a dump or a stack
Result<std::unique_ptr<AttachAnswer>> ask_job(const attach::Request& request,
                                              const std::string& folder,
                                              const attach::OnStep& on_step);

/// Does the same in a temporary folder, which is removed at the end: evidence names the files without a folder.
/// errors  as above; System: the temporary folder cannot be made
Result<std::unique_ptr<AttachAnswer>> ask_job(const attach::Request& request,
                                              const attach::OnStep& on_step);

/// Returns the text for people: the state of the job, the verdict, then each source with its answer.
std::string answer_text(const AttachAnswer& answer);

/// Returns the answer as JSON.  schema  ringside.attach/1
Json answer_json(const AttachAnswer& answer);

/// Adds a help text about starting NCCL's RAS service and about other sources, if no service listened (PeerGone,
/// Unreachable) and the error has no help yet. Returns other errors unchanged.
Error with_attach_help(Error error);

/// Returns the exit status: kFine if the job does not hang (NotAHang); kRunFailed if neither the verdict nor the reports
/// show whether it does; else kFinding.
int answer_status(const AttachAnswer& answer);

}  // namespace ringside::cli
