/// Finds what somebody probably meant.
public enum NearestName {
    /// The candidate with the fewest edits (Levenshtein) to `name`; nil when none is near.
    public static func of(_ name: String, among candidates: [String]) -> String? {
        let limit = max(1, name.count / 3)
        return
            candidates
            .map { (name: $0, distance: distance(Array(name.lowercased()), Array($0.lowercased()))) }
            .filter { $0.distance <= limit }
            .min { $0.distance < $1.distance }?.name
    }

    /// `; did you mean "…"?`, or the list of what is known.
    public static func hint(_ name: String, among candidates: [String]) -> String {
        if let near = of(name, among: candidates) { return "; did you mean \"\(near)\"?" }
        return "; expected one of \(candidates.joined(separator: ", "))"
    }

    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var row = Array(0...right.count)
        for (line, character) in left.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for (column, other) in right.enumerated() {
                let above = row[column + 1]
                row[column + 1] = min(above + 1, row[column] + 1, diagonal + (character == other ? 0 : 1))
                diagonal = above
            }
        }
        return row[right.count]
    }
}
