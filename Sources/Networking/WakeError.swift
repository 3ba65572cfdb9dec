/// How much too late a thread's sleeps end in the middle, followed step by step: the kernel and, in a virtual machine, the
/// hypervisor take their time, from a few microseconds on a free core to some thirty where cores are shared.
struct WakeError {
    /// ns; at most `most`, so that sleeping never turns into spinning.
    private(set) var estimate: UInt64 = 0
    static let most: UInt64 = 20_000
    private static let step: UInt64 = 250

    /// A sleep ended so much too late, ns. As many errors above the estimate as below leave it where it is: the median.
    mutating func add(_ error: UInt64) {
        if error > estimate {
            estimate = min(Self.most, estimate + Self.step)
        } else {
            estimate -= min(estimate, Self.step)
        }
    }
}
