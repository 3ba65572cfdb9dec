/// What stands between `{{` and `}}` in a payload template.
///
/// | hole | becomes |
/// | --- | --- |
/// | `{{device_index}}` | the device's number, from 0 |
/// | `{{device_token}}` | its token |
/// | `{{sequence}}` | the push's number within the run, from 0 |
/// | `{{run_id}}` | 16 hexadecimal digits |
/// | `{{notification_id}}` | the number of the notification that the run stored in the devices' backend before; 0 where it did not |
/// | `{{unix_time}}` | the time of encoding, UNIX seconds |
/// | `{{random(1,100)}}` | a whole number, both ends included |
/// | `{{pick(red\|green\|blue)}}` | one of the texts |
/// | `{{text(10,200)}}` | random text of so many characters, with some that JSON escapes and some of several bytes |
/// | `{{tag}}`, `{{tag(1)}}` | the device's first, second, … tag; empty when it has fewer |
/// | `{{sealed(64,256)}}` | so many bytes of random text sealed for the device with AES-128-GCM, as Base64 |
///
/// All may stand inside a JSON string value; those that are numbers also in place of a value. Keys take none. Random
/// choices follow from the seed, the sequence number and the place of the hole.
enum TemplateHole: Equatable {
    case deviceIndex
    case deviceToken
    case sequence
    case runID
    case notificationID
    case unixTime
    case random(UInt64, UInt64)
    case pick([String])
    case text(Int, Int)
    case tag(Int)
    case sealed(Int, Int)

    static let names = [
        "device_index", "device_token", "sequence", "run_id", "notification_id", "unix_time", "random", "pick", "text",
        "tag", "sealed",
    ]

    /// May it stand where JSON expects a value?
    var isNumber: Bool {
        switch self {
        case .deviceIndex, .sequence, .notificationID, .unixTime, .random: true
        case .deviceToken, .runID, .pick, .text, .tag, .sealed: false
        }
    }

    /// Most bytes it can become.
    func longest(token: Int) -> Int {
        switch self {
        case .deviceIndex, .sequence, .notificationID, .unixTime: 20
        case .deviceToken: token
        case .runID: 16
        case .random(_, let high): Digits.decimalLength(high)
        case .pick(let options): options.map(\.utf8.count).max() ?? 0
        case .text(_, let most): most * RandomText.longestUnit
        case .tag: DevicePopulation.longestTag
        case .sealed(_, let most): Sealer.sealedLength(most)
        }
    }

    /// Fewest bytes it can become.
    func shortest(token: Int) -> Int {
        switch self {
        case .deviceIndex, .sequence, .notificationID, .unixTime: 1
        case .deviceToken: 2
        case .runID: 16
        case .random(let low, _): Digits.decimalLength(low)
        case .pick(let options): options.map(\.utf8.count).min() ?? 0
        case .text(let least, _): least
        case .tag: 0
        case .sealed(let least, _): Sealer.sealedLength(least)
        }
    }

    /// Reads what stands between the braces.
    ///
    /// - Throws: the reason alone; the caller knows the place.
    init(parsing text: String) throws(PayloadError) {
        let trimmed = text.trimmed
        let open = trimmed.firstIndex(of: "(")
        let name = String(open.map { trimmed[..<$0] } ?? trimmed[...]).trimmed
        var arguments: String?
        if let open {
            guard trimmed.hasSuffix(")") else { throw PayloadError("hole \"\(name)\": the closing ')' is missing") }
            arguments = String(trimmed[trimmed.index(after: open)...].dropLast())
        }
        func none(_ hole: TemplateHole) throws(PayloadError) -> TemplateHole {
            guard arguments == nil else { throw PayloadError("hole \"\(name)\" takes no arguments") }
            return hole
        }
        func range(_ example: String, upTo most: UInt64) throws(PayloadError) -> (UInt64, UInt64) {
            let parts = (arguments ?? "").split(separator: ",", omittingEmptySubsequences: false)
            guard parts.count == 2, let low = UInt64(String(parts[0]).trimmed),
                let high = UInt64(String(parts[1]).trimmed)
            else { throw PayloadError("hole \"\(name)\" takes two whole numbers, as in \(example)") }
            guard low <= high, high <= most else {
                throw PayloadError(
                    "hole \"\(name)(\(low),\(high))\": expected a first number up to the second, at most \(most)")
            }
            return (low, high)
        }
        switch name {
        case "device_index": self = try none(.deviceIndex)
        case "device_token": self = try none(.deviceToken)
        case "sequence": self = try none(.sequence)
        case "run_id": self = try none(.runID)
        case "notification_id": self = try none(.notificationID)
        case "unix_time": self = try none(.unixTime)
        case "random":
            let (low, high) = try range("{{random(1,100)}}", upTo: UInt64(Int64.max))
            self = .random(low, high)
        case "pick":
            let options = (arguments ?? "").split(separator: "|", omittingEmptySubsequences: false).map(String.init)
            guard arguments != nil, options.count <= 1000, options.contains(where: { !$0.isEmpty }) else {
                throw PayloadError("hole \"pick\" takes texts, as in {{pick(red|green|blue)}}")
            }
            guard options.allSatisfy({ $0.utf8.allSatisfy { $0 >= 32 && $0 != 0x22 && $0 != 0x5C } }) else {
                throw PayloadError("hole \"pick\": its texts may not hold quotes, backslashes or control characters")
            }
            self = .pick(options)
        case "text":
            let (low, high) = try range("{{text(10,200)}}", upTo: 5120)
            self = .text(Int(low), Int(high))
        case "tag":
            guard let arguments else {
                self = .tag(0)
                return
            }
            guard let number = Int(arguments.trimmed), (0...1000).contains(number) else {
                throw PayloadError("hole \"tag\" takes the tag's number from 0, as in {{tag(1)}}")
            }
            self = .tag(number)
        case "sealed":
            let (low, high) = try range("{{sealed(64,256)}}", upTo: 5120)
            self = .sealed(Int(low), Int(high))
        default:
            let nearest = Self.names.min { Self.distance(name, $0) < Self.distance(name, $1) }!
            let hint =
                Self.distance(name, nearest) <= 3
                ? "did you mean \"\(nearest)\"?" : "known holes: \(Self.names.joined(separator: ", "))"
            throw PayloadError("unknown hole \"\(name)\"; \(hint)")
        }
    }

    /// Levenshtein distance.
    private static func distance(_ first: String, _ second: String) -> Int {
        let a = Array(first.utf8.prefix(64))
        let b = Array(second.utf8)
        var row = Array(0...b.count)
        for i in 0..<a.count {
            var diagonal = row[0]
            row[0] = i + 1
            for j in 0..<b.count {
                let cost = a[i] == b[j] ? diagonal : diagonal + 1
                diagonal = row[j + 1]
                row[j + 1] = min(cost, row[j] + 1, diagonal + 1)
            }
        }
        return row[b.count]
    }
}

extension String {
    /// Without spaces at either end.
    var trimmed: String {
        var bytes = Substring(self)
        while bytes.first == " " { bytes.removeFirst() }
        while bytes.last == " " { bytes.removeLast() }
        return String(bytes)
    }
}
