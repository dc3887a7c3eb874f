#pragma once

/// Marks the namespace of each public header: what is declared there is what libringside.so offers. All else in the
/// library is hidden.
#define RINGSIDE_API [[gnu::visibility("default")]]
