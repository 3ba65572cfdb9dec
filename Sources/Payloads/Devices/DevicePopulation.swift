/// Who receives: devices by formula or from a file.
public enum DevicePopulation: Sendable {
    case synthetic(SyntheticDevices)
    case file(DeviceFile)

    /// How many devices there are, at least 1 in a usable population.
    public var count: UInt64 {
        switch self {
        case .synthetic(let devices): devices.count
        case .file(let file): file.count
        }
    }

    /// Digits of the longest token.
    public var longestToken: Int {
        switch self {
        case .synthetic: SyntheticDevices.tokenLength
        case .file(let file): file.longestToken
        }
    }

    /// Longest tag there can be, bytes.
    static let longestTag = 120

    /// Writes the token's digits; returns how many.
    @inline(__always)
    public func writeToken(_ device: UInt64, into output: UnsafeMutablePointer<UInt8>) -> Int {
        switch self {
        case .synthetic(let devices):
            devices.writeToken(device, into: output)
            return SyntheticDevices.tokenLength
        case .file(let file):
            return file.writeToken(device, into: output)
        }
    }

    /// Writes tag `number` of a device, counted from 0; returns its length, 0 when it has fewer.
    func writeTag(_ device: UInt64, _ number: Int, into output: UnsafeMutablePointer<UInt8>) -> Int {
        switch self {
        case .synthetic(let devices): devices.writeTag(device, number, into: output)
        case .file(let file): file.writeTag(device, number, into: output)
        }
    }

    /// The token as text.
    public func token(_ device: UInt64) -> String {
        String(unsafeUninitializedCapacity: longestToken) { writeToken(device, into: $0.baseAddress!) }
    }
}
