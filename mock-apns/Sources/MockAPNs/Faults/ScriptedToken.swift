import Payloads

/// Device tokens that say what they are answered, so that a test needs no fault file: `dead`, three digits of the status, one
/// for its reason, and with 429 and 503 two more of seconds in `retry-after` (README, "Tokens that say their answer").
enum ScriptedToken {
    /// By status, numbered from 0 (hexadecimal): the commonest first, then as Apple lists them.
    private static let reasons: [Int: [Reason]] = [
        400: [
            .badDeviceToken, .badCollapseId, .badExpirationDate, .badMessageId, .badPriority, .badTopic,
            .deviceTokenNotForTopic, .duplicateHeaders, .idleTimeout, .invalidPushType, .missingDeviceToken,
            .missingTopic, .payloadEmpty, .topicDisallowed,
        ],
        403: [
            .expiredProviderToken, .badCertificate, .badCertificateEnvironment, .forbidden, .invalidProviderToken,
            .missingProviderToken, .unrelatedKeyIdInToken, .badEnvironmentKeyIdInToken,
        ],
        404: [.badPath], 405: [.methodNotAllowed], 410: [.unregistered, .expiredToken], 413: [.payloadTooLarge],
        429: [.tooManyRequests, .tooManyProviderTokenUpdates], 500: [.internalServerError],
        503: [.serviceUnavailable, .shutdown],
    ]
    private static let prefix: [UInt8] = Array("dead".utf8)
    private static let length = 8

    /// What happens to a push to this token; nil when it does not say. One that says what is not known gets BadDeviceToken.
    static func rule(_ token: UnsafeRawBufferPointer) -> FaultRule? {
        guard token.count >= length + 2 else { return nil }
        for place in 0..<prefix.count where token[place] | 0x20 != prefix[place] { return nil }
        guard let status = decimal(token[4..<7]) else { return rejecting(.badDeviceToken) }
        let number = Int(String(decoding: token[7..<8], as: UTF8.self), radix: 16) ?? 0
        if status == 0 { return misbehaving(number) ?? rejecting(.badDeviceToken) }
        guard let reasons = reasons[status] else {
            guard RawAnswer.statuses.contains(status), number == 0 else { return rejecting(.badDeviceToken) }
            return status == 200 ? FaultRule() : answering(status)
        }
        guard number < reasons.count else { return rejecting(.badDeviceToken) }
        var rule = rejecting(reasons[number])
        if status == 429 || status == 503, let seconds = decimal(token[8..<10]), seconds > 0 {
            rule.retryAfter = UInt64(seconds)
        }
        return rule
    }

    /// `dead000` and what happens instead of an answer.
    private static func misbehaving(_ number: Int) -> FaultRule? {
        var rule = FaultRule()
        switch number {
        case 0: rule.silentShare = 1
        case 1: rule.resetShare = 1
        case 2:
            rule.resetShare = 1
            rule.resetCode = .refusedStream
        case 3: rule.close = .fin
        case 4: rule.close = .rst
        case 5: rule.goAway = FaultRule.GoAway()
        default: return nil
        }
        return rule
    }

    private static func rejecting(_ reason: Reason) -> FaultRule {
        var rule = FaultRule()
        rule.rejections = [.init(reason, share: 1)]
        return rule
    }

    private static func answering(_ status: Int) -> FaultRule {
        var rule = FaultRule()
        rule.answer = RawAnswer(status: status)
        return rule
    }

    private static func decimal(_ digits: Slice<UnsafeRawBufferPointer>) -> Int? {
        digits.reduce(Optional(0)) { number, digit in
            guard let number, (0x30...0x39).contains(digit) else { return nil }
            return number * 10 + Int(digit - 0x30)
        }
    }
}
