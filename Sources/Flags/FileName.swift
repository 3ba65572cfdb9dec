import Harness

/// Names of files that are to be written.
package enum FileName {
    /// - Throws: one line when the name says that something else is in it.
    package static func check(_ path: String, _ flag: String, _ endings: [String]) throws(HarnessError) {
        guard !endings.contains(where: path.lowercased().hasSuffix) else { return }
        let expected = endings.filter { ![".htm", ".markdown"].contains($0) }.joined(separator: " or ")
        throw HarnessError("\(flag) \(path): expected a name that ends in \(expected)")
    }
}
