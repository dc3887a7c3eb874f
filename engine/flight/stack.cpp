#include "engine/flight/stack.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>

#include <cstdlib>
#include <memory>

namespace ringside {
namespace {

std::string readable(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol, nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : symbol;
}

}  // namespace

StackAddresses take_stack() {
  StackAddresses addresses{};
  ::backtrace(addresses.data(), static_cast<int>(addresses.size()));
  return addresses;
}

std::vector<FlightDump::Frame> frames_of(const StackAddresses& addresses) {
  std::vector<FlightDump::Frame> frames;
  for (void* const address : addresses) {
    if (address == nullptr) break;
    Dl_info info{};
    if (::dladdr(address, &info) == 0 || info.dli_fname == nullptr) {
      frames.push_back({"??", fmt::format("{}", fmt::ptr(address)), 0});
      continue;
    }
    const auto offset =
        static_cast<const char*>(address) - static_cast<const char*>(info.dli_fbase);
    frames.push_back(
        {info.dli_sname != nullptr ? readable(info.dli_sname) : fmt::format("+{:#x}", offset),
         info.dli_fname, 0});
  }
  return frames;
}

}  // namespace ringside
