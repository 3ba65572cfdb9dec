import COpenSSL
import Foundation

/// What a provider token turned out to be.
public enum TokenVerdict: Sendable, Equatable {
    /// Signed by the key `keyID` of ours for its team; `issuedAt` is UNIX seconds. Whether it is too old depends on when it
    /// is used.
    case valid(issuedAt: Int64, keyID: String)
    case invalid(Flaw)

    public enum Flaw: Sendable, Equatable {
        /// Not three Base64url parts of JSON objects in UTF-8 that have each member once (RFC 7515 section 5.2, RFC 7519 section 4).
        case malformed
        /// `alg` is not ES256.
        case wrongAlgorithm
        /// `kid` is missing or not one of ours.
        case unknownKey
        /// `iss` is missing or not the key's team.
        case wrongTeam
        /// `iat` is missing or not a number.
        case noIssueTime
        case badSignature
    }
}

/// Checks provider tokens against known keys, for the mock. One a thread.
public final class TokenVerifier {
    private let identities: [String: (teamID: String, key: ProviderKey)]
    private let context: OpaquePointer
    /// Longest JWT looked at, bytes; Apple's are about 200.
    public static let longestToken = 4096
    /// Of ES256, bytes.
    private static let signatureLength = 64

    public init(_ identities: [ProviderIdentity]) {
        self.identities = Dictionary(
            identities.map { ($0.keyID, (teamID: $0.teamID, key: $0.key)) }, uniquingKeysWith: { first, _ in first })
        context = EVP_MD_CTX_new()!
    }

    deinit { EVP_MD_CTX_free(context) }

    private struct Header: Decodable {
        let alg: String?
        let kid: String?
    }

    private struct Claims: Decodable {
        let iss: String?
        /// UNIX seconds; nil when it is missing or no number.
        let iat: Int64?

