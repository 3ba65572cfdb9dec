import Settings

/// Finds the tag somebody probably meant among very many: those that cannot be near are left out by counting their letters.
enum NearTags {
    /// So many are looked at closely.
    private static let candidates = 200

    static func of(_ tag: String, in index: RegistrationIndex) -> String? {
        let wanted = letters(Array(tag.lowercased().utf8))
        let length = tag.utf8.count
        // As `NearestName` has it; an edit changes the letters by at most two.
        let limit = max(1, length / 3)
        var near: [(entry: Int, distance: Int)] = []
        for entry in index.range(.tag) {
            let name = index.nameBytes(entry)
            guard abs(name.count - length) <= limit else { continue }
            var distance = 0
            let here = letters(name.map { (65...90).contains($0) ? $0 | 0x20 : $0 })
            for place in 0..<64 { distance += abs(Int(here[place]) - Int(wanted[place])) }
            if distance <= 2 * limit { near.append((entry, distance)) }
        }
        near.sort { $0.distance != $1.distance ? $0.distance < $1.distance : $0.entry < $1.entry }
        return NearestName.of(tag, among: near.prefix(candidates).map { index.name($0.entry) })
    }

    /// How many of each letter there are, some letters together.
    private static func letters(_ name: [UInt8]) -> [Int16] {
        var counts = [Int16](repeating: 0, count: 64)
        for byte in name { counts[Int(byte & 63)] += 1 }
        return counts
    }
}
