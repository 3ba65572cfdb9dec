/// What users do with notifications, drawn or by hand, and the requests that come of it.
extension DeviceFleet {
    private enum Reaction {
        case open, dismiss
        case act(DeviceModel.Action)

        /// Opening an app does, and so do some actions.
        var needsUnlock: Bool {
            switch self {
            case .open: true
            case .dismiss: false
            case .act(let action): action.needsUnlock
            }
        }
    }

    private func category(of number: UInt32) -> DeviceModel.Category? {
        let category = shown[number].category
        return category == 0 ? nil : model.categories[Int(category) - 1]
    }

    /// What is drawn for a notification: the same each time it is asked.
    private func draw(_ number: UInt32) -> UInt64 {
        // Of a local one there is no ticket, but when it was shown.
        shown[number].flags.contains(.isPush) ? shown[number].ticket : ~UInt64(shown[number].shownAt)
    }

    /// nil: the user leaves it there.
    private func reaction(to number: UInt32) -> Reaction? {
        let category = category(of: number)
        let usual = category?.reaction ?? model.reaction
        var rest = traits.unit(key(shown[number].device), 41, draw(number))
        if rest < usual.opens { return .open }
        rest -= usual.opens
        for action in category?.actions ?? [] {
            if rest < action.share { return .act(action) }
            rest -= action.share
        }
        return rest < usual.dismisses ? .dismiss : nil
    }

    func planReaction(_ number: UInt32) {
        guard reaction(to: number) != nil else { return }
        let delay = (category(of: number)?.reaction ?? model.reaction).delay
        plan(notification: number, at: now + traits.time(delay, key(shown[number].device), 42, draw(number)))
    }

    /// The user's moment has come; for what needs the device unlocked, only once it is.
    func react(_ number: UInt32) {
        guard let reaction = reaction(to: number) else { return }
        let device = shown[number].device
        if reaction.needsUnlock, !isUnlocked(device) {
            shown[number].flags.insert(.waitsForUnlock)
            // Locked by hand: until somebody says otherwise.
            if devices[device].byHand.isUnlocked == nil {
                plan(notification: number, at: traits.nextUnlocked(key(device), after: now))
            }
            return
        }
        perform(reaction, number, text: nil)
    }

    /// Reactions that wait for a device whose lock was changed by hand.
    func lookAgainAtWaiting(on device: UInt32) {
        for number in allDelivered(on: device) where shown[number].flags.contains(.waitsForUnlock) { react(number) }
    }

    /// It leaves the notification centre, and the app is told: of a dismissal only if the category asks for it.
    private func perform(_ reaction: Reaction, _ number: UInt32, text: String?) {
        let action: String
        var typed = ""
        switch reaction {
        case .open:
            counts[.opened] += 1
            action = "default"
        case .dismiss:
            counts[.dismissed] += 1
            action = category(of: number)?.hasDismissAction == true ? "dismiss" : ""
        case .act(let custom):
            counts[.actedOn] += 1
            action = custom.identifier
            if custom.effect == .text { typed = text ?? custom.text }
        }
        let device = shown[number].device
        if !action.isEmpty {
            if isOnline(device) {
                callBack(number, action, typed)
            } else {
                counts[.callbackFailed] += 1
            }
        }
        takeDown(number)
    }

    private func callBack(_ number: UInt32, _ action: String, _ text: String) {
        let identifier = bytes.read(shown[number].text, NotificationText.length(bytes, shown[number].text)) {
            String(decoding: NotificationText(reading: $0).identifier, as: UTF8.self)
        }
        let job = begin(.callback, shown[number].device, shown[number].ticket)
        if !shown[number].flags.contains(.isPush) { jobs[job].flags = [] }
        jobs[job].until = now + DeviceModel.workLimit
        plan(job, at: jobs[job].until)
        request(job, .action, "/api/actions", notification: identifier, action: action, text: text)
    }

    // MARK: Requests

    /// Hands a request to the caller. The job knows when it is too late.
    func request(
        _ job: UInt32, _ kind: EchoRequest.Kind, _ path: String, notification: String, action: String = "",
        text: String = ""
    ) {
        let device = jobs[job].device
        requests.append(
            EchoRequest(
                id: UInt64(jobs[job].generation) << 32 | UInt64(job), kind: kind, device: key(device),
                number: devices[device].number, ticket: jobs[job].flags.contains(.isPush) ? jobs[job].ticket : nil,
                path: path, notification: notification, action: action, text: text,
                deadline: kind == .attachment ? jobs[job].limit : jobs[job].until))
    }

    /// A request has ended.
    ///
    /// - Returns: false when it is no longer waited for: at its deadline it has failed.
    @discardableResult
    package func finished(_ request: UInt64, _ ending: EchoEnding, at time: UInt64) -> Bool {
        advance(to: time)
        let job = UInt32(truncatingIfNeeded: request)
        guard jobs.places.contains(job), jobs[job].generation == UInt32(request >> 32), jobs[job].device != 0 else {
            return false
        }
        switch jobs[job].kind {
        case .fetching, .fetchingRich: fetchEnded(job, ending)
        case .extending where jobs[job].flags.contains(.waitsForDownload): downloadEnded(job, ending)
        case .callback:
            counts[ending == .failed ? .callbackFailed : .callbackDone] += 1
            forget(job)
        case .stored, .held, .pending, .extending: return false
        }
        return true
    }

    // MARK: By hand

    package enum ActionResult: Sendable {
        case done
        /// There is no such notification on the device.
        case noNotification
        /// Its category has no such action.
        case noAction
        /// It asks for the device to be unlocked.
        case isLocked
    }

    /// The user does something with a notification.
    ///
    /// - Parameters:
    ///   - handle: `DeviceScreen.Notification.handle`.
    ///   - action: `default`, `dismiss`, or a custom action's identifier.
    ///   - text: what is typed; nil: what the model says.
    package func act(
        _ action: String, on handle: UInt64, text: String? = nil, of key: DeviceKey, at time: UInt64
    ) -> ActionResult {
        advance(to: time)
        let number = UInt32(truncatingIfNeeded: handle)
        guard shown.places.contains(number), shown[number].generation == UInt32(handle >> 32),
            shown[number].device != 0, shown[number].device == devices.find(key)
        else { return .noNotification }
        let reaction: Reaction
        if action == "default" {
            reaction = .open
        } else if action == "dismiss" {
            reaction = .dismiss
        } else if let custom = category(of: number)?.actions.first(where: { $0.identifier == action }) {
            reaction = .act(custom)
        } else {
            return .noAction
        }
        if reaction.needsUnlock, !isUnlocked(shown[number].device) { return .isLocked }
        perform(reaction, number, text: text)
        return .done
    }
}
