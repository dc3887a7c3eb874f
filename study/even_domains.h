#pragma once

#include <optional>

namespace ringside::study {

/// As many hosts of each of `domains` NVLink domains as all ranks fill.
struct EvenDomains {
  int domains = 0;
  int hosts_each = 0;
};

/// most     domains that the job may take; none: up to twice as many as it needs
/// returns  none: ranks fill whole domains, or one in part, or do not divide
std::optional<EvenDomains> even_domains(int ranks, int gpus_per_host, int hosts_per_domain,
                                        std::optional<int> most = {});

}  // namespace ringside::study
