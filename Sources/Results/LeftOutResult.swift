/// A file that is no usable result.
package struct LeftOutResult: Codable, Sendable, Equatable {
    package var path: String
    /// Why, one sentence.
    package var reason: String

    package init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }
}
