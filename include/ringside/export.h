#pragma once

/// Marks the namespace of each public header: libringside.so exports what is declared there. Everything else in the
/// library is hidden.
#define RINGSIDE_API [[gnu::visibility("default")]]
