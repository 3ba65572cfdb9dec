/// Devices that are listed somewhere, in an order; `DeviceFile` and an audience's registrations are. Called for every push, so
/// that it is a class with virtual calls and no protocol.
open class DeviceList: @unchecked Sendable {
    /// How many there are.
    open var count: UInt64 { 0 }
    /// Digits of the longest token.
    open var longestToken: Int { 0 }
    /// Which are pushed to; nil: all.
    open var selection: DeviceSelection? { nil }

    /// The file they are listed in, once somebody has written into it.
    open var writtenFile: String? { nil }

    public init() {}

    /// Writes the token's digits; returns how many (at most `longestToken`).
    open func writeToken(_ device: UInt64, into output: UnsafeMutablePointer<UInt8>) -> Int { 0 }

    /// Writes tag `number`, counted from 0, of at most 120 bytes; nothing when the device has fewer.
    open func writeTag(_ device: UInt64, _ number: Int, into output: UnsafeMutablePointer<UInt8>) -> Int { 0 }

    /// Which of a mix's entries the device's pushes are made by, where devices have templates of their own.
    open func entry(_ device: UInt64) -> Int { 0 }
    /// `entry` says it; else the mix's weights.
    open var choosesEntry: Bool { false }
}
