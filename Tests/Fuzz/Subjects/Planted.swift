import AlertQueue
import Glibc

@testable import alertq

/// A trap after three bytes, which only a fuzzer that is guided by coverage finds.
@Sendable func plantedTrap(_ input: inout Input) {
    let bytes = input.remainder()
    guard bytes.count >= 3, bytes[0] == 0x79, bytes[1] == 0x65, bytes[2] == 0x73 else { return }
    expect(bytes[2] != 0x73, "planted")
}

/// A read beyond the end of an allocation, which only the address sanitizer sees.
@Sendable func plantedOverrun(_ input: inout Input) {
    let length = Int(input.byte())
    let copy = input.remainder().withUnsafeBytes { bytes in
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        copy.copyMemory(from: bytes)
        return copy
    }
    defer { copy.deallocate() }
    guard length == copy.count + 1, let start = copy.baseAddress else { return }
    if start.load(fromByteOffset: length - 1, as: UInt8.self) == 200 { puts("") }
}

/// An endless loop.
@Sendable func plantedHang(_ input: inout Input) {
    let bytes = input.remainder()
    while bytes.first == 0x68 { usleep(1000) }
}
