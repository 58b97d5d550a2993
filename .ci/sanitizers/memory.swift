// A program for the address sanitizer: `sound` is correct, the other kinds are faulty.
import Glibc

@inline(never) func use(_ number: UInt8) { if number == 255 { print(number) } }

final class Ring { var next: Ring? }

@inline(never) func leak() {
    let (one, other) = (Ring(), Ring())
    (one.next, other.next) = (other, one)
}

let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 8)
bytes.initialize(repeating: 0, count: 8)
switch CommandLine.arguments.last {
case "overrun": use(bytes[8])
case "leak": for _ in 0..<100 { leak() }
default: use(bytes[7])
}
bytes.deallocate()
if CommandLine.arguments.last == "freed" { use(bytes[0]) }
