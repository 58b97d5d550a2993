/// Everything that can be fuzzed, by name.
let subjects: [String: @Sendable (inout Input) -> Void] = [
    "options": options,
    "times": times,
    "json": json,
    "rows": rows,
    "audit": audit,
    "keys": keys,
    "prompts": prompts,
    "text": text,
    "messages": messages,
    // Planted faults, which the fuzzer must find.
    "planted-trap": plantedTrap,
    "planted-overrun": plantedOverrun,
    "planted-hang": plantedHang,
]
