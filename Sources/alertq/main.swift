// Before anything else: an `await` here would let Dispatch open its own descriptors first.
Program.openStandardStreams()
Program.useOneHeap()
Program.main()
Program.rest()
