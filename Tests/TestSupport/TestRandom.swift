import Foundation

/// The random choices of a test.
///
/// All tests of a process draw from one seed, which is printed. `ALERTQ_SEED` sets it, so that a
/// test repeats the choices with which it failed; the moments at which signals arrive are not
/// among them.
package struct TestRandom: RandomNumberGenerator, Sendable {
    /// The seed of this process.
    package static let seed: UInt64 = {
        if let seed = ProcessInfo.processInfo.environment["ALERTQ_SEED"].flatMap(UInt64.init) {
            return seed
        }
        let seed = UInt64.random(in: 1..<1 << 32)
        let line = "Random tests draw from a seed; to repeat it: ALERTQ_SEED=\(seed)\n"
        FileHandle.standardError.write(Data(line.utf8))
        return seed
    }()

    private var state: UInt64

    /// - Parameters:
    ///   - stream: Distinguishes parts of one test that run at the same time.
    ///   - seed: The seed of another process, for a test that continues in this one.
    package init(_ stream: Int = 0, seed: UInt64 = TestRandom.seed) {
        state = seed ^ Self.mixed(UInt64(bitPattern: Int64(stream)))
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Self.mixed(state)
    }

    /// See <https://prng.di.unimi.it/splitmix64.c>.
    private static func mixed(_ number: UInt64) -> UInt64 {
        var mixed = number
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
