/// The device tokens of an exam.
package enum ExamDevices {
    /// So many tokens of 64 hexadecimal digits, the same in every exam.
    package static func tokens(_ count: Int) -> [String] {
        (0..<count).map { place in
            let number = String(place, radix: 16)
            return String(repeating: "e5", count: 28) + String(repeating: "0", count: max(0, 8 - number.count)) + number
        }
    }
}
