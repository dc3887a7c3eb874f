#include "harness/logs/truth_file.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.h"
#include "base/write_file.h"

namespace ringside {

Status write_truth(const LogJob& job, const LogTruth& truth, const std::string& folder) {
  const LogRequest& request = job.request();
  const CommunicatorLayout* widest = nullptr;
  for (const Generation& generation : job.generations()) {
    for (const LogCommunicator& made : generation.communicators) {
      if (widest == nullptr || made.layout->nranks() > widest->nranks()) {
        widest = made.layout.get();
      }
    }
  }
  Json document;
  document["schema"] = "ringside.truth/1";
  document["misconfiguration"] =
      truth.misconfiguration.empty() ? Json(nullptr) : Json(truth.misconfiguration);
  document["nccl_version"] = to_string(request.version);
  document["nranks"] = widest == nullptr ? 0 : widest->nranks();
  document["nnodes"] = widest == nullptr ? 0 : static_cast<int>(widest->job().nodes.size());
  document["seed"] = request.seed;
  document["findings"] = Json::array();
  for (const LogTruth::Finding& finding : truth.findings) {
    Json hosts = Json::array();
    for (const int host : finding.hosts) {
      hosts.push_back(job.hosts()[static_cast<std::size_t>(host)].name);
    }
    document["findings"].push_back({{"id", finding.id},
                                    {"severity", finding.severity},
                                    {"why", finding.why},
                                    {"hosts", std::move(hosts)}});
  }
  document["consequences"] = truth.consequences;
  return write_file(folder + "/truth.json", to_text(document) + "\n");
}

}  // namespace ringside
