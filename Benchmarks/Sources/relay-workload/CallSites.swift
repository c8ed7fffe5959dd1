// SPDX-License-Identifier: MIT

import BenchmarkHandlers
import FeatureRelay

// The suite compares the sizes of these two functions, their closures included, in the symbol table: nine call sites
// are the difference.

/// One call site.
@MainActor @inline(never)
func oneCallSite(_ relay: Relay) {
  relay.dispatch(TickFeature.self) { $0.tick(10) }
}

/// Ten of them.
@MainActor @inline(never)
func tenCallSites(_ relay: Relay) {
  relay.dispatch(TickFeature.self) { $0.tick(11) }
  relay.dispatch(TickFeature.self) { $0.tick(12) }
  relay.dispatch(TickFeature.self) { $0.tick(13) }
  relay.dispatch(TickFeature.self) { $0.tick(14) }
  relay.dispatch(TickFeature.self) { $0.tick(15) }
  relay.dispatch(TickFeature.self) { $0.tick(16) }
  relay.dispatch(TickFeature.self) { $0.tick(17) }
  relay.dispatch(TickFeature.self) { $0.tick(18) }
  relay.dispatch(TickFeature.self) { $0.tick(19) }
  relay.dispatch(TickFeature.self) { $0.tick(20) }
}
