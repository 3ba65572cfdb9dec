import Glibc
import Payloads

/// What a topic says of the type of its pushes.
extension PushType {
    private static let suffixes = allCases.filter { !$0.topicSuffix.isEmpty }.map {
        (type: $0, bytes: Array($0.topicSuffix.utf8))
    }

    /// The type whose suffix the topic ends with, a bundle id before it; nil: none, so that the topic may be a bundle id itself.
    init?(suffixOf topic: UnsafeRawBufferPointer) {
        let found = Self.suffixes.first { suffix in
            topic.count > suffix.bytes.count
                && suffix.bytes.withUnsafeBytes {
                    memcmp($0.baseAddress!, topic.baseAddress! + (topic.count - $0.count), $0.count) == 0
                }
        }
        guard let found else { return nil }
        self = found.type
    }
}
