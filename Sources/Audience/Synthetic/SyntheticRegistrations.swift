import Payloads

/// Registrations that are made, not collected: each follows from the seed and its row, so that any can be made alone,
/// by any thread, at any time. Device tokens are those of `Payloads.SyntheticDevices`, which the mock knows without a
/// list.
///
/// Cost: about 0.3 µs a row of the standard description (200 tags, eight of them its own), writing it to a file included;
/// without allocation.
package final class SyntheticRegistrations: @unchecked Sendable {
    package let description: SyntheticDescription
    package let format: SyntheticFormat
    /// How many rows there are.
    package let count: UInt64
    /// Bytes that a row may have at most, its line end among them.
    let longestRow: Int
    /// The line before all rows: CSV's column names with a line end; empty for NDJSON.
    let header: [UInt8]

    private let devices: SyntheticDevices
    private let blocks: UserBlocks
    private let pieces: RowPieces
    private let dice: TagDice
    private let topics, environments, languages, templates: PieceChoice
    /// For each language (the last: none) its tag's piece; empty when languages are no tags.
    private let languageTags: [RowPieces.Piece]
    /// For each language the template's place; empty when templates do not depend on it.
    private let templateOfLanguage: [Int]
    private let choices: [PieceChoice]
    /// Conditions that languages and choices set, in the order of their pieces.
    private let languageBits: [UInt64]
    private let choiceBits: [[UInt64]]
    private let tags: [RowPieces.Piece]
    private let start, quote, userStart, expiryStart, tagsStart, end: RowPieces.Piece

    /// The random numbers of a row or user, by what they are for.
    private enum Draw {
        static let language: UInt64 = 0
        static let firstChoice: UInt64 = 1
        static let topic: UInt64 = 0
        static let environment: UInt64 = 1
        static let template: UInt64 = 2
        static let expires: UInt64 = 3
        static let moment: UInt64 = 4
        static let firstTag: UInt64 = 8
    }

    /// - Throws: when the description is not sound.
    package init(_ description: SyntheticDescription, format: SyntheticFormat) throws(AudienceError) {
        if let problem = description.problem { throw AudienceError("registrations: \(problem)") }
        self.description = description
        self.format = format
        count = description.rowCount
        devices = SyntheticDevices(seed: description.seed, count: count)
        blocks = description.blocks
        let layout = RowLayout(description, format)
        header = layout.header
        (topics, environments) = (layout.topics, layout.environments)
        (languages, templates, templateOfLanguage) = (layout.languages, layout.templates, layout.templateOfLanguage)
        (languageTags, choices, tags) = (layout.languageTags, layout.choices, layout.tags)
        (start, quote, userStart) = (layout.start, layout.quote, layout.userStart)
        (expiryStart, tagsStart, end) = (layout.expiryStart, layout.tagsStart, layout.end)
        pieces = RowPieces(layout.builder.bytes)
        longestRow = layout.longestRow

        var bits: [String: UInt64] = [:]
        for correlation in description.correlations where bits[correlation.condition] == nil {
            bits[correlation.condition] = 1 << UInt64(bits.count)
        }
        let prefix = description.languageTagPrefix
        languageBits = description.languages.map { language in prefix.flatMap { bits[$0 + language.text] } ?? 0 } + [0]
        choiceBits = description.choices.map { $0.map { bits[$0.text] ?? 0 } + [0] }
        var dependents: [Int: TagDice.Dependent] = [:]
        for (place, tag) in description.tags.enumerated() {
            let factors = description.correlations.filter { $0.tag == tag.text }
                .map { (bit: bits[$0.condition] ?? 0, times: $0.times) }
            if !factors.isEmpty { dependents[place] = TagDice.Dependent(share: tag.share, factors: factors) }
        }
        dice = TagDice(
            shares: description.tags.map(\.share), dependents: dependents,
            bits: description.tags.map { bits[$0.text] ?? 0 })
    }

    /// The user of a row; users are numbered from 0 in the order of their rows.
    package func user(_ row: UInt64) -> UInt64 { blocks.user(row) }

    /// Row `row` as its line of the file.
    package func line(_ row: UInt64) -> String {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: longestRow) { buffer in
            guard let base = buffer.baseAddress else { return "" }
            let length = writeRow(row, into: base)
            return String(decoding: UnsafeBufferPointer(start: base, count: length), as: UTF8.self)
        }
    }

    /// Writes row `row` with its line end; returns its length, at most `longestRow`.
    func writeRow(_ row: UInt64, into output: UnsafeMutablePointer<UInt8>) -> Int {
        let seed = description.seed
        let user = blocks.user(row)
        let ofUser = RowDraw(seed: seed, stream: 1, number: user)
        let draw = RowDraw(seed: seed, stream: 0, number: row)
        var at = output
        at += pieces.write(start, into: at)
        devices.writeToken(row, into: at)
        at += SyntheticDevices.tokenLength
        at += pieces.write(quote, into: at)
        at += pieces.write(topics.pieces[topics.place(draw.bits(Draw.topic))], into: at)
        at += pieces.write(environments.pieces[environments.place(draw.bits(Draw.environment))], into: at)
        at += pieces.write(userStart, into: at)
        at += Self.writeDecimal(user, into: at)
        at += pieces.write(quote, into: at)
        let language = languages.place(ofUser.bits(Draw.language))
        at += pieces.write(languages.pieces[language], into: at)
        let template =
            templateOfLanguage.isEmpty ? templates.place(draw.bits(Draw.template)) : templateOfLanguage[language]
        at += pieces.write(templates.pieces[template], into: at)
        at += writeExpiry(draw, into: at)
        at += pieces.write(tagsStart, into: at)

        let firstTag = at
        var count = 0
        var conditions = languageBits[language]
        func put(_ piece: RowPieces.Piece) {
            guard piece.length > 0, count < SyntheticDescription.mostTagsOfRow else { return }
            // Each tag's piece begins with what separates it from the one before.
            at += pieces.write(piece, skipping: at == firstTag ? 1 : 0, into: at)
            count &+= 1
        }
        if !languageTags.isEmpty { put(languageTags[language]) }
        for group in choices.indices {
            let place = choices[group].place(ofUser.bits(Draw.firstChoice &+ UInt64(group)))
            put(choices[group].pieces[place])
            conditions |= choiceBits[group][place]
        }
        dice.roll(draw, from: Draw.firstTag, conditions: conditions) { put(tags[$0]) }
        at += pieces.write(end, into: at)
        return at - output
    }

    @inline(__always)
    private func writeExpiry(_ draw: RowDraw, into output: UnsafeMutablePointer<UInt8>) -> Int {
        guard let expiry = description.expiry else { return 0 }
        let expires = draw.bits(Draw.expires) &>> 11 < UInt64(expiry.share * 0x1p53)
        // CSV has the column in every row.
        guard expires else { return format == .csv ? pieces.write(expiryStart, into: output) : 0 }
        let start = pieces.write(expiryStart, into: output)
        let moment = UInt64(expiry.from) &+ draw.below(UInt64(expiry.to) &- UInt64(expiry.from) &+ 1, Draw.moment)
        return start &+ Self.writeDecimal(moment, into: output + start)
    }

    /// Decimal digits; returns how many.
    @inline(__always)
    private static func writeDecimal(_ value: UInt64, into output: UnsafeMutablePointer<UInt8>) -> Int {
        var length = 1
        var limit: UInt64 = 10
        while length < 19, value >= limit {
            length &+= 1
            limit &*= 10
        }
        var rest = value
        for place in stride(from: length &- 1, through: 0, by: -1) {
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            output[place] = 48 &+ UInt8(truncatingIfNeeded: digit)
            rest = quotient
        }
        return length
    }
}
