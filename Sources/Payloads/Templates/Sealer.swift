import COpenSSL

/// Seals texts for devices with AES-128-GCM, as the sender of end-to-end encrypted pushes does, and opens them as a device does, in one
/// reused context: a sealer does one or the other.
///
/// The device's key is AES of its number under a key made from the seed; the nonce is the push's sequence number, so no
/// nonce is used twice with a key. Sealed form: nonce (12 bytes), ciphertext, tag (16 bytes), in Base64.
public final class Sealer {
    private let context: OpaquePointer
    private let keys: OpaquePointer
    private let scratch: UnsafeMutablePointer<UInt8>
    private let deviceKey: UnsafeMutablePointer<UInt8>
    private static let nonceLength = 12
    private static let tagLength = 16
    private let base64 = Base64()
    private let longest: Int

    /// Most bytes of text that a payload can hold sealed.
    package static let longestOpened = 4096

    /// Base64 digits that `count` sealed bytes take.
    static func sealedLength(_ count: Int) -> Int { (nonceLength + count + tagLength + 2) / 3 * 4 }

    /// - Parameter longest: most bytes sealed or opened at once.
    package init(seed: UInt64, longest: Int) {
        self.longest = longest
        context = EVP_CIPHER_CTX_new()!
        keys = EVP_CIPHER_CTX_new()!
        scratch = .allocate(capacity: longest + Self.nonceLength + Self.tagLength + RandomText.letterOverrun)
        deviceKey = .allocate(capacity: 32)
        var master: [UInt8] = []
        for number in 0..<2 {
            withUnsafeBytes(of: Mix.number(seed, 0x5EA1, UInt64(number)).bigEndian) { master += $0 }
        }
        EVP_EncryptInit_ex(keys, EVP_aes_128_ecb(), nil, master, nil)
        EVP_CIPHER_CTX_set_padding(keys, 0)
        EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), nil, nil, nil)
    }

    deinit {
        EVP_CIPHER_CTX_free(context)
        EVP_CIPHER_CTX_free(keys)
        scratch.deallocate()
        deviceKey.deallocate()
    }

    /// The 16-byte key of a device: what a receiver would hold.
    private func deriveKey(device: UInt64) {
        var block = (device.bigEndian, UInt64(0))
        var length: Int32 = 0
        withUnsafePointer(to: &block) { pointer in
            pointer.withMemoryRebound(to: UInt8.self, capacity: 16) {
                _ = EVP_EncryptUpdate(keys, deviceKey, &length, $0, 16)
            }
        }
    }

    /// Writes `count` random letters, sealed, as Base64; returns the digits.
    @inline(never)
    func write(
        count: Int, random: UInt64, device: UInt64, sequence: UInt64, into output: UnsafeMutablePointer<UInt8>
    ) -> Int {
        deriveKey(device: device)
        let text = scratch + Self.nonceLength
        UnsafeMutableRawPointer(scratch).storeBytes(of: 0, as: UInt32.self)
        UnsafeMutableRawPointer(scratch).storeBytes(of: sequence.bigEndian, toByteOffset: 4, as: UInt64.self)
        RandomText.writeLetters(count: count, random: random, into: text)
        var length: Int32 = 0
        EVP_EncryptInit_ex(context, nil, nil, deviceKey, scratch)
        EVP_EncryptUpdate(context, text, &length, text, Int32(count))
        EVP_EncryptFinal_ex(context, text + count, &length)
        EVP_CIPHER_CTX_ctrl(
            context, Int32(EVP_CTRL_AEAD_GET_TAG), Int32(Self.tagLength), text + count)
        return base64.encode(scratch, Self.nonceLength + count + Self.tagLength, into: output)
    }

    /// Opens a sealed text (its bytes, not Base64) for a device; nil when it was not sealed for it.
    public static func open(_ sealed: [UInt8], seed: UInt64, device: UInt64) -> [UInt8]? {
        let sealer = Sealer(seed: seed, longest: sealed.count)
        return sealed.withUnsafeBufferPointer { sealer.open($0, device: device) }
    }

    /// The same, of its Base64 digits, at most `longest` bytes of text.
    package func open(base64 digits: UnsafeRawBufferPointer, device: UInt64) -> [UInt8]? {
        guard digits.count <= Self.sealedLength(longest), let count = Base64.decode(digits, into: scratch) else {
            return nil
        }
        return open(UnsafeBufferPointer(start: scratch, count: count), device: device)
    }

    private func open(_ sealed: UnsafeBufferPointer<UInt8>, device: UInt64) -> [UInt8]? {
        guard sealed.count >= Self.nonceLength + Self.tagLength, let nonce = sealed.baseAddress else { return nil }
        deriveKey(device: device)
        let count = sealed.count - Self.nonceLength - Self.tagLength
        var tag = Array(sealed.suffix(Self.tagLength))
        var length: Int32 = 0
        EVP_DecryptInit_ex(context, EVP_aes_128_gcm(), nil, deviceKey, nonce)
        let plain = [UInt8](unsafeUninitializedCapacity: max(count, 1)) { buffer, used in
            EVP_DecryptUpdate(context, buffer.baseAddress, &length, nonce + Self.nonceLength, Int32(count))
            used = count
        }
        EVP_CIPHER_CTX_ctrl(context, Int32(EVP_CTRL_AEAD_SET_TAG), Int32(Self.tagLength), &tag)
        // Nothing is left to write: the mode has no blocks.
        var rest = (UInt64(0), UInt64(0))
        let isWhole = withUnsafeMutableBytes(of: &rest) {
            EVP_DecryptFinal_ex(context, $0.baseAddress!.assumingMemoryBound(to: UInt8.self), &length) == 1
        }
        return isWhole ? plain : nil
    }
}
