/// A setting, file or store that cannot be used: one line.
package struct BackendError: Error, CustomStringConvertible, Sendable {
    package let description: String
    init(_ description: String) { self.description = description }
}
