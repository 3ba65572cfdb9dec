import Payloads

/// Where which text stands in a row, for one format: everything but the token, the user's number and the moment of
/// expiry is ready-made, with its separators.
struct RowLayout {
    private(set) var builder = RowPieces.Builder()
    let header: [UInt8]
    let topics, environments, languages, templates: PieceChoice
    let templateOfLanguage: [Int]
    let languageTags: [RowPieces.Piece]
    let choices: [PieceChoice]
    let tags: [RowPieces.Piece]
    let start, quote, userStart, expiryStart, tagsStart, end: RowPieces.Piece
    let longestRow: Int

    init(_ description: SyntheticDescription, _ format: SyntheticFormat) {
        var builder = RowPieces.Builder()
        let isCSV = format == .csv
        var names = ["token"]

        /// A column's texts: `,text` in CSV, `,"name":"text"` in JSON; none is an empty field, or no key.
        func column(_ name: String, _ shares: [SyntheticDescription.Share]) -> PieceChoice {
            if shares.isEmpty { return PieceChoice([], pieces: [], none: builder.add([])) }
            names.append(name)
            let key = Array((isCSV ? "," : ",\"\(name)\":").utf8)
            let pieces = shares.map { builder.add(key + format.quoted($0.text)) }
            return PieceChoice(shares.map(\.share), pieces: pieces, none: builder.add(isCSV ? key : []))
        }
        func tag(_ text: String) -> RowPieces.Piece {
            builder.add((isCSV ? [0x3B] : [0x2C]) + format.quoted(text))
        }
        start = builder.add((isCSV ? "" : "{\"token\":\"").utf8)
        quote = builder.add((isCSV ? "" : "\"").utf8)
        topics = column("topic", description.topics)
        environments = column("environment", description.environments)
        names.append("user")
        userStart = builder.add((isCSV ? ",user" : ",\"user\":\"user").utf8)
        languages = column("language", description.languages)
        switch description.templates {
        case .shares(let shares):
            templates = column("template", shares)
            templateOfLanguage = []
        case .byLanguage(let pairs):
            templates = column("template", pairs.map { .init($0.template, 0) })
            // The last of the pieces is that of none.
            templateOfLanguage =
                description.languages.map { language in
                    pairs.firstIndex { $0.language == language.text } ?? pairs.count
                } + [pairs.count]
        case nil:
            templates = column("template", [])
            templateOfLanguage = []
        }
        if description.expiry != nil { names.append("expires") }
        expiryStart = builder.add((isCSV ? "," : ",\"expires\":").utf8)
        names.append("tags")
        tagsStart = builder.add((isCSV ? "," : ",\"tags\":[").utf8)
        end = builder.add((isCSV ? "\n" : "]}\n").utf8)
        if let prefix = description.languageTagPrefix {
            languageTags = description.languages.map { tag(prefix + $0.text) } + [builder.add([])]
        } else {
            languageTags = []
        }
        choices = description.choices.map { group in
            PieceChoice(group.map(\.share), pieces: group.map { tag($0.text) }, none: builder.add([]))
        }
        tags = description.tags.map { tag($0.text) }
        header = isCSV ? Array((names.joined(separator: ",") + "\n").utf8) : []

        func longest(_ pieces: [RowPieces.Piece]) -> Int { pieces.map { Int($0.length) }.max() ?? 0 }
        let columns = [topics, environments, languages, templates].map { longest($0.pieces) }.reduce(0, +)
        let fixed = [start, quote, quote, userStart, expiryStart, tagsStart, end].map { Int($0.length) }.reduce(0, +)
        let all = tags.map { Int($0.length) }.sorted(by: >).prefix(SyntheticDescription.mostTagsOfRow).reduce(0, +)
        let chosen = choices.map { longest($0.pieces) }.reduce(longest(languageTags), +)
        // 20 digits each of the user's number and the moment.
        longestRow = SyntheticDevices.tokenLength + columns + fixed + all + chosen + 40
        self.builder = builder
    }
}
