/// All events of a run as one number (FNV-1a, 64 bits): two runs with the same number went the same way.
struct Digest {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ number: UInt64) { value = (value ^ number) &* 0x100_0000_01B3 }
    mutating func add(_ bytes: UnsafeBufferPointer<UInt8>) { for byte in bytes { add(UInt64(byte)) } }
    mutating func add(_ text: String) { for byte in text.utf8 { add(UInt64(byte)) } }
}
