#include "tests/cuda/fake_driver.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/fd.h"

namespace ringside {
namespace {

struct FakeState {
  struct Reservation {
    std::size_t size = 0;
    CUmemGenericAllocationHandle at = 0;  ///< 0: nothing is mapped
  };

  /// Shared by all its handles, as they refer to the same file.
  struct Multicast {
    std::size_t members = 0;
    std::size_t size = 0;
    std::set<CUdevice> devices = {};
    int bound = 0;
  };

  std::string fails;
  GpuDriver functions;
  GpuMulticastDriver multicast_functions;
  CUmemGenericAllocationHandle last = 0;
  std::map<CUmemGenericAllocationHandle, UniqueFd> handles;
  std::map<CUdeviceptr, Reservation> reservations;
  std::map<ino_t, Multicast> objects;
};

std::optional<FakeState> state;

CUresult outcome_of(const char* function) {
  return state->fails == function ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

/// Returns from a function that is to fail.
#define RINGSIDE_MAY_FAIL(name) \
  if (outcome_of(name) != CUDA_SUCCESS) return outcome_of(name)

CUresult add_handle(CUmemGenericAllocationHandle* handle, UniqueFd file) {
  if (!file) return CUDA_ERROR_INVALID_VALUE;
  *handle = ++state->last;
  state->handles[*handle] = std::move(file);
  return CUDA_SUCCESS;
}

UniqueFd copy_of(int file) { return UniqueFd(::fcntl(file, F_DUPFD_CLOEXEC, 0)); }

CUresult error_string(CUresult /*code*/, const char** text) {
  *text = "as the test wants it";
  return CUDA_SUCCESS;
}
CUresult device(CUdevice* handle, int number) {
  *handle = number;
  return CUDA_SUCCESS;
}
CUresult attribute(int* value, CUdevice_attribute /*which*/, CUdevice /*of*/) {
  *value = 1;
  return CUDA_SUCCESS;
}
CUresult granularity(std::size_t* size, const CUmemAllocationProp* /*pages*/,
                     CUmemAllocationGranularity_flags /*which*/) {
  RINGSIDE_MAY_FAIL("cuMemGetAllocationGranularity");
  *size = FakeDriver::kGranularity;
  return CUDA_SUCCESS;
}
CUresult create(CUmemGenericAllocationHandle* handle, std::size_t size,
                const CUmemAllocationProp* pages, unsigned long long /*flags*/) {
  RINGSIDE_MAY_FAIL("cuMemCreate");
  if (size % FakeDriver::kGranularity != 0) return CUDA_ERROR_INVALID_VALUE;
  if (pages->requestedHandleTypes != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  UniqueFd file(::memfd_create("ringside-test", MFD_CLOEXEC));
  if (::ftruncate(file.get(), static_cast<off_t>(size)) != 0) return CUDA_ERROR_OUT_OF_MEMORY;
  return add_handle(handle, std::move(file));
}
CUresult release(CUmemGenericAllocationHandle handle) {
  return state->handles.erase(handle) == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult export_file(void* number, CUmemGenericAllocationHandle handle,
                     CUmemAllocationHandleType type, unsigned long long /*flags*/) {
  RINGSIDE_MAY_FAIL("cuMemExportToShareableHandle");
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_INVALID_VALUE;
  // As with the driver, other programs inherit the descriptor unless the caller prevents it.
  *static_cast<int*>(number) = ::dup(state->handles.at(handle).get());
  return CUDA_SUCCESS;
}
CUresult import_file(CUmemGenericAllocationHandle* handle, void* number,
                     CUmemAllocationHandleType type) {
  RINGSIDE_MAY_FAIL("cuMemImportFromShareableHandle");
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_INVALID_VALUE;
  return add_handle(handle, copy_of(static_cast<int>(reinterpret_cast<std::uintptr_t>(number))));
}
CUresult retain(CUmemGenericAllocationHandle* handle, void* address) {
  RINGSIDE_MAY_FAIL("cuMemRetainAllocationHandle");
  const auto wanted = reinterpret_cast<CUdeviceptr>(address);
  auto found = state->reservations.upper_bound(wanted);
  if (found == state->reservations.begin()) return CUDA_ERROR_INVALID_VALUE;
  --found;
  const bool is_within = wanted - found->first < found->second.size;
  if (!is_within || found->second.at == 0) return CUDA_ERROR_INVALID_VALUE;
  return add_handle(handle, copy_of(state->handles.at(found->second.at).get()));
}
CUresult reserve(CUdeviceptr* address, std::size_t size, std::size_t /*alignment*/,
                 CUdeviceptr /*address*/, unsigned long long /*flags*/) {
  RINGSIDE_MAY_FAIL("cuMemAddressReserve");
  void* const range = ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (range == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = reinterpret_cast<CUdeviceptr>(range);
  state->reservations[*address] = {.size = size};
  return CUDA_SUCCESS;
}
CUresult free_addresses(CUdeviceptr address, std::size_t size) {
  const auto found = state->reservations.find(address);
  if (found == state->reservations.end() || found->second.at != 0 || found->second.size != size) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  ::munmap(reinterpret_cast<void*>(address), size);
  state->reservations.erase(found);
  return CUDA_SUCCESS;
}
CUresult map(CUdeviceptr address, std::size_t size, std::size_t offset,
             CUmemGenericAllocationHandle handle, unsigned long long /*flags*/) {
  RINGSIDE_MAY_FAIL("cuMemMap");
  FakeState::Reservation& there = state->reservations.at(address);
  if (there.size != size || there.at != 0 || offset != 0) return CUDA_ERROR_INVALID_VALUE;
  ::mmap(reinterpret_cast<void*>(address), size, PROT_NONE, MAP_SHARED | MAP_FIXED,
         state->handles.at(handle).get(), 0);
  there.at = handle;
  return CUDA_SUCCESS;
}
CUresult unmap(CUdeviceptr address, std::size_t size) {
  FakeState::Reservation& there = state->reservations.at(address);
  if (there.at == 0 || there.size != size) return CUDA_ERROR_INVALID_VALUE;
  ::mmap(reinterpret_cast<void*>(address), size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
         -1, 0);
  there.at = 0;
  return CUDA_SUCCESS;
}
CUresult set_access(CUdeviceptr address, std::size_t size, const CUmemAccessDesc* access,
                    std::size_t count) {
  RINGSIDE_MAY_FAIL("cuMemSetAccess");
  if (count != 1 || access->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  ::mprotect(reinterpret_cast<void*>(address), size, PROT_READ | PROT_WRITE);
  return CUDA_SUCCESS;
}

struct stat facts_of(CUmemGenericAllocationHandle handle) {
  struct stat facts = {};
  ::fstat(state->handles.at(handle).get(), &facts);
  return facts;
}

CUresult multicast_granularity(std::size_t* size, const CUmulticastObjectProp* /*object*/,
                               CUmulticastGranularity_flags /*which*/) {
  RINGSIDE_MAY_FAIL("cuMulticastGetGranularity");
  *size = FakeDriver::kMulticastGranularity;
  return CUDA_SUCCESS;
}
CUresult multicast_create(CUmemGenericAllocationHandle* handle,
                          const CUmulticastObjectProp* object) {
  RINGSIDE_MAY_FAIL("cuMulticastCreate");
  if (object->size % FakeDriver::kMulticastGranularity != 0 ||
      object->handleTypes != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  UniqueFd file(::memfd_create("ringside-test", MFD_CLOEXEC));
  if (::ftruncate(file.get(), static_cast<off_t>(object->size)) != 0) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  const CUresult added = add_handle(handle, std::move(file));
  state->objects[facts_of(*handle).st_ino] = {.members = object->numDevices, .size = object->size};
  return added;
}
CUresult multicast_add(CUmemGenericAllocationHandle handle, CUdevice device) {
  RINGSIDE_MAY_FAIL("cuMulticastAddDevice");
  const bool is_new = state->objects.at(facts_of(handle).st_ino).devices.insert(device).second;
  return is_new ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
/// Where a driver would wait for a device that has not been added, this returns an error.
CUresult multicast_bind(CUmemGenericAllocationHandle object, std::size_t object_offset,
                        CUmemGenericAllocationHandle pages, std::size_t offset, std::size_t size,
                        unsigned long long flags) {
  RINGSIDE_MAY_FAIL("cuMulticastBindMem");
  FakeState::Multicast& bound = state->objects.at(facts_of(object).st_ino);
  if (bound.devices.size() != bound.members) return CUDA_ERROR_NOT_READY;
  const bool fits = size <= bound.size && std::cmp_less_equal(size, facts_of(pages).st_size) &&
                    size % FakeDriver::kMulticastGranularity == 0;
  if (!fits || object_offset != 0 || offset != 0 || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  ++bound.bound;
  return CUDA_SUCCESS;
}

}  // namespace

FakeDriver::FakeDriver(std::string fails) {
  state.emplace();
  state->fails = std::move(fails);
  GpuDriver& functions = state->functions;
  functions.cuGetErrorString = error_string;
  functions.cuDeviceGet = device;
  functions.cuDeviceGetAttribute = attribute;
  functions.cuMemGetAllocationGranularity = granularity;
  functions.cuMemCreate = create;
  functions.cuMemRelease = release;
  functions.cuMemExportToShareableHandle = export_file;
  functions.cuMemImportFromShareableHandle = import_file;
  functions.cuMemRetainAllocationHandle = retain;
  functions.cuMemAddressReserve = reserve;
  functions.cuMemAddressFree = free_addresses;
  functions.cuMemMap = map;
  functions.cuMemUnmap = unmap;
  functions.cuMemSetAccess = set_access;
  state->multicast_functions = {.cuMulticastCreate = multicast_create,
                                .cuMulticastAddDevice = multicast_add,
                                .cuMulticastBindMem = multicast_bind,
                                .cuMulticastGetGranularity = multicast_granularity};
}

FakeDriver::~FakeDriver() { state.reset(); }

const GpuDriver& FakeDriver::functions() const { return state->functions; }
const GpuMulticastDriver& FakeDriver::multicast_functions() const {
  return state->multicast_functions;
}
int FakeDriver::handles() const { return static_cast<int>(state->handles.size()); }
int FakeDriver::reserved() const { return static_cast<int>(state->reservations.size()); }
int FakeDriver::mapped() const {
  int count = 0;
  for (const auto& [address, there] : state->reservations) count += there.at != 0 ? 1 : 0;
  return count;
}

int FakeDriver::bound() const {
  int count = 0;
  for (const auto& [file, object] : state->objects) count += object.bound;
  return count;
}

}  // namespace ringside
