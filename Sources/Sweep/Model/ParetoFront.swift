/// The points that no other beats: another beats a point when it is at least as good in everything and better in something.
enum ParetoFront {
    /// - Parameter points: of each the values, all of which are better when smaller; as many for every point.
    /// - Returns: the indices of those on the front, ascending. Equal points are on it together.
    static func indices(of points: [[Double]]) -> [Int] {
        // In order of the values a point can only be beaten by one before it, and then by one that is on the front itself.
        let order = points.indices.sorted { points[$0].lexicographicallyPrecedes(points[$1]) }
        var front: [Int] = []
        for index in order where !front.contains(where: { beats(points[$0], points[index]) }) { front.append(index) }
        return front.sorted()
    }

    static func beats(_ a: [Double], _ b: [Double]) -> Bool {
        zip(a, b).allSatisfy { $0 <= $1 } && zip(a, b).contains { $0 < $1 }
    }
}
