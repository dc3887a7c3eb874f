#include <fmt/format.h>

#include <map>
#include <set>
#include <sstream>

#include "harness/probe/read_machine.h"

/// Finds the firewall rules that drop a job's packets. The kernel picks the ports of a job, so a rule counts
/// whatever its ports are.
namespace ringside::probe {
namespace {

struct Chain {
  std::string name;  ///< for example: inet filter input
  std::string hook;  ///< input, output; empty: reached by jumps only
  std::string policy;
  std::vector<std::string> rules;
};

std::string trimmed(const std::string& line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t") + 1 - begin);
}

bool has_word(const std::string& rule, const std::string& word) {
  std::istringstream words(rule);
  for (std::string one; words >> one;) {
    if (one == word) return true;
  }
  return false;
}

std::string word_after(const std::string& text, const std::string& word) {
  std::istringstream words(text);
  for (std::string one; words >> one;) {
    if (one != word || !(words >> one)) continue;
    while (!one.empty() && one.back() == ';') one.pop_back();
    return one;
  }
  return {};
}

/// Returns whether the rule drops only packets that no job sends: broken packets, named sets of addresses, packets
/// that falsely claim to be from loopback.
bool is_ordinary(const std::string& rule) {
  for (const char* part :
       {"invalid", "INVALID", "@", "match-set", "\"lo\"", " lo ", "icmp", "127.0.0.0/8"}) {
    if (rule.find(part) != std::string::npos) return true;
  }
  return false;
}

bool drops(const std::string& rule) {
  return has_word(rule, "drop") || has_word(rule, "reject") || has_word(rule, "DROP") ||
         has_word(rule, "REJECT");
}

/// Reads nft's listing: `table inet filter {` contains `chain input {`, which contains a line with type and hook, and
/// rules.
std::map<std::string, Chain> read_nft(const std::string& text) {
  std::map<std::string, Chain> chains;
  std::istringstream lines(text);
  std::string table;
  Chain* chain = nullptr;
  int depth = 0;
  for (std::string raw; std::getline(lines, raw);) {
    const std::string line = trimmed(raw);
    if (line.starts_with("table ") && line.ends_with("{")) {
      table = trimmed(line.substr(6, line.size() - 7));
      depth = 1;
    } else if (line.starts_with("chain ") && line.ends_with("{")) {
      const std::string name = table + " " + trimmed(line.substr(6, line.size() - 7));
      chain = &chains[name];
      chain->name = name;
      depth = 2;
    } else if (line == "}") {
      --depth;
      if (depth <= 1) chain = nullptr;
    } else if (line.ends_with("{")) {
      ++depth;  // a set or a map, which is not needed
    } else if (chain != nullptr && line.starts_with("type ")) {
      chain->hook = word_after(line, "hook");
      chain->policy = word_after(line, "policy");
    } else if (chain != nullptr && !line.empty()) {
      chain->rules.push_back(line);
    }
  }
  return chains;
}

/// Reads the format of iptables-save: `:INPUT DROP [0:0]`, `-A INPUT -p tcp --dport 5000 -j DROP`.
std::map<std::string, Chain> read_iptables(const std::string& text) {
  std::map<std::string, Chain> chains;
  std::istringstream lines(text);
  std::string table;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first, name, policy;
    words >> first;
    if (first.starts_with("*")) table = first.substr(1);
    if (table != "filter") continue;
    if (first.starts_with(":")) {
      words >> policy;
      name = first.substr(1);
      Chain& chain = chains["ip filter " + name];
      chain.name = "ip filter " + name;
      chain.hook = name == "INPUT" ? "input" : name == "OUTPUT" ? "output" : "";
      chain.policy = policy == "DROP" ? "drop" : "accept";
    } else if (first == "-A" && words >> name) {
      Chain& chain = chains["ip filter " + name];
      chain.name = "ip filter " + name;
      chain.rules.push_back(trimmed(line.substr(line.find(name) + name.size())));
    }
  }
  return chains;
}

/// Collects the rules of the chain, and of the chains of its table to which it jumps.
void collect(const std::map<std::string, Chain>& chains, const std::string& name,
             std::set<std::string>& seen, Firewall& firewall) {
  const auto found = chains.find(name);
  if (found == chains.end() || !seen.insert(name).second) return;
  const std::string table = name.substr(0, name.rfind(' ') + 1);
  for (const std::string& rule : found->second.rules) {
    if (drops(rule) && !is_ordinary(rule)) firewall.drops.push_back({name, rule});
    for (const char* jump : {"jump", "goto", "-j", "-g"}) {
      if (const std::string to = word_after(rule, jump); !to.empty()) {
        collect(chains, table + to, seen, firewall);
      }
    }
  }
}

}  // namespace

Firewall read_firewall(const std::string& source, const std::string& text) {
  Firewall firewall{.source = source, .is_read = true};
  const auto chains = source == "nft" ? read_nft(text) : read_iptables(text);
  std::set<std::string> seen;
  for (const auto& [name, chain] : chains) {
    firewall.rules += static_cast<int>(chain.rules.size());
    if (chain.hook != "input" && chain.hook != "output") continue;
    if (chain.policy == "drop") firewall.drops.push_back({name, "policy drop"});
    collect(chains, name, seen, firewall);
  }
  return firewall;
}

}  // namespace ringside::probe
