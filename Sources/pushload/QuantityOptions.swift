import ArgumentParser
import Settings

/// A whole number with k, M or G.
struct Count: ExpressibleByArgument {
    let value: UInt64
    init?(argument: String) {
        guard let value = try? Units.count(argument) else { return nil }
        self.value = value
    }
    init(_ value: UInt64) { self.value = value }
    var defaultValueDescription: String { "\(value)" }
}

/// Pushes a second.
struct Rate: ExpressibleByArgument {
    let value: Double
    init?(argument: String) {
        guard let value = try? Units.rate(argument) else { return nil }
        self.value = value
    }
}

/// A time span.
struct Span: ExpressibleByArgument {
    let nanoseconds: UInt64
    init?(argument: String) {
        guard let value = try? Units.duration(argument) else { return nil }
        nanoseconds = value
    }
    init(seconds: UInt64) { nanoseconds = seconds * 1_000_000_000 }
    var defaultValueDescription: String { "\(nanoseconds / 1_000_000_000)s" }
}

/// Bytes.
struct Size: ExpressibleByArgument {
    let bytes: Int
    init?(argument: String) {
        guard let value = try? Units.bytes(argument) else { return nil }
        bytes = value
    }
    init(_ bytes: Int) { self.bytes = bytes }
    var defaultValueDescription: String { "\(bytes)" }
}
