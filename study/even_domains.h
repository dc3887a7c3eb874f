#pragma once

#include <optional>

namespace ringside::study {

/// An even distribution of ranks over NVLink domains: `hosts_each` hosts of each of `domains` domains.
struct EvenDomains {
  int domains = 0;
  int hosts_each = 0;
};

/// Returns the distribution for a job.
/// most     maximum number of domains; nullopt: up to twice as many as needed
/// returns  nullopt: the ranks fill whole domains, or fit into one, or cannot be divided evenly
std::optional<EvenDomains> even_domains(int ranks, int gpus_per_host, int hosts_per_domain,
                                        std::optional<int> most = {});

}  // namespace ringside::study
