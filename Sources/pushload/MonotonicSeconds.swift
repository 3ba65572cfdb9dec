import Networking

enum MonotonicSeconds {
    static func now() -> Double { Double(MonotonicClock.now()) / 1e9 }
}
