/// A template in the form the writer runs over: one block of constant bytes and a flat list of operations.
final class CompiledTemplate {
    enum Code: UInt8 {
        case constant, deviceIndex, deviceToken, sequence, runID, unixTime, random, pick, text, tag, sealed
    }

    /// `first` and `second` are: offset and length of a constant; the range of random, text and sealed; the first option
    /// and their number for pick; the number of a tag.
    struct Operation {
        let code: Code
        let first: UInt64
        let second: UInt64
    }

    let constants: UnsafeMutablePointer<UInt8>
    let operations: UnsafeMutablePointer<Operation>
    let operationCount: Int
    /// Offset and length in `constants` of every text of every pick.
    let options: UnsafeMutablePointer<(Int, Int)>

    init(_ template: PayloadTemplate) {
        var bytes: [UInt8] = []
        var list: [Operation] = []
        var texts: [(Int, Int)] = []
        for piece in template.pieces {
            switch piece {
            case .constant(let text):
                list.append(.init(code: .constant, first: UInt64(bytes.count), second: UInt64(text.count)))
                bytes += text
            case .hole(let hole):
                switch hole {
                case .deviceIndex: list.append(.init(code: .deviceIndex, first: 0, second: 0))
                case .deviceToken: list.append(.init(code: .deviceToken, first: 0, second: 0))
                case .sequence: list.append(.init(code: .sequence, first: 0, second: 0))
                case .runID: list.append(.init(code: .runID, first: 0, second: 0))
                case .unixTime: list.append(.init(code: .unixTime, first: 0, second: 0))
                case .random(let low, let high): list.append(.init(code: .random, first: low, second: high))
                case .text(let low, let high):
                    list.append(.init(code: .text, first: UInt64(low), second: UInt64(high)))
                case .sealed(let low, let high):
                    list.append(.init(code: .sealed, first: UInt64(low), second: UInt64(high)))
                case .tag(let number): list.append(.init(code: .tag, first: UInt64(number), second: 0))
                case .pick(let choices):
                    list.append(.init(code: .pick, first: UInt64(texts.count), second: UInt64(choices.count)))
                    for choice in choices {
                        let text = Array(choice.utf8)
                        texts.append((bytes.count, text.count))
                        bytes += text
                    }
                }
            }
        }
        constants = .allocate(capacity: max(bytes.count, 1))
        constants.update(from: bytes, count: bytes.count)
        operations = .allocate(capacity: max(list.count, 1))
        operations.initialize(from: list, count: list.count)
        operationCount = list.count
        options = .allocate(capacity: max(texts.count, 1))
        options.initialize(from: texts, count: texts.count)
    }

    deinit {
        constants.deallocate()
        operations.deallocate()
        options.deallocate()
    }
}
