#include "cli/hang/hang_live.h"

#include <utility>

#include "cli/attach/attach_answer.h"

namespace ringside::cli {

Result<std::unique_ptr<hang::Examination>> examine_live(std::uint16_t port) {
  attach::Request request;
  request.services = {{"localhost", port}};
  auto answer = ask_job(request, {});
  if (!answer) return with_attach_help(answer.error());
  return std::make_unique<hang::Examination>(std::move((*answer)->examined));
}

}  // namespace ringside::cli
