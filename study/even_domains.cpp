#include "study/even_domains.h"

namespace ringside::study {

std::optional<EvenDomains> even_domains(int ranks, int gpus_per_host, int hosts_per_domain,
                                        std::optional<int> most) {
  const int whole = gpus_per_host * hosts_per_domain;
  if (hosts_per_domain == 1 || ranks <= whole || ranks % whole == 0) return {};
  const int fewest = (ranks + whole - 1) / whole;
  for (int domains = fewest; domains <= most.value_or(2 * fewest); ++domains) {
    if (ranks % (domains * gpus_per_host) != 0) continue;
    return EvenDomains{domains, ranks / domains / gpus_per_host};
  }
  return {};
}

}  // namespace ringside::study
