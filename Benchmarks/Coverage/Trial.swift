import Statistics

/// How often a thing was so, of how many draws.
struct Trial {
    private(set) var draws = 0
    private(set) var hits = 0

    mutating func count(_ isHit: Bool) {
        draws += 1
        if isHit { hits += 1 }
    }

    /// 0…1.
    var share: Double { draws > 0 ? Double(hits) / Double(draws) : 0 }
}
