#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/topology/host.h"
#include "engine/topology/sources/xml_element.h"

namespace ringside {

/// The elements of a topology XML read so far. It checks limits, unique values, and that each NVLink has an opposite
/// one.
/// errors  Corrupt, `where:line: what`, with the fix
class XmlInventory {
 public:
  /// Counts an element of a kind that is limited: cpu, pci, gpu, net.
  Status count(const XmlElement& element);

  // Each records a value of an element, and refuses a value that an earlier element has.
  Status take_bus_id(const XmlElement& pci, const std::string& bus_id);
  Status take_numa(const XmlElement& cpu, int numa);
  Status take_rank(const XmlElement& gpu, int rank);
  Status take_net(const XmlElement& net, int dev);
  /// Reads host_hash, which distinguishes the hosts in a dump of an NVLink domain.
  Status take_host_hash(const XmlElement& cpu);
  /// Records a link, for check_nvlinks().
  void take_nvlink(const XmlElement& nvlink, BusId from, BusId to);

  /// Checks at the end that each NVLink between GPUs has an opposite one. A link to a GPU that is not in the file is
  /// accepted, because NCCL omits GPUs of other jobs.
  [[nodiscard]] Status check_nvlinks() const;

  [[nodiscard]] bool has_gpus() const { return counts_.count("gpu") != 0; }
  [[nodiscard]] bool has_ranks() const { return !ranks_.empty(); }

 private:
  struct NvLink {
    XmlElement element;
    BusId from, to;
  };
  std::map<std::string, int, std::less<>> counts_;
  std::map<BusId, int> bus_ids_;  ///< the line of each, for messages
  std::set<int> ranks_, nets_, numas_;
  std::vector<NvLink> nvlinks_;
  std::string host_hash_;
};

}  // namespace ringside
