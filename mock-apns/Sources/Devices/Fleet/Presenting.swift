import Payloads

/// What is seen of a notification, and where.
extension DeviceFleet {
    /// A notification that is ready to be shown.
    struct Candidate {
        var text: NotificationText
        /// From 1, in the model's list; 0: none.
        var category: UInt8
        var presentation: Presentation
        var badge: Int32
        /// Of the push it is for; nil: the app's own.
        var ticket: UInt64?
        var isRemote: Bool
        /// The app shows it itself while it is in the foreground, with its actions.
        var isRich = false
        /// Passive, or of priority 1, which does not wake a device.
        var isPassive = false
        var isGentle = false
    }

    /// A push's own content.
    ///
    /// - Parameter body: what its service extension made of it, as JSON has it.
    func present(
        _ push: DevicePush, _ content: PushContent, body: UnsafeRawBufferPointer?, to device: UInt32
    ) -> DeviceOutcome {
        present(
            Candidate(
                text: NotificationText(
                    identifier: push.collapseID, thread: content.thread.bytes(push.payload),
                    title: content.title.bytes(push.payload), subtitle: content.subtitle.bytes(push.payload),
                    body: body ?? content.body.bytes(push.payload)),
                category: category(content.category.bytes(push.payload)), presentation: content.presentation,
                badge: content.badge ?? 0, ticket: push.ticket, isRemote: true,
                isPassive: content.isPassive, isGentle: push.priority == 1),
            on: device)
    }

    /// One that the app does not know: it shows no buttons.
    private static let unknownCategory = UInt8.max

    /// From 1; 0: none.
    func category(_ name: UnsafeRawBufferPointer) -> UInt8 {
        if name.isEmpty { return 0 }
        for (number, category) in model.categories.enumerated() where name.elementsEqual(category.identifier.utf8) {
            return UInt8(number + 1)
        }
        return Self.unknownCategory
    }

    func present(_ candidate: Candidate, on device: UInt32) -> DeviceOutcome {
        let platform = platform(device)
        if candidate.isRemote, platform == .watch, isUnlocked(device) { return .notForwarded }
        var allowed = candidate.presentation
        if platform == .tv { allowed.formIntersection(.badge) }
        allowed.formIntersection(granted(device))
        if allowed.isEmpty { return .suppressed }
        let outcome: DeviceOutcome
        let place: Shown.Place
        if isInForeground(device) {
            // Only what may be seen of it is asked for: `willPresent`.
            allowed.formIntersection(candidate.isRich ? [] : model.willPresent)
            (outcome, place) = allowed.contains(.alert) ? (.banner, .banner) : (.inApp, .inApp)
        } else if !allowed.contains(.alert) {
            (outcome, place) = (.badgeOrSound, .banner)
        } else if candidate.isPassive || (candidate.isGentle && !isUnlocked(device)) {
            (outcome, place) = (.centre, .centre)
            allowed.remove(.sound)
        } else {
            (outcome, place) = isUnlocked(device) ? (.banner, .banner) : (.lockScreen, .lockScreen)
        }
        if allowed.contains(.badge) {
            counts[.badgesSet] += 1
            devices[device].badge = candidate.badge
        }
        if allowed.contains(.sound) { counts[.soundsPlayed] += 1 }
        if allowed.contains(.alert) || candidate.isRich { show(candidate, place, on: device) }
        return outcome
    }

    /// Puts it on top of the notification centre, in place of one with its identifier.
    private func show(_ candidate: Candidate, _ place: Shown.Place, on device: UInt32) {
        if !candidate.text.identifier.isEmpty,
            let older = delivered(on: device, candidate.text.identifier)
        {
            counts[.updated] += 1
            takeDown(older)
        }
        if devices[device].deliveredCount >= DeviceModel.mostDelivered {
            counts[.crowdedOut] += 1
            takeDown(shown[devices[device].delivered].next)
        }
        let length = candidate.text.length
        let text = bytes.take(length)
        bytes.write(text, length) { candidate.text.write(to: $0) }
        let number = shown.take()
        shown[number].device = device
        shown[number].text = text
        shown[number].tag = Shown.tag(candidate.text.identifier)
        shown[number].ticket = candidate.ticket ?? 0
        shown[number].flags = candidate.ticket == nil ? [] : .isPush
        if candidate.category == Self.unknownCategory {
            counts[.unknownCategory] += 1
        } else {
            shown[number].category = candidate.category
        }
        shown[number].place = place
        shown[number].shownAt = UInt32(clamping: now / 1_000_000_000 - startedAt / 1_000_000_000)
        let newest = devices[device].delivered
        if newest == 0 {
            shown[number].next = number
        } else {
            shown[number].next = shown[newest].next
            shown[newest].next = number
        }
        devices[device].delivered = number
        devices[device].deliveredCount += 1
        planReaction(number)
    }

    // MARK: The notification centre

    /// The one with an identifier, of which there is at most one.
    private func delivered(on device: UInt32, _ identifier: UnsafeRawBufferPointer) -> UInt32? {
        let tag = Shown.tag(identifier)
        var number = devices[device].delivered
        for _ in 0..<devices[device].deliveredCount {
            if shown[number].tag == tag, identifies(number, identifier) { return number }
            number = shown[number].next
        }
        return nil
    }

    func identifies(_ number: UInt32, _ identifier: some Sequence<UInt8>) -> Bool {
        bytes.read(shown[number].text, NotificationText.length(bytes, shown[number].text)) {
            NotificationText(reading: $0).identifier.elementsEqual(identifier)
        }
    }

    /// From the newest to the oldest.
    func allDelivered(on device: UInt32) -> [UInt32] {
        var all: [UInt32] = []
        var number = devices[device].delivered
        for _ in 0..<devices[device].deliveredCount {
            number = shown[number].next
            all.append(number)
        }
        return all.reversed()
    }

    /// It is no longer in the notification centre.
    func takeDown(_ number: UInt32) {
        let device = shown[number].device
        let newest = devices[device].delivered
        devices[device].deliveredCount -= 1
        if devices[device].deliveredCount == 0 {
            devices[device].delivered = 0
        } else {
            // The oldest comes after the newest.
            var before = newest
            while shown[before].next != number { before = shown[before].next }
            shown[before].next = shown[number].next
            if newest == number { devices[device].delivered = before }
        }
        bytes.giveBack(shown[number].text, NotificationText.length(bytes, shown[number].text))
        shown.giveBack(number)
    }
}
