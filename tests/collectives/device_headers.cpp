// Includes all that a GPU's executor includes. It is a separate file so that its includes can be measured.
#include "engine/collectives/device_task.h"
#include "engine/collectives/run.h"

// Detects the header by the include guards of the two standard libraries.
#if defined(_GLIBCXX_VECTOR) || defined(_LIBCPP_VECTOR)
#error "a header that device code includes draws in <vector>"
#endif
#if defined(_GLIBCXX_STRING) || defined(_LIBCPP_STRING)
#error "a header that device code includes draws in <string>"
#endif
#if defined(_GLIBCXX_MEMORY) || defined(_LIBCPP_MEMORY)
#error "a header that device code includes draws in <memory>"
#endif
#if defined(_GLIBCXX_FUNCTIONAL) || defined(_LIBCPP_FUNCTIONAL)
#error "a header that device code includes draws in <functional>"
#endif
#ifdef FMT_VERSION
#error "a header that device code includes draws in fmt"
#endif
#ifdef RINGSIDE_TRY
#error "a header that device code includes draws in base/result.h"
#endif
