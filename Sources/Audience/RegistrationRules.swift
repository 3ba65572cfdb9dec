/// Bounds of what a registration may say.
enum RegistrationRules {
    /// Hexadecimal digits.
    static let longestToken = 400
    static let longestTag = 120
    static let mostTags = 1000
    /// A user is a tag also.
    static let userPrefix: StaticString = "username:"
    static let longestUser = longestTag - userPrefix.utf8CodeUnitCount
    static let longestTopic = 255
    static let longestLanguage = 35
    /// Bytes. APNs takes 4,096 of payload; a template may be longer than what is made of it.
    static let longestTemplate = 16_384
}

extension StaticString {
    var utf8: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount) }
}
