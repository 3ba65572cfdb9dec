/// Who receives: devices by formula, or of a list.
public enum DevicePopulation: Sendable {
    case synthetic(SyntheticDevices)
    case listed(DeviceList)

    /// How many devices are pushed to, at least 1 in a usable population.
    public var count: UInt64 {
        switch self {
        case .synthetic(let devices): devices.count
        case .listed(let list): list.selection?.count ?? list.count
        }
    }

    /// Which devices of a list are pushed to; nil: all there are.
    var selection: DeviceSelection? { if case .listed(let list) = self { list.selection } else { nil } }

    /// Digits of the longest token.
    public var longestToken: Int {
        switch self {
        case .synthetic: SyntheticDevices.tokenLength
        case .listed(let list): list.longestToken
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
        case .listed(let list):
            return list.writeToken(device, into: output)
        }
    }

    /// Writes tag `number` of a device, counted from 0; returns its length, 0 when it has fewer.
    func writeTag(_ device: UInt64, _ number: Int, into output: UnsafeMutablePointer<UInt8>) -> Int {
        switch self {
        case .synthetic(let devices): devices.writeTag(device, number, into: output)
        case .listed(let list): list.writeTag(device, number, into: output)
        }
    }

    /// The token as text.
    public func token(_ device: UInt64) -> String {
        String(unsafeUninitializedCapacity: longestToken) { writeToken(device, into: $0.baseAddress!) }
    }

    /// Whether a device has this tag, and some others with the same prefix. Of a file every line may be looked at.
    public func look(for tag: String, prefix: String) -> (isThere: Bool, others: [String]) {
        var others: [String] = []
        var found = false
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.longestTag) { buffer in
            guard let base = buffer.baseAddress else { return }
            // Of a synthetic population each text is soon met; what is the device's own number is not looked for one by one.
            let most: UInt64 = if case .synthetic = self { 10_000 } else { .max }
            for place in 0..<min(count, most) {
                let device = selection.map { UInt64($0.row(place)) } ?? place
                var number = 0
                while case let length = writeTag(device, number, into: base), length > 0 {
                    number += 1
                    let text = String(decoding: UnsafeBufferPointer(start: base, count: length), as: UTF8.self)
                    guard text.hasPrefix(prefix) else { continue }
                    if text == tag {
                        found = true
                        return
                    }
                    if others.count < 20, !others.contains(text) { others.append(text) }
                    // A push is counted under the first tag that begins so.
                    break
                }
            }
        }
        if case .synthetic(let devices) = self, !found, tag.hasPrefix(SyntheticDevices.userTag), tag.hasPrefix(prefix) {
            let number = UInt64(tag.dropFirst(SyntheticDevices.userTag.count))
            return (number.map { $0 < devices.count } ?? false, others)
        }
        return (found, others)
    }
}
