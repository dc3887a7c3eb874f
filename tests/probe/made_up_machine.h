#pragma once

#include <string>

#include "harness/probe/read_machine.h"

namespace ringside::probe {

/// A folder with the files of a healthy host that has a GPU and two RoCE ports, removed with the object. Tests spoil
/// one thing.
class MadeUpMachine {
 public:
  MadeUpMachine();
  ~MadeUpMachine();
  MadeUpMachine(const MadeUpMachine&) = delete;
  MadeUpMachine& operator=(const MadeUpMachine&) = delete;

  void write(const std::string& path, const std::string& text) const;
  void remove(const std::string& path) const;
  [[nodiscard]] std::string at(const std::string& path) const { return sources.root + path; }

  Sources sources;
};

}  // namespace ringside::probe
