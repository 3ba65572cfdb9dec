import Networking

package enum MonotonicSeconds {
    package static func now() -> Double { Double(MonotonicClock.now()) / 1e9 }
}