        enum CodingKeys: String, CodingKey { case iss, iat }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            iss = try container.decodeIfPresent(String.self, forKey: .iss)
            // A whole number beyond 2^53, which a Double no longer holds, and one too near to 0 for a Double, are whole.
            let number = try? container.decode(Double.self, forKey: .iat)
            if let number, number.magnitude < 0x1p53 {
                iat = TokenVerifier.seconds(number)
            } else if let whole = try? container.decode(Int64.self, forKey: .iat) {
                iat = whole
            } else if let number {
                iat = TokenVerifier.seconds(number)
            } else {
                iat = (try? container.decode(String.self, forKey: .iat)).flatMap(TokenVerifier.seconds)
            }
        }
    }

    /// A NumericDate may be fractional (RFC 7519 section 2): the second it lies in, and the first or last there is for one
    /// that is beyond them.
    private static func seconds(_ number: Double) -> Int64? {
        if number.isNaN { return nil }
        return Int64(exactly: number.rounded(.down)) ?? (number < 0 ? .min : .max)
    }

    /// Apple takes a text of digits too, as some clients write it.
    private static func seconds(_ text: String) -> Int64? {
        text.utf8.allSatisfy { (48...57).contains($0) } ? Int64(text) : nil
    }

    /// A JWT's parts.
    private struct Parts {
        let header: Header
        let claims: Claims
        let signature: [UInt8]
        /// Bytes that are signed.
        let signedCount: Int
    }

    /// Judges a JWT in JWS compact form (RFC 7515 section 3.1), without the `bearer` before it.
    public func verify(_ jwt: UnsafeRawBufferPointer) -> TokenVerdict {
        guard let token = parts(jwt) else { return .invalid(.malformed) }
        guard token.header.alg == "ES256" else { return .invalid(.wrongAlgorithm) }
        guard let keyID = token.header.kid, let identity = identities[keyID] else { return .invalid(.unknownKey) }
        guard token.claims.iss == identity.teamID else { return .invalid(.wrongTeam) }
        guard let issuedAt = token.claims.iat else { return .invalid(.noIssueTime) }
        let signed = UnsafeRawBufferPointer(rebasing: jwt[..<token.signedCount])
        guard isSigned(signed, signature: token.signature, key: identity.key) else { return .invalid(.badSignature) }
        return .valid(issuedAt: issuedAt, keyID: keyID)
    }

    /// As `verify`, for any key and team: only who signed it remains open.
    public func verifyShape(_ jwt: UnsafeRawBufferPointer) -> TokenVerdict {
        guard let token = parts(jwt) else { return .invalid(.malformed) }
        guard token.header.alg == "ES256" else { return .invalid(.wrongAlgorithm) }
        guard let keyID = token.header.kid else { return .invalid(.unknownKey) }
        guard token.claims.iss != nil else { return .invalid(.wrongTeam) }
        guard let issuedAt = token.claims.iat else { return .invalid(.noIssueTime) }
        guard token.signature.count == Self.signatureLength else { return .invalid(.badSignature) }
        return .valid(issuedAt: issuedAt, keyID: keyID)
    }

    /// What is wrong with a JWT, with what it says and what would be right: one line; nil when nothing is. It is judged anew.
    ///
    /// - Parameter isAnyKey: as `verifyShape` judges.
    public func problem(_ jwt: UnsafeRawBufferPointer, isAnyKey: Bool = false) -> String? {
        guard case .invalid(let flaw) = isAnyKey ? verifyShape(jwt) : verify(jwt) else { return nil }
        let token = parts(jwt)
        let identity = token?.header.kid.flatMap { identities[$0] }
        switch flaw {
        case .malformed where jwt.count > Self.longestToken:
            return "the provider token has more than \(Self.longestToken) bytes"
        case .malformed:
            return "the provider token is not three Base64url parts of JSON objects, with dots between them; "
                + "expected UTF-8 without a byte order mark, and each member once"
        case .wrongAlgorithm: return "the provider token's alg is \(Self.quoted(token?.header.alg)); expected ES256"
        case .unknownKey:
            let known = identities.keys.sorted().prefix(Self.mostNamed).joined(separator: ", ")
            let rest = identities.count > Self.mostNamed ? ", …" : ""
            return "the provider token's kid is \(Self.quoted(token?.header.kid))"
                + (isAnyKey ? "; expected a key id" : ", which is not known; known: \(known)\(rest)")
        case .wrongTeam:
            return "the provider token's iss is \(Self.quoted(token?.claims.iss)); expected "
                + (identity.map { "\($0.teamID), the team of its key" } ?? "a team id")
        case .noIssueTime: return "the provider token's iat is missing or no whole number of UNIX seconds"
        case .badSignature:
            guard token?.signature.count == Self.signatureLength else {
                return "the provider token's signature has \(token?.signature.count ?? 0) bytes; expected r and s, "
                    + "\(Self.signatureLength) bytes (not DER)"
            }
            return "the provider token's signature does not verify with key \(token?.header.kid ?? ""): "
                + "it was signed with another one, or changed"
        }
    }

    /// Keys that are named where one is not known.
    private static let mostNamed = 5

    /// What a token says.
    private static func quoted(_ text: String?) -> String { text.map { quoted($0, most: 40) } ?? "missing" }

    /// What a client says, which may be anything, for a log or a terminal: in quotes, without characters that command a terminal or
    /// turn the direction of a text.
    ///
    /// - Parameter most: scalars that are shown.
    package static func quoted(_ text: some StringProtocol, most: Int) -> String {
        var result = ""
        for scalar in String(reflecting: String(String.UnicodeScalarView(text.unicodeScalars.prefix(most))))
            .unicodeScalars
        {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private func parts(_ jwt: UnsafeRawBufferPointer) -> Parts? {
        guard jwt.count <= Self.longestToken else { return nil }
        let parts = jwt.split(separator: 0x2E, maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let header = object(Header.self, parts[0]), let claims = object(Claims.self, parts[1]),
            let signature = Base64URL.decode(UnsafeRawBufferPointer(rebasing: parts[2]))
        else { return nil }
        return Parts(
            header: header, claims: claims, signature: signature, signedCount: parts[0].count + 1 + parts[1].count)
    }

    private func object<Object: Decodable>(_ type: Object.Type, _ part: Slice<UnsafeRawBufferPointer>) -> Object? {
        guard let bytes = Base64URL.decode(UnsafeRawBufferPointer(rebasing: part)), Self.isStrict(bytes) else {
            return nil
        }
        return try? JSONDecoder().decode(type, from: Data(bytes))
    }

    /// Whether bytes that the decoder may take are what a token's parts have to be: UTF-8 without a byte order mark (nor UTF-16, which
    /// has zeros), no half of a surrogate pair, and each member of the outermost object once.
    private static func isStrict(_ bytes: [UInt8]) -> Bool {
        guard String(validating: bytes, as: UTF8.self) != nil, !bytes.starts(with: [0xEF, 0xBB, 0xBF]),
            !bytes.contains(0)
        else { return false }
        var (depth, place, names) = (0, 0, Set<[UInt16]>())
        while place < bytes.count {
            switch bytes[place] {
            case 0x7B, 0x5B: depth += 1
            case 0x7D, 0x5D: depth -= 1
            case 0x22:
                guard let text = text(bytes, &place), String(validating: text, as: UTF16.self) != nil else {
                    return false
                }
                let next = bytes[place...].dropFirst().first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
                if depth == 1, next == 0x3A, !names.insert(text).inserted { return false }
            default: break
            }
            place += 1
        }
        return true
    }

    /// The text that begins with the quote at `place`, which becomes that of the quote at its end; nil without one.
    private static func text(_ bytes: [UInt8], _ place: inout Int) -> [UInt16]? {
        var units: [UInt16] = []
        place += 1
        while place < bytes.count, bytes[place] != 0x22 {
            if bytes[place] != 0x5C {
                let end = bytes[place...].firstIndex { $0 == 0x22 || $0 == 0x5C } ?? bytes.count
                units += String(decoding: bytes[place..<end], as: UTF8.self).utf16
                place = end
            } else if place + 6 <= bytes.count, bytes[place + 1] == 0x75 {
                let digits = String(decoding: bytes[(place + 2)..<(place + 6)], as: UTF8.self)
                guard let unit = UInt16(digits, radix: 16) else { return nil }
                units.append(unit)
                place += 6
            } else {
                guard place + 1 < bytes.count else { return nil }
                let control: [UInt8: UInt16] = [0x62: 8, 0x74: 9, 0x6E: 10, 0x66: 12, 0x72: 13]
                units.append(control[bytes[place + 1]] ?? UInt16(bytes[place + 1]))
                place += 2
            }
        }
        return place < bytes.count ? units : nil
    }

    private func isSigned(_ message: UnsafeRawBufferPointer, signature: [UInt8], key: ProviderKey) -> Bool {
        guard signature.count == Self.signatureLength else { return false }
        let der = Self.derSignature(raw: signature)
        defer { ERR_clear_error() }
        // Without it OpenSSL would go on using the key of the verification before.
        EVP_MD_CTX_reset(context)
        guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key.key) == 1 else { return false }
        return EVP_DigestVerify(
            context, der, der.count, message.baseAddress?.assumingMemoryBound(to: UInt8.self), message.count) == 1
    }

    /// r || s to the DER form OpenSSL verifies.
    static func derSignature(raw: [UInt8]) -> [UInt8] {
        var body: [UInt8] = []
        for half in [raw[..<32], raw[32...]] {
            var digits = Array(half.drop { $0 == 0 })
            if digits.isEmpty { digits = [0] }
            if digits[0] & 0x80 != 0 { digits.insert(0, at: 0) }
            body += [2, UInt8(digits.count)] + digits
        }
        return [0x30, UInt8(body.count)] + body
    }
}
