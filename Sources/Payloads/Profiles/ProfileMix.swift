/// Profiles and how often each is sent, `alert:80,silent:15,rich:5`.
public struct ProfileMix: Sendable {
    public struct Entry: Sendable {
        public let profile: Profile
        /// At least 1; its share is its weight of all weights.
        public let weight: UInt64

        public init(profile: Profile, weight: UInt64) {
            self.profile = profile
            self.weight = weight
        }
    }

    public let entries: [Entry]

    /// One profile for every push.
    public init(_ profile: Profile) { entries = [Entry(profile: profile, weight: 1)] }

    /// - Parameter entries: at least one.
    public init(_ entries: [Entry]) { self.entries = entries }

    /// - Throws: one line naming the part that is wrong.
    public init(parsing text: String, longestToken: Int = SyntheticDevices.tokenLength) throws(PayloadError) {
        var entries: [Entry] = []
        let isWeighted = text.contains(":")
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let pieces = part.split(separator: ":", omittingEmptySubsequences: false).map { String($0).trimmed }
            guard pieces.count <= 2, let name = pieces.first, !name.isEmpty else {
                throw PayloadError(
                    "profile mix \"\(text)\": expected name:weight pairs, as in alert:80,silent:15,rich:5")
            }
            guard pieces.count == 2 || !isWeighted else {
                throw PayloadError(
                    "profile mix \"\(text)\": \"\(name)\" has no weight; expected name:weight of all, or names alone, each as "
                        + "often as the others")
            }
            var weight: UInt64 = 1
            if pieces.count == 2 {
                guard let value = UInt64(pieces[1]), (1...1_000_000).contains(value) else {
                    throw PayloadError("profile mix \"\(text)\": weight \"\(pieces[1])\"; expected 1 to 1000000")
                }
                weight = value
            }
            guard !entries.contains(where: { $0.profile.name == name }) else {
                throw PayloadError("profile mix \"\(text)\": \"\(name)\" stands twice")
            }
            entries.append(Entry(profile: try Profile.named(name, longestToken: longestToken), weight: weight))
        }
        self.entries = entries
    }
}
