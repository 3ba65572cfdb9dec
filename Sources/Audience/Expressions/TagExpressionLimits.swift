/// How many tags an expression may name.
package enum TagExpressionLimits: Sendable, Equatable {
    /// As Azure Notification Hubs has it ("Routing and tag expressions",
    /// learn.microsoft.com/azure/notification-hubs/notification-hubs-tags-segment-push-message): up to 20 tags with
    /// only ||, up to 10 with only &&, otherwise up to 6. (Until 2020 the page had no 10: "limited to 20 tags if they
    /// contain only ORs; otherwise they are limited to 6 tags".) It does not say what `!` changes; here an expression
    /// with `!` is a mixed one, which is the stricter reading. A tag counts as often as it is named.
    case notificationHubs
    /// As many as there is room for in 64 KiB.
    case none

    /// - Throws: with the place of the first tag that is too many.
    func check(_ parser: TagExpressionParser) throws(AudienceError) {
        guard self == .notificationHubs else { return }
        let (most, kind) =
            switch (parser.hasAnd, parser.hasOr, parser.hasNot) {
            case (false, _, false): (20, "with only ||")
            case (true, false, false): (10, "with only &&")
            default: (6, parser.hasNot ? "with !" : "with && and ||")
            }
        guard parser.mentions.count > most else { return }
        throw parser.mentions[most].place.error(
            "\(parser.mentions.count) tags; Azure Notification Hubs takes at most \(most) in an expression \(kind)")
    }
}
