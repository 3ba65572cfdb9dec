/// Cores of a machine by number, as `taskset` writes them: `2-5,8`. In the order written, each once.
public struct CoreList: Sendable, Equatable {
    public let cores: [Int]

    /// What the system calls can name.
    public static let range = 0...1023

    /// - Throws: what is wrong with the text and what would be right.
    public init(parsing text: String) throws(Units.ParseError) {
        var cores: [Int] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { end in
                !end.isEmpty && end.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(end) : nil
            }
            guard ends.count <= 2, let first = ends[0], let last = ends[ends.count - 1], first <= last,
                Self.range.contains(first), Self.range.contains(last)
            else {
                throw Units.ParseError(description: "\"\(text)\": expected cores from 0 to 1023, such as 2-5 or 0,2,4")
            }
            for core in first...last {
                guard !cores.contains(core) else {
                    throw Units.ParseError(description: "\"\(text)\": core \(core) is named twice")
                }
                cores.append(core)
            }
        }
        self.cores = cores
    }

    /// The core of a thread, counted from 0: one after the other, again from the first when all have one.
    public func core(ofThread number: Int) -> Int { cores[number % cores.count] }

    /// What keeps threads from these cores; nil: nothing.
    ///
    /// - Parameter allowed: those that the process may use, ascending.
    public func problem(allowed: [Int]) -> String? {
        cores.first { !allowed.contains($0) }.map { core in
            "core \(core): this process may use \(allowed.map(String.init).joined(separator: ","))"
        }
    }
}
