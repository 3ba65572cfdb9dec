/// Finds what somebody probably meant.
public enum NearestName {
    /// The candidate with the fewest edits (Levenshtein; two letters swapped are one) to `name`; nil when none is near.
    public static func of(_ name: String, among candidates: [String]) -> String? {
        // What is much longer than all of them is none of them, and would take long to compare.
        guard name.utf8.count <= 200 else { return nil }
        let limit = max(1, name.count / 3)
        return
            candidates
            .map { (name: $0, distance: distance(Array(name.lowercased()), Array($0.lowercased()))) }
            .filter { $0.distance <= limit }
            .min { $0.distance < $1.distance }?.name
    }

    /// `; did you mean "…"?`, or the list of what is known; that also of a percentile, which nobody mistypes as another one.
    package static func hint(_ name: String, among candidates: [String]) -> String {
        let isPercentile = name.hasPrefix("p") && Double(name.dropFirst()) != nil
        if !isPercentile, let near = of(name, among: candidates) { return "; did you mean \"\(near)\"?" }
        return candidates.isEmpty ? "; there is none" : "; expected one of \(candidates.joined(separator: ", "))"
    }

    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        // Of the beginnings of the left one, the shorter first: how far each beginning of the right one is.
        var rows = [Array(0...right.count)]
        for (line, character) in left.enumerated() {
            var row = [line + 1]
            for (column, other) in right.enumerated() {
                var edits = min(
                    rows[line][column + 1] + 1, row[column] + 1, rows[line][column] + (character == other ? 0 : 1))
                if line > 0, column > 0, character == right[column - 1], left[line - 1] == other {
                    edits = min(edits, rows[line - 1][column - 1] + 1)
                }
                row.append(edits)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}
