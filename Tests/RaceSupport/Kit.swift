// SPDX-License-Identifier: MIT

// Clock, latch and seeds are the kit's: a test of races needs them as well.
@_exported import RelayTesting
