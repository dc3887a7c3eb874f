#include "diag/job/xid_meaning.h"

#include <array>

namespace ringside::job {
namespace {

constexpr XidWeight kInfo = XidWeight::Event;
constexpr XidWeight kWarn = XidWeight::Warning;
constexpr XidWeight kError = XidWeight::Fault;

constexpr std::string_view kOfNvLink =
    "nvidia-smi nvlink -e on both ends; a fatal one needs a reset of the GPU";

constexpr XidMeaning kXids[] = {
    {8, 8, kError, "the GPU stopped processing", "restart the application"},
    {11, 11, kError, "a bad push buffer", "restart the application"},
    {13, 13, kError, "a kernel did something illegal",
     "compute-sanitizer first; the hardware if it stays with one GPU"},
    {31, 31, kError, "a page fault of the GPU", "compute-sanitizer first"},
    {32, 32, kError, "a bad push buffer", "restart; check the quality of the PCIe link"},
    {37, 38, kWarn, "a firmware error", "nvidia-smi -q"},
    {39, 41, kError, "a copy engine failed", "restart the application"},
    {43, 43, kInfo, "the application's channel was reset", "follow the application's own error"},
    {45, 45, kInfo, "channels were removed: follows a kill or another fault",
     "look at what came before"},
    {46, 46, kError, "the GPU stopped processing", "nvidia-smi -r"},
    {48, 48, kError, "a double bit memory error", "drain the node; nvidia-smi -r"},
    {61, 62, kError, "a controller of the GPU halted", "nvidia-smi -r"},
    {63, 63, kInfo, "a memory row was remapped", "reset the GPU when it is convenient"},
    {64, 64, kWarn, "a memory row could not be remapped", "reset the GPU; replace it"},
    {69, 72, kError, "an engine of the GPU failed", "restart the application"},
    {74, 74, kError, "an NVLink error", "nvidia-smi nvlink -e on both ends; reset"},
    {75, 77, kError, "a copy engine failed", "restart the application"},
    {79, 79, kError, "the GPU has fallen off the bus",
     "power-cycle the node; check PCIe and power"},
    {80, 80, kError, "corrupted data were sent to the GPU", "restart; check the PCIe link"},
    {85, 85, kError, "a copy engine failed", "restart the application"},
    {92, 92, kInfo, "a high rate of corrected memory errors", "watch it"},
    {94, 94, kError, "a memory error that one process dies of",
     "restart the application, reset later"},
    {95, 95, kError, "an uncontained memory error", "nvidia-smi -r"},
    {109, 109, kError, "a context switch timed out", "nvidia-smi -r"},
    {110, 110, kError, "a security fault", "cold reset"},
    {119, 120, kError, "the GPU's system processor does not answer",
     "reset the GPU or the node; driver update"},
    {121, 121, kInfo, "a corrected error of the chip-to-chip link", "watch it"},
    {126, 135, kError, "a copy engine failed", "restart the application"},
    {136, 136, kError, "NVLink does not train", "nvidia-smi -r"},
    {137, 137, kError, "a peer's memory was not there",
     "the application first: a buffer freed too early"},
    {140, 140, kError, "an unrecovered memory error", "nvidia-smi -r"},
    {143, 143, kError, "the GPU does not initialise", "nvidia-smi -r"},
    {144, 144, kWarn, "an NVLink event (SAW)", kOfNvLink},
    {145, 145, kWarn, "an NVLink event (RLW)", kOfNvLink},
    {146, 146, kWarn, "an NVLink event (TLW)", kOfNvLink},
    {147, 147, kWarn, "an NVLink event (TREX)", kOfNvLink},
    {148, 148, kWarn, "an NVLink event (NVLPW_CTRL)", kOfNvLink},
    {149, 149, kWarn, "an NVLink event (NETIR)", kOfNvLink},
    {150, 150, kWarn, "an NVLink event (MSE)", kOfNvLink},
    {151, 151, kError, "key rotation failed", "restart the virtual machine"},
    {154, 154, kWarn, "the driver names a recovery action", "do what the line says"},
    {155, 155, kWarn, "NVLink was taken down", "nvidia-smi nvlink -s"},
    {156, 156, kInfo, "a resource was retired", "watch it"},
    {157, 157, kWarn, "a resource could not be retired", "watch it"},
    {158, 158, kError, "the GPU timed out", "nvidia-smi -r"},
    {167, 167, kError, "PCIe timed out", "restart the node"},
    {171, 172, kError, "an uncorrected memory error", "nvidia-smi -r"},
};

}  // namespace

const XidMeaning* meaning_of_xid(int code) {
  for (const XidMeaning& meaning : kXids) {
    if (code >= meaning.first && code <= meaning.last) return &meaning;
  }
  return nullptr;
}

}  // namespace ringside::job
