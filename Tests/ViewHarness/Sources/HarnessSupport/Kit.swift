// SPDX-License-Identifier: MIT

// Clock, latch and recorders are the kit's.
@_exported import RelayTesting
